"""Tool calls of a Rind session: announced in messages, completed in a journal of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources.fields import without
from geode_traj.sources.rind.events import Maker, Record, word
from geode_traj.sources.rind.pictures import Pictures
from geode_traj.sources.values import arguments, reads_whole

_DELEGATE: Final = "delegate"
_STATUS: Final = {True: "ok", False: "error"}
_WORDS: Final = ("result", "error_type", "error_message", "model_content")


Answer = Callable[[str], dict[str, Any]]
"""Finds the row that will answer a call, by its id; empty where there is none."""


class Calls:
    """Makes the events of calls; `announced` counts the calls met by id."""

    def __init__(self, maker: Maker, pictures: Pictures) -> None:
        self._maker = maker
        self._pictures = pictures
        self._delegated: Counter[str] = Counter()
        self.announced: Counter[str] = Counter()

    def called(
        self, record: Record, call: dict[str, Any], n: int, turn_id: str, answer: Answer
    ) -> Iterator[Event]:
        """Yield a call of an assistant's message from its `n`-th event on."""
        own, name = word(call, "id"), word(call, "name")
        self.announced[own] += 1
        given = call.get("raw_args", call.get("args"))
        fields = without(call, "id", "name", "raw_args", "args")
        if "raw_args" in call and "args" in call:
            fields["args"] = call["args"]
        if not reads_whole(given):
            fields["raw_args"] = given
        columns: dict[str, Any] = {"stamp": "ts", "call_id": own, "turn_id": turn_id}
        payload = {"tool": name, "arguments": arguments(given)}
        yield self._maker.event("tool.called", record, payload, fields, n=n, **columns)
        if name == _DELEGATE:
            self._delegated[own] += 1
            words = {"task_id": own, "task_type": _DELEGATE, "child_session_key": _child(answer(own))}
            yield self._maker.event("subagent.started", record, words, n=n + 1, **columns)

    def completed(self, record: Record) -> Iterator[Event]:
        """Yield the result that a row of the journal holds; what was delegated has stopped then."""
        row = record.row
        ok = row.get("ok")
        payload: dict[str, Any] = {
            "tool": word(row, "name"),
            "is_error": None if type(ok) is not bool else not ok,
            **{key: row[key] for key in _WORDS if key in row},
        }
        attachments = self._pictures.attach(row.get("attachments"))
        if attachments:
            payload["attachments"] = attachments
        own = word(row, "id")
        status = _STATUS[ok] if type(ok) is bool else ""
        stamp = "ts_end" if row.get("ts_end") is not None else "ts_start"
        fields = without(row, "id", "name", *_WORDS)
        if ok is None or type(ok) is bool:
            fields.pop("ok", None)
        yield self._maker.event(
            "tool.completed", record, payload, fields, stamp=stamp, call_id=own, status=status
        )
        if self._delegated[own]:
            self._delegated[own] -= 1
            data = _data(row)
            words = {
                "task_id": own,
                "summary": data.get("summary"),
                "agent_id": data.get("agent_id"),
                "child_session_key": _child(row),
            }
            stopped = word(data, "status") or status
            yield self._maker.event(
                "subagent.stopped", record, words, n=1, stamp=stamp, call_id=own, status=stopped
            )


def _data(row: dict[str, Any]) -> dict[str, Any]:
    result = row.get("result")
    data = result.get("data") if isinstance(result, dict) else None
    return data if isinstance(data, dict) else {}


def _child(row: dict[str, Any]) -> str | None:
    child = _data(row).get("session_id")
    return child if isinstance(child, str) and child else None
