"""GEODE's reader of legacy transcripts (record contract §1), without what the project adds to it."""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from .payload import bounded, column
from .text import compact, sha256

KINDS = {
    "session_start": "session.started",
    "session_end": "session.ended",
    "user_message": "message.user",
    "assistant_message": "message.assistant",
    "tool_call": "tool.called",
    "tool_result": "tool.completed",
    "subagent_start": "subagent.started",
    "subagent_complete": "subagent.stopped",
    "vault_save": "artifact.saved",
    "cost": "usage.recorded",
    "error": "error.recorded",
    "gui_step": "gui.step",
    "task_preflight": "preflight.recorded",
    "handoff_triggered": "handoff.triggered",
}
ROLES = {"message.user": "user", "message.assistant": "assistant"}
RESERVED = {
    "event",
    "ts",
    "seq",
    "session_id",
    "turn_id",
    "call_id",
    "model",
    "provider",
    "status",
    "text",
    "tool",
    "input",
    "summary",
}


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (1-based number, bytes without the end) of each physical line; a lone CR ends one too."""
    lines = re.split(rb"\r\n|\r|\n", data)
    if lines[-1] == b"":
        lines.pop()
    yield from enumerate(lines, start=1)


def objects_of(data: bytes) -> Iterator[tuple[int, bytes, dict]]:
    """Yield the lines that hold a JSON object; blank ones and all others are passed over in silence."""
    for number, line in lines_of(data):
        try:
            row = json.loads(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield number, line, row


def arguments_of(given: object) -> dict:
    """Return a tool call's `arguments` for what the row says in `input`."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        return {}
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return {"_legacy_fragment": given}
    return value if isinstance(value, dict) else {"_value": value}


def _own_fields(kind: str, row: dict) -> dict:
    if kind in ROLES:
        return {"content": row.get("text", "")}
    if kind == "tool.called":
        return {"tool": row.get("tool", ""), "arguments": arguments_of(row.get("input"))}
    if kind == "tool.completed":
        return {"tool": row.get("tool", ""), "summary": row.get("summary", "")}
    if kind == "subagent.stopped" and "summary" in row:
        return {"summary": row["summary"]}
    return {}


def _seconds(ts: object) -> float | None:
    if isinstance(ts, bool) or not isinstance(ts, int | float | str):
        return None
    try:
        value = float(ts)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _event_id(session: str, number: int, line: bytes) -> str:
    name = f"geode:legacy-transcript:{session}:{number}:{sha256(line)}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def import_legacy(source: str | Path, *, session_id: str | None = None) -> list[dict]:
    """Return the rows of `session_events` that GEODE makes of one transcript, in file order, without row ids.

    A row without its own session id goes to `session_id`, else to the file's stem; an unreadable time is the
    file's mtime. Keys are the columns' names.
    """
    path = Path(source)
    data = path.read_bytes()
    fallback = session_id or path.stem
    digest = sha256(data)
    starts: dict[str, int] = {}
    rows = []
    for number, line, row in objects_of(data):
        session = str(row.get("session_id") or fallback)
        event = row.get("event")
        kind = KINDS.get(event, "legacy.imported") if isinstance(event, str) else "legacy.imported"
        if kind == "session.started":
            starts[session] = starts.get(session, 0) + 1
        occurred_at = _seconds(row.get("ts"))
        legacy = {"event": event, "line_number": number, "source_digest": digest, "source_path": str(source)}
        if row.get("ts") is not None and occurred_at is None:
            legacy["timestamp_invalid"] = True
        rest = {key: value for key, value in row.items() if key not in RESERVED}
        payload = compact(bounded({**rest, **_own_fields(kind, row), "_legacy": legacy}))
        rows.append(
            {
                "schema_version": 1,
                "event_id": _event_id(session, number, line),
                "occurred_at": path.stat().st_mtime if occurred_at is None else occurred_at,
                "session_id": column("session_id", session),
                "session_generation": max(1, starts.get(session, 0)),
                "turn_id": column("turn_id", row.get("turn_id")),
                "call_id": column("call_id", row.get("call_id")),
                "parent_event_id": None,
                "kind": kind,
                "role": ROLES.get(kind, ""),
                "status": column("status", row.get("status")),
                "model": column("model", row.get("model")),
                "provider": column("provider", row.get("provider")),
                "payload_json": payload,
                "payload_hash": sha256(payload),
                "source": "legacy_jsonl",
            }
        )
    return rows
