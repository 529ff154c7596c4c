"""From a stored row to an exported event and back (record contract §5, §7)."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.bounds import stored
from geode_traj.contract.derive import Derived
from geode_traj.contract.kinds import OUR_MARKERS, OVERLAID
from geode_traj.contract.times import iso
from geode_traj.model.event import Row

_OVERLAID: Final = frozenset(OVERLAID)
# Keys that an export writes itself: a payload's own of these names stay aside, in `_displaced`.
_WRITTEN: Final = _OVERLAID | {"_displaced", "_native_turn_id", "_derived"}
_CORRELATION: Final = frozenset({"turn_id", "call_id", "ambiguous"})
_FEW_BYTES: Final = 1 << 16
_STRUCTURAL: Final[dict[str, frozenset[str]]] = {
    "session.ended": frozenset(
        """duration_s total_cost_usd rounds prompt_tokens completion_tokens record_failures
        projection_failed""".split()
    ),
    "turn.completed": frozenset("termination_reason rounds tool_call_count failed successful".split()),
    "tool.called": frozenset({"tool"}),
    "tool.completed": frozenset({"tool"}),
    "usage.recorded": frozenset({"input_tokens", "output_tokens", "cost_usd"}),
    "error.recorded": frozenset({"error_type"}),
    "verification.evidence": frozenset("references root_turn_id verify_attempt policy_action".split()),
    "verification.pending": frozenset(
        "candidate_sha256 candidate_bytes root_turn_id verify_attempt references".split()
    ),
}


def event(
    row: Row, payload: dict[str, Any], derived: Derived, ordinal: int, *, restored: bool = False
) -> dict[str, Any]:
    """Return the trajectory event of a row: payload under the row's overlaid fields, derived ids marked.

    `payload` is consumed: it becomes the event's payload. `restored` says that cut bodies were put back.
    """
    fields: dict[str, Any] = {
        "model": row.model,
        "provider": row.provider,
        "status": row.status,
        "source": row.source,
        "session_generation": row.session_generation,
        "parent_event_id": row.parent_event_id,
        "source_payload_hash": row.payload_hash,
    }
    if not _WRITTEN.isdisjoint(payload):
        displaced = _displaced(payload, fields, restored)
        if displaced:
            payload["_displaced"] = displaced
    payload.update(fields)
    if derived.marks:
        payload["_derived"] = {**payload.get("_derived", {}), **derived.marks}
    if derived.native_turn_id is not None:
        payload["_native_turn_id"] = derived.native_turn_id
    return {
        "event_id": row.event_id,
        "ordinal": ordinal,
        "occurred_at": iso(row.occurred_at),
        "kind": row.kind,
        "actor": row.role or "agent",
        "session_id": row.session_id,
        "turn_id": derived.turn_id,
        "call_id": derived.call_id,
        "payload": payload,
    }


def _displaced(payload: dict[str, Any], fields: dict[str, Any], restored: bool) -> dict[str, Any]:
    """Return what an export's own keys would replace; what only looks like our marks leaves the payload.

    An equal value needs no copy, since the recorded hash tells that it was there (`stored_payload`); of a
    restored payload, which may be large, it is kept all the same, so that nothing has to be tried.
    """
    kept: dict[str, Any] = {
        key: payload[key]
        for key in OVERLAID
        if key in payload
        and (restored or payload[key] != fields[key] or type(payload[key]) is not type(fields[key]))
    }
    for key in ("_displaced", "_native_turn_id"):
        if key in payload:
            kept[key] = payload.pop(key)
    marks = payload.get("_derived")
    if "_derived" in payload and (
        not isinstance(marks, dict) or not marks or not _CORRELATION.isdisjoint(marks)
    ):
        kept["_derived"] = payload.pop("_derived")
    return kept


def digest_payload(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Keep the structural fields of an exported payload and replace all others by their digest (§5).

    Our marker keys never enter the digest, so that it equals GEODE's; `_derived` and `_redactions` are kept.
    """
    keep = _OVERLAID | _STRUCTURAL.get(kind, frozenset())
    kept = {key: value for key, value in payload.items() if key in keep}
    displaced = payload.get("_displaced")
    for key in ("_derived", "_redactions"):
        if key in payload:
            kept[key] = payload[key]
    omitted = {
        key: value
        for key, value in payload.items()
        if key not in keep and (key not in OUR_MARKERS or key == "_legacy")
    }
    if not omitted and not displaced:  # a displaced value alone is still content that is not there
        return kept
    return kept | omission(omitted)


def omission(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the markers that stand where `fields` were (§4): their names, digest and size."""
    encoded = dumps(fields)
    return {
        "_content_omitted": sorted(fields),
        "_omitted_payload_sha256": sha256_bytes(encoded),
        "_omitted_payload_bytes": len(encoded),
    }


def stored_payload(exported: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Undo the overlay of an exported payload; return the stored one, whole, and whether its hash is proven.

    A payload key that equalled the row's field leaves no trace in the export, so the recorded hash decides
    whether it was there.
    """
    displaced = exported.get("_displaced")
    base: dict[str, Any] = {key: value for key, value in exported.items() if key not in _WRITTEN}
    derived = exported.get("_derived")
    if isinstance(derived, dict):
        marks = {key: value for key, value in derived.items() if key not in _CORRELATION}
        if marks:
            base["_derived"] = marks
    if isinstance(displaced, dict):
        base.update({key: value for key, value in displaced.items() if key in _WRITTEN})
    wanted = exported.get("source_payload_hash")
    present = [key for key in OVERLAID if key in exported and key not in base]
    encoded = stored(base)
    if sha256_bytes(encoded) == wanted:
        return base, True
    # All combinations are tried; of a large payload, whose every try costs, one key at a time.
    for count in range(1, len(present) + 1 if len(encoded) <= _FEW_BYTES else 2):
        for keys in combinations(present, count):
            candidate = base | {key: exported[key] for key in keys}
            if sha256_bytes(stored(candidate)) == wanted:
                return candidate, True
    return base, False
