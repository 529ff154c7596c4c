"""Rind's usage ledger, `usage.jsonl` of the user: one row a model call, no turn, call or price."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item
from geode_traj.sources import provenance
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.values import iso_time, text, usage

_PURPOSES: Final = {"assistant": "action_loop", "compact": "compaction"}
_COUNTS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cache_read_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}
_MORE: Final = ("total_tokens",)


class RindUsage(JsonLines):
    """The ledger of all sessions; a call that it does not hold is unknown, not free."""

    name = "rind-usage"
    reads = "Rind usage.jsonl, the ledger of model calls"
    continues = True
    gives_not = (
        "turn and call ids",
        "cost",
        "unreported counts (they are written as 0)",
        "calls not recorded",
    )

    def detect(self, probe: Probe) -> bool:
        """Match when most of the first objects say what a call was sampled for and what it took."""
        return probe.mostly(lambda row: "sampling_kind" in row and "input_tokens" in row)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's `ts`."""
        return iso_time(row.get("ts"))[0]

    def reader(self, given: Input) -> _Reader:
        """Return a reader of the ledger's rows."""
        return _Reader(given)


class _Reader:
    def __init__(self, given: Input) -> None:
        self._given = given

    def rows(self, line: Line, sha256: str, read: Tolerated) -> tuple[Item, ...]:
        """Return the usage of one call; a row of another kind is kept whole."""
        row: dict[str, Any] = read.value
        own = row.get("session_id")
        session = own if isinstance(own, str) and own else self._given.default_session
        seconds, rule = iso_time(row.get("ts"))
        known = text(row.get("sampling_kind")) in _PURPOSES
        payload, fields = _usage(row) if known else ({"operation": "usage", "record": row}, {})
        if known and own != session:
            fields["session_id"] = own
        if known and "/model" in read.escaped:  # a column cannot say that its text was mended
            fields["model"] = row["model"]
        payload["_legacy"] = provenance.legacy(
            self._given, text(row.get("sampling_kind")), line.number, fields, read
        )
        escaped, nonfinite = provenance.marks(payload, read)
        event = Event(
            kind="usage.recorded" if known else "legacy.imported",
            session_id=session,
            line=line.number,
            record_sha256=sha256,
            payload=payload,
            time=seconds,
            time_rule=rule,
            raw=not known,
            model=text(row.get("model")),
            escaped=escaped,
            nonfinite=nonfinite,
        )
        return (event,)

    def end(self) -> tuple[Item, ...]:
        """Return nothing: a ledger that ends says nothing."""
        return ()


def _usage(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the payload of a call and the fields without a place.

    Rind writes 0 for what a provider did not report: such a 0 is unknown, and named.
    """
    counts: dict[str, Any] = {}
    zeros, placed = [], {"sampling_kind", "session_id", "model"}
    for key, word in _COUNTS.items():
        value = row.get(key)
        if type(value) is int and value == 0:
            zeros.append(word)
            placed.add(key)
        elif type(value) in (int, float):
            counts[word] = value
            placed.add(key)
    for key in _MORE:
        if type(row.get(key)) is int and row[key]:
            counts[key] = row[key]
            placed.add(key)
    payload = usage(purpose=_PURPOSES[text(row["sampling_kind"])], **counts)
    if zeros:
        payload["reported_default"] = sorted(zeros)
    stamp = row.get("ts")
    if isinstance(stamp, str) and stamp.endswith(("Z", "+00:00")) and iso_time(stamp)[0] is not None:
        placed.add("ts")
    return payload, {key: value for key, value in row.items() if key not in placed}


SOURCE = RindUsage()
