"""The usage and evidence ledgers, JSON lines, as pure rules (record contract §11, §12)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.pointer import below
from geode_traj.contract.faults import (
    CONTRADICTION,
    HASH,
    NEVER_KEPT,
    OVER_BOUND,
    SHAPE,
    Fault,
    is_count,
    is_number,
    typed,
)

USAGE: Final = "geode.usage-ledger"
EVIDENCE: Final = "geode.evidence-ledger@2"
_CALL: Final = frozenset({"ts", "model", "in", "out", "cost"})
_USAGE_COUNTS: Final = ("in", "out", "cache_w", "cache_r", "think")
_USAGE_TEXTS: Final = ("session", "subject", "role", "source", "eval_id")
EVIDENCE_VERSION: Final = 2
_EVIDENCE_TEXTS: Final = (
    "session_id", "turn_id", "call_id", "component", "level", "event", "kind", "summary", "payload_hash",
)  # fmt: skip
MAX_SUMMARY: Final = 500
MASKED: Final = frozenset({"api_key", "authorization", "password", "secret", "token", "text"})
_MASK: Final = re.compile(r"<redacted:length=\d+>", re.ASCII)
ALIASES: Final = {"preflight": "task_preflight", "final_answer": "final_result"}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


def is_usage(row: Mapping[str, Any]) -> bool:
    """Tell whether a record is a model call of a usage ledger."""
    return row.keys() >= _CALL


def is_evidence(row: Mapping[str, Any]) -> bool:
    """Tell whether a record is one of an evidence ledger."""
    return {"seq", "event", "kind", "summary", "payload_hash", "payload"} <= row.keys()


def usage_faults(row: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong in a usage row; a count that is not there is unknown, which is no fault."""
    yield from typed(row, ("model",), ("ts",))
    for key in _USAGE_COUNTS:
        if key in row and not is_count(row[key]):
            yield Fault(SHAPE, "is not a whole number from 0", f"/{key}")
    cost = row.get("cost")
    if not is_number(cost) or cost < 0:
        yield Fault(SHAPE, "is not a number from 0", "/cost")
    for key in _USAGE_TEXTS:
        if key in row and not isinstance(row[key], str):
            yield Fault(SHAPE, "is not a text", f"/{key}")


def evidence_hash(payload: object) -> str:
    """Return the digest of an evidence payload, over JSON with spaces after its separators."""
    text = json.dumps(payload, sort_keys=True, ensure_ascii=False)
    return sha256_bytes(text.encode("utf-8", "surrogatepass"))


def evidence_file(session_id: str) -> str:
    """Return the name of a session's evidence ledger."""
    return _UNSAFE.sub("_", session_id) + ".jsonl"


def evidence_faults(row: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong in an evidence row."""
    yield from typed(row, _EVIDENCE_TEXTS, ("ts",))
    if row.get("schema_version") != EVIDENCE_VERSION:
        yield Fault(SHAPE, f"is not {EVIDENCE_VERSION}", "/schema_version")
    if not is_count(row.get("seq")):
        yield Fault(SHAPE, "is not a whole number from 0", "/seq")
    if row.get("event") != row.get("kind"):
        yield Fault(CONTRADICTION, "event and kind differ", "/kind")
    summary = row.get("summary")
    if isinstance(summary, str) and len(summary) > MAX_SUMMARY:
        yield Fault(OVER_BOUND, f"is over {MAX_SUMMARY} characters", "/summary")
    payload = row.get("payload")
    if not isinstance(payload, dict):
        yield Fault(SHAPE, "is not an object", "/payload")
        return
    if isinstance(row.get("payload_hash"), str) and row["payload_hash"] != evidence_hash(payload):
        yield Fault(HASH, "is not the payload's", "/payload_hash")
    yield from _unmasked(payload)
    if row.get("kind") == "evidence_check":
        yield from _check(payload)


def _unmasked(payload: dict[str, Any]) -> Iterator[Fault]:
    stack: list[tuple[Any, str]] = [(payload, "/payload")]
    while stack:
        value, where = stack.pop()
        if isinstance(value, dict):
            for key, item in value.items():
                if key.lower() in MASKED and not (isinstance(item, str) and _MASK.fullmatch(item)):
                    yield Fault(NEVER_KEPT, "a field that is always masked is not", below(where, key))
            stack += [(item, below(where, key)) for key, item in value.items()][::-1]
        elif isinstance(value, list):
            stack += [(item, f"{where}/{index}") for index, item in enumerate(value)][::-1]


def _check(payload: dict[str, Any]) -> Iterator[Fault]:
    """Judge a verdict on which evidence is there: what is required is present or missing, never both."""
    required, present, missing = (
        _kinds(payload.get(key)) for key in ("required_evidence", "present", "missing")
    )
    if required is None or present is None or missing is None:
        yield Fault(SHAPE, "the check names no lists of kinds", "/payload")
    elif missing != required - present:
        yield Fault(CONTRADICTION, "is not what is required and not present", "/payload/missing")


def _kinds(value: object) -> set[str] | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return {ALIASES.get(str(item), str(item)) for item in value}
