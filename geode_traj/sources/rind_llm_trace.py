"""Rind's raw traces of model calls, `_llm_trace/*.jsonl`: request, response pieces, end; one call a file.

Nothing in a trace names its session, turn or call. The request and each piece of a stream are kept whole;
what the pieces amount to is put together once the end row says that no more will come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Loss, Session
from geode_traj.sources.base import Input, Probe
from geode_traj.sources.fields import without
from geode_traj.sources.lines import JsonLines
from geode_traj.sources.record import Record
from geode_traj.sources.rind_stream import Answer, Stream
from geode_traj.sources.values import arguments, iso_time, reasoning, text, usage

_DIRECTIONS: Final = ("request", "response", "end")
_FAILED: Final = frozenset({"error", "connect_error", "stream_error"})
REPLACED: Final = "raw trace replaces images, base64 and token-like runs of 80 or more characters"


class RindLlmTrace(JsonLines):
    """One traced call; the file's name stands for the session it cannot name."""

    name = "rind-llm-trace"
    reads = "Rind raw model traces, rows with direction request, response or end"
    gives_not = ("session, turn and call ids", "retries", "images and runs of 80 or more characters")

    def detect(self, probe: Probe) -> bool:
        """Match when most of the first objects are rows of a trace."""
        return probe.mostly(lambda row: row.get("direction") in _DIRECTIONS and "ts" in row)

    def time_of(self, row: dict[str, Any]) -> float | None:
        """Return a row's `ts`."""
        return iso_time(row.get("ts"))[0]

    def reader(self, given: Input) -> Reader:
        """Return a reader of one trace's rows."""
        return Reader(given)


class Reader:
    """Turns rows into events, and puts a stream's pieces together."""

    def __init__(self, given: Input) -> None:
        self._given = given
        self._session = given.default_session
        self._model = ""
        self._stream = Stream()
        self._open = False
        self._met = False

    def rows(self, line: Line, sha256: str, read: Tolerated) -> list[Item]:
        """Return the events of a row."""
        row: dict[str, Any] = read.value
        self._met = True
        direction = row.get("direction")
        record = Record(self._given, self._session, line.number, "", row, text(direction), met=read)
        record.sha256 = sha256
        record.time, record.time_rule = iso_time(row.get("ts"))
        if direction == "request":
            self._open, self._stream, self._model = True, Stream(), text(row.get("model"))
            return [self._kept("llm_request", record)]
        if direction == "response" and isinstance(row.get("value"), dict):
            answer = Stream()
            rest = answer.whole(row["value"])
            fields = {**without(row, "direction", "value"), "value": rest}
            return list(self._answer(answer.answer(), record, fields))
        if direction == "response" and isinstance(row.get("chunk"), dict):
            self._stream.piece(row["chunk"])
            return [self._kept("llm_chunk", record)]
        if direction == "end":
            return self._end(record)
        return [self._kept(text(direction), record, raw=True)]

    def end(self) -> list[Item]:
        """Return what the file lost: what Rind replaced, and its end where the call crashed or runs."""
        found: list[Item] = [Session(self._session, {"replay": [REPLACED]})] if self._met else []
        if self._open:
            found.append(Loss("no_end_row"))
        return found

    def _end(self, record: Record) -> list[Item]:
        row = record.value
        reason = text(row.get("reason"))
        stream, self._stream, self._open = self._stream, Stream(), False
        if reason in _FAILED:
            payload = {"error_type": reason, "message": text(row.get("error"))}
            fields = without(row, "direction", "reason", "error")
            failed = record.event("error.recorded", payload, fields, status="error", model=self._model)
            found: list[Item] = [failed]
        else:
            found = [self._kept("llm_end", record)]
        if stream.too_large:
            return [*found, Loss("stream_too_large_to_assemble")]
        if stream.pieces:
            answer = stream.answer()
            answer.words["assembled"] = {"chunks": stream.pieces, "complete": reason == "completed"}
            found += self._answer(answer, record, {})
        return found

    def _answer(self, answer: Answer, record: Record, fields: dict[str, Any]) -> Iterator[Item]:
        """Yield what a model answered: its message, its calls, its usage."""
        response = answer.response_id or None
        payload = {"content": answer.content, "reasoning": reasoning(answer.reasoning)}
        payload |= {"response_id": response, **answer.words}
        yield record.event("message.assistant", payload, fields, role="assistant", model=self._model)
        for call in answer.calls:
            words = {"tool": call.name, "arguments": arguments(call.arguments)}
            yield record.event("tool.called", words, call_id=call.id, model=self._model)
        if answer.usage is not None:
            words = usage(response_id=response, **answer.usage)
            yield record.event("usage.recorded", words, model=self._model)

    def _kept(self, operation: str, record: Record, *, raw: bool = False) -> Event:
        words = {"operation": operation, "record": record.value}
        return record.event("legacy.imported", words, raw=raw, model=self._model)


SOURCE = RindLlmTrace()
