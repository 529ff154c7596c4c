"""Two readings of one transcript brought to the same terms: ours out of a store, another project's own.

The other reading is a document of `records` (trajectory v1 of github.com/letta-ai/trajectory): a head with
role `meta`, then user, reasoning, assistant, tool and observation records in order, and `diagnostics`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from geode_traj.contract import times
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.store import links, opening
from tests.migrate import pipeline

MESSAGES: Final = ("user", "assistant", "reasoning")
_WRAPPED: Final = ("_legacy_fragment", "_value", "_raw")


@dataclass(slots=True)
class Said:
    """One thing of a transcript: `what` is user, assistant, reasoning, call, result or observation.

    `time` is in Unix seconds, `rule` says how it was told where the source did not. `ok` is whether a tool
    succeeded, None where unsaid; `call` is the number of the call that a result answers, from 0. `session`
    is the number of its session in the file, from 0.
    """

    what: str
    text: str
    time: float | None = None
    rule: str = ""
    call_id: str = ""
    name: str = ""
    ok: bool | None = None
    call: int | None = None
    session: int = 0
    abandoned: bool = False
    media: bool = False


@dataclass(slots=True)
class Reading:
    """What one reading holds of a file; `counts` of what it keeps beside messages, calls and results."""

    source: str = ""
    said: list[Said] = field(default_factory=list)
    models: set[str] = field(default_factory=set)
    cwd: str | None = None
    branch: str | None = None
    damaged: int = 0
    usage: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def of(self, *what: str) -> list[Said]:
        """Return what is said of these sorts, in order."""
        return [one for one in self.said if one.what in what]


def ours(path: Path) -> Reading:
    """Import a file into a store that is thrown away, export every session of it, and read that.

    The source of a file that no format knows is "".
    """
    with TemporaryDirectory() as made:
        store = Path(made, "store", "sessions.db")
        receipts = list(apply(plan([path], store), store))
        found = Reading(source=", ".join(sorted({receipt.format or "" for receipt in receipts})))
        if not store.exists():
            return found
        found.damaged = sum(receipt.damaged_count for receipt in receipts)
        found.counts["unknown"] = sum(receipt.kept_raw for receipt in receipts)
        sessions = list(dict.fromkeys(row.session_id for row in pipeline.rows(store)))
        for session in sessions:
            for event in pipeline.document(store, session)["events"]:
                _event(found, event)
            found.counts["session"] += 1
        with opening.open_reader(store) as connection:
            found.counts["link"] = sum(len(links.of_session(connection, one)) for one in sessions)
    _pair(found)
    return found


def _event(found: Reading, event: dict[str, Any]) -> None:
    payload, kind = event["payload"], event["kind"]
    found.cwd = found.cwd or _deep(payload, "cwd", "directory")
    if found.branch is None:
        told = {key: value for key, value in payload.items() if key != "branch"}  # ours is no branch of git
        found.branch = _deep(told, "gitBranch", "branch") or _text(
            payload, "branch", kind == "session.started"
        )
    if payload.get("model"):
        found.models.add(payload["model"])
    if kind == "usage.recorded":
        found.usage += any(payload.get(key) is not None for key in ("input_tokens", "output_tokens"))
    if kind == "legacy.imported" and "operation" in payload:
        found.counts["instructions" if payload["operation"] == "instructions" else "kept"] += 1
    seconds = times.parse(event["occurred_at"])
    common: dict[str, Any] = {
        "time": seconds[0] if seconds else None,
        "rule": payload.get("_derived", {}).get("occurred_at", ""),
        "session": found.counts["session"],
        "abandoned": payload.get("branch") == "abandoned",
        "media": bool(payload.get("attachments")),
    }
    if kind == "message.user":
        found.said.append(Said("user", payload.get("content") or "", **common))
    elif kind == "message.assistant":
        thought = payload.get("reasoning", {})
        if thought.get("text"):
            found.said.append(Said("reasoning", thought["text"], **common))
        if payload.get("content"):
            found.said.append(Said("assistant", payload["content"], **common))
    elif kind == "tool.called":
        common |= {"call_id": event["call_id"], "name": payload["tool"]}
        found.said.append(Said("call", _canonical(payload["arguments"]), **common))
    elif kind == "tool.completed":
        error = payload.get("is_error")
        common |= {"call_id": event["call_id"], "ok": None if error is None else not error}
        found.said.append(Said("result", _plain(payload.get("result")), **common))


def theirs(path: Path) -> Reading:
    """Read another project's reading."""
    document = json.loads(path.read_text("utf-8"))
    found = Reading()
    for record in document["records"]:
        role, content = record["role"], record.get("content")
        seconds = times.parse(record["timestamp"]) if "timestamp" in record else None
        time = seconds[0] if seconds else None
        if role == "meta":
            found.source = record["source"]
            found.cwd, found.branch = record.get("cwd"), record.get("git_branch")
            found.models = {record["model"]} if "model" in record else set()
        elif role == "tool":
            found.said.append(
                Said("result", content or "", time, call_id=record["tool_call_id"], ok=record.get("ok"))
            )
        elif role in (*MESSAGES, "observation") and content is not None:
            found.said.append(Said(role, content, time))
        for call in record.get("tool_calls", ()):
            text = _canonical(json.loads(call["args"]))
            found.said.append(Said("call", text, time, call_id=call["id"], name=call["name"]))
    for told in document["diagnostics"]:
        found.counts[told["code"]] += told.get("count", 1)
    found.damaged = found.counts["invalid_json_line"]
    for one in found.said if found.counts["timestamps_synthesized"] else ():
        one.rule = "synthesized"
    _pair(found)
    return found


def _pair(found: Reading) -> None:
    """Find the call of each result: the k-th result of an id answers its k-th call."""
    calls: dict[str, list[int]] = {}
    for number, call in enumerate(found.of("call")):
        calls.setdefault(call.call_id, []).append(number)
    met: Counter[str] = Counter()
    for result in found.of("result"):
        waiting = calls.get(result.call_id, [])
        result.call = waiting[met[result.call_id]] if met[result.call_id] < len(waiting) else None
        met[result.call_id] += 1


def unwrapped(arguments: str) -> str:
    """Return a call's arguments without the member that holds what is no object."""
    value = json.loads(arguments)
    if isinstance(value, dict) and len(value) == 1:
        for key in _WRAPPED:
            if key in value:
                return value[key] if isinstance(value[key], str) else _canonical(value[key])
    return arguments


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(result: Any) -> str:
    """Return a result as text: a text, the texts of its parts on lines, or what it is as JSON."""
    if isinstance(result, str):
        return result
    parts = result if isinstance(result, list) else [result]
    texts = [text for part in parts if (text := _text(part, "text"))]
    if texts and len(texts) == sum(not _is_media(part) for part in parts):
        return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts[:-1]) + texts[-1]
    return "" if result is None else _canonical(result)


def _text(value: Any, key: str, wanted: bool = True) -> str | None:
    found = value.get(key) if isinstance(value, dict) and wanted else None
    return found if isinstance(found, str) else None


def _is_media(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "image"


def _deep(value: Any, *keys: str) -> str | None:
    """Return the first text member of one of these names, wherever it stands."""
    if not isinstance(value, dict):
        return None
    for key in keys:
        if isinstance(value.get(key), str):
            return str(value[key])
    return next((found for item in value.values() if (found := _deep(item, *keys))), None)
