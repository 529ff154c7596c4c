"""A GEODE export of one session as `geode.trajectory@1`, nothing of ours added (record contract §5)."""

from __future__ import annotations

from collections.abc import Sequence

from .quality import completeness, quality
from .text import Refused, compact, iso, sha256

LAID_OVER = ("model", "provider", "status", "source", "session_generation", "parent_event_id")
KEPT_EVERYWHERE = {*LAID_OVER, "source_payload_hash"}
KEPT_BY_KIND = {
    "session.ended": {
        "duration_s",
        "total_cost_usd",
        "rounds",
        "prompt_tokens",
        "completion_tokens",
        "record_failures",
        "projection_failed",
    },
    "turn.completed": {"termination_reason", "rounds", "tool_call_count", "failed", "successful"},
    "tool.called": {"tool"},
    "tool.completed": {"tool"},
    "usage.recorded": {"input_tokens", "output_tokens", "cost_usd"},
    "error.recorded": {"error_type"},
    "verification.evidence": {"references", "root_turn_id", "verify_attempt", "policy_action"},
    "verification.pending": {
        "candidate_sha256",
        "candidate_bytes",
        "root_turn_id",
        "verify_attempt",
        "references",
    },
}
HOOK_FIELDS = (
    "id",
    "event",
    "payload_hash",
    "turn_id",
    "tool_call_id",
    "llm_call_id",
    "llm_attempt_id",
)


def event_of(row: dict, ordinal: int) -> dict:
    """Return a row as an event of a trajectory: the row's seven facts are laid over its payload."""
    laid_over = {key: row[key] for key in LAID_OVER}
    return {
        "event_id": row["event_id"],
        "ordinal": ordinal,
        "occurred_at": iso(row["occurred_at"]),
        "kind": row["kind"],
        "actor": row["role"] or "agent",
        "session_id": row["session_id"],
        "turn_id": row["turn_id"],
        "call_id": row["call_id"],
        "payload": {**row["payload"], **laid_over, "source_payload_hash": row["payload_hash"]},
    }


def digest_payload(kind: str, payload: dict) -> dict:
    """Return an exported payload with its bodies replaced by digest markers (`--digest-content`)."""
    kept_names = KEPT_EVERYWHERE | KEPT_BY_KIND.get(kind, set())
    omitted = {key: value for key, value in payload.items() if key not in kept_names}
    kept = {key: value for key, value in payload.items() if key in kept_names}
    if not omitted:
        return kept
    text = compact(omitted)
    return {
        **kept,
        "_content_omitted": sorted(omitted),
        "_omitted_payload_sha256": sha256(text),
        "_omitted_payload_bytes": len(text.encode()),
    }


def export_reasons(rows: Sequence[dict], session_id: str) -> list[str]:
    """Return the scope reasons that an export itself declares."""
    reasons = []
    if rows[-1]["kind"] != "session.ended":
        reasons.append(f"session {session_id} has no terminal event")
    failures = [row["payload"].get("record_failures") for row in rows if row["kind"] == "session.ended"]
    if any(isinstance(count, int | float) and count > 0 for count in failures):
        reasons.append(f"session {session_id} reports canonical write failures")
    return reasons


def _unique_references(references: list[dict]) -> list[dict]:
    return list({(item.get("kind"), item.get("reference")): item for item in reversed(references)}.values())[
        ::-1
    ]


def hook_reference(hooks: Sequence[dict], session_id: str) -> dict:
    """Return the reference to the hook events of one session."""
    digest = sha256(compact([{key: hook[key] for key in HOOK_FIELDS} for hook in hooks]))
    return {
        "kind": "runtime_event",
        "schema_id": "geode.hook-event@3",
        "authority": "GEODE local runtime hook event store",
        "reference": f"hook-events-sha256:{digest}",
        "session_id": session_id,
        "record_count": len(hooks),
        "sha256": digest,
    }


def export_session(rows: Sequence[dict], session_id: str, hooks: Sequence[dict] = ()) -> dict:
    """Export one session of `read_store`'s rows; `captured_at` is the greatest event time.

    A session without events is refused.
    """
    own = [row for row in rows if row["session_id"] == session_id]
    if not own:
        raise Refused(f"No canonical session events found for '{session_id}'.")
    events = [event_of(row, ordinal) for ordinal, row in enumerate(own, start=1)]
    evidence = [
        item
        for row in own
        if row["kind"] in ("verification.evidence", "verification.pending")
        and isinstance(row["payload"].get("references"), list)
        for item in row["payload"]["references"]
        if isinstance(item, dict)
    ]
    reasons = export_reasons(own, session_id)
    doc = {
        "schema_id": "geode.trajectory@1",
        "schema_version": 1,
        "trajectory_id": f"geode-session-{session_id}",
        "captured_at": iso(max(row["occurred_at"] for row in own)),
        "trajectory_class": ["dialogue", "tool", "lifecycle"],
        "source": {"harness": "geode", "run": session_id, "session": session_id, "parents": None},
        "events": events,
        "outcome": {"scored": False},
        "integrity": {
            "scope_complete": not reasons,
            "replay_complete": not reasons,
            "scope_incompleteness": reasons,
            "replay_incompleteness": [],
        },
        "privacy": {"review_state": "local"},
        "provenance": {"store": "sessions.db:session_events"},
        "runtime_event_refs": [hook_reference(hooks, session_id)] if hooks else [],
        "evidence_refs": _unique_references(evidence),
    }
    doc["integrity"] = {"record_count": len(events), **completeness(doc), "quality": quality(events)}
    return doc
