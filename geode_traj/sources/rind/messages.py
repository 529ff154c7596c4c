"""Message rows of a Rind session, by role and by the special kinds that are no messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources.fields import without
from geode_traj.sources.rind.calls import Answer, Calls
from geode_traj.sources.rind.events import Maker, Record, word
from geode_traj.sources.rind.pictures import Pictures
from geode_traj.sources.values import reasoning

# Rows that carry a role without being that role's words.
_SPECIAL: Final = frozenset({"skill_snapshot", "skill_catalog", "compact_boundary", "task_notification"})
_PLAIN: Final = frozenset({"", "user_prompt"})
_PLACED: Final = ("role", "content", "ts")


def special(row: dict[str, Any]) -> str:
    """Return the special kind of a row, "" for a message."""
    meta = row.get("meta")
    kind = meta.get("kind") if isinstance(meta, dict) else None
    return kind if isinstance(kind, str) else ""


class Messages:
    """Makes the events of messages; `turn_ids` are those that rows gave."""

    def __init__(self, maker: Maker, pictures: Pictures, calls: Calls) -> None:
        self._maker = maker
        self._pictures = pictures
        self._calls = calls
        self.turn_ids: set[str] = set()

    def events(self, record: Record, answer: Answer) -> Iterator[Event]:
        """Yield the events of a row that is no tool's."""
        row = record.row
        kind, role = special(row), row.get("role")
        turn_id = self._turn(row)
        if kind in _SPECIAL:
            yield self._maker.kept(kind, record, stamp="ts", turn_id=turn_id)
        elif role == "system":
            yield self._maker.kept("system", record, stamp="ts", turn_id=turn_id)
        elif role == "user" and kind in _PLAIN:
            yield self._message("message.user", record, {}, turn_id)
        elif role == "assistant" and kind in _PLAIN:
            yield from self._assistant(record, turn_id, answer)
        else:
            name = kind or word(row, "role")
            yield self._maker.kept(name, record, raw=True, stamp="ts", turn_id=turn_id)

    def tool(self, record: Record, *, answered: bool) -> Iterator[Event]:
        """Yield a tool's message row: it tells the order, or holds the result where no journal does."""
        row = record.row
        columns: dict[str, Any] = {
            "stamp": "ts",
            "call_id": word(row, "tool_call_id"),
            "turn_id": self._turn(row),
        }
        if answered or row.get("content") in (None, "", []):
            yield self._maker.kept("tool_message", record, **columns)
            return
        payload = {"tool": word(row, "tool_name"), "is_error": None, "result": row["content"]}
        fields = without(row, *_PLACED, "tool_call_id", "tool_name", "attachments")
        yield self._attached("tool.completed", record, payload, fields, **columns)

    def _assistant(self, record: Record, turn_id: str, answer: Answer) -> Iterator[Event]:
        row = record.row
        yield self._message(
            "message.assistant", record, {"reasoning": reasoning(row.get("reasoning_content"))}, turn_id
        )
        n = 1
        for call in announced(row):
            for event in self._calls.called(record, call, n, turn_id, answer):
                yield event
                n += 1

    def _message(self, kind: str, record: Record, words: dict[str, Any], turn_id: str) -> Event:
        row = record.row
        content = row.get("content")
        payload = {"content": "" if content is None else content, **words}
        fields = without(row, *_PLACED, "attachments")
        if "reasoning" in words and words["reasoning"]["status"] != "unavailable":
            del fields["reasoning_content"]
        if isinstance(fields.get("meta"), dict):
            fields["meta"] = _meta(row["meta"])
            if not fields["meta"]:
                del fields["meta"]
        role = kind.rpartition(".")[2]
        return self._attached(kind, record, payload, fields, stamp="ts", role=role, turn_id=turn_id)

    def _attached(
        self, kind: str, record: Record, payload: dict[str, Any], fields: dict[str, Any], **columns: Any
    ) -> Event:
        attachments = self._pictures.attach(record.row.get("attachments"))
        if attachments:
            payload["attachments"] = attachments
        return self._maker.event(kind, record, payload, fields, **columns)

    def _turn(self, row: dict[str, Any]) -> str:
        meta = row.get("meta")
        turn_id = word(meta, "turn_id") if isinstance(meta, dict) else ""
        if turn_id:
            self.turn_ids.add(turn_id)
        return turn_id


def announced(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the calls that an assistant's row announces."""
    meta = row.get("meta")
    calls = meta.get("tool_calls") if isinstance(meta, dict) else None
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _meta(meta: dict[str, Any]) -> dict[str, Any]:
    """Return what stays of a message's `meta`: all but the calls, which are events of their own."""
    kept = without(meta, "tool_calls", "turn_id")
    calls = meta.get("tool_calls")
    odd = [call for call in calls if not isinstance(call, dict)] if isinstance(calls, list) else calls
    return {**kept, **({"tool_calls": odd} if odd else {})}
