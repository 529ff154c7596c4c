"""The events of a sample, each kind in its own way; a kind that is not known is kept whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.model.event import Event, Item, Link
from geode_traj.sources import provenance, values
from geode_traj.sources.fields import is_number, without, word
from geode_traj.sources.inspect_eval import content
from geode_traj.sources.inspect_eval.messages import Conversation, Told
from geode_traj.sources.inspect_eval.record import Record
from geode_traj.sources.inspect_eval.references import References
from geode_traj.sources.inspect_eval.sample import Sample
from geode_traj.sources.inspect_eval.spans import Frame, SpanTree

_PLAIN: Final = frozenset(
    """sample_init sample_limit sandbox state store score score_edit approval review input info logger
    compaction branch anchor checkpoint interrupt subtask step span_begin span_end""".split()
)
_USAGE: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "input_tokens_cache_read": "cache_read_tokens",
    "input_tokens_cache_write": "cache_creation_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "total_cost": "cost_usd",
}


class Events:
    """Reads a sample's events in order."""

    def __init__(self, session_id: str, sample: Sample, references: References) -> None:
        self.failed = False
        """Whether an event told of the sample's error."""
        self._session = session_id
        self._sample = sample
        self._references = references
        self._spans = SpanTree(session_id)
        self._conversations: dict[str, Conversation] = {}
        self._told = Told()
        self._pooled = bytearray(len(sample.pool))
        self._pool_met: Counter[bytes] = Counter()
        self._tools: dict[str, str] = {}

    def read(self, record: Record, event: dict[str, Any]) -> Iterator[Item]:
        """Yield what an event gives."""
        kind = word(event, "event")
        frame = self._spans.frame(event)
        record.name = record.name or kind or "event"
        record.session_id = frame.session_id
        if kind == "model":
            yield from self._model(record, event, frame)
        elif kind == "tool":
            self._spans.spawns(event)
            yield from self._conversation(frame).tool(record, event)
        elif kind == "error":
            self.failed = True
            yield _error(record, event)
        elif kind == "span_begin":
            yield from self._begin(record, event)
        elif kind == "span_end":
            yield self._end(record, event)
        else:
            if kind == "step":
                self._spans.step(event)
            yield _plain(record, event, kind)
        nested = event.get("events") if kind in ("tool", "subtask") else None
        for one in nested if isinstance(nested, list) else ():
            if isinstance(one, dict):  # as older logs have it: what went on inside stands inside
                yield from self.read(record, one)

    def conversation_at_end(self, record: Record, listed: Iterable[Any]) -> Iterator[Any]:
        """Yield first the refs of the messages that stood at the end, then what those not met before give."""
        conversation = self._conversations.setdefault(self._session, Conversation(self._told))
        met: Counter[bytes] = Counter()
        numbers: list[int] = []
        fresh: list[tuple[int, Any]] = []
        for span in listed:
            message = self._message(span, record)
            if message is None:
                fresh.append((-1, span))
                continue
            number, new = self._told.number(message, met)
            numbers.append(number)
            if new:
                fresh.append((number, span))
        yield ranges(numbers)
        for number, span in fresh:
            message = self._message(span, record)
            if message is not None:
                yield from conversation.message(record, message, number=number, aside=False, time=None)
            else:
                yield record.event("legacy.imported", {"operation": "message", "damaged": True})

    def unused(self, head: Record) -> Iterator[Event]:
        """Yield pooled messages that no event refers to, and pooled requests, which events only refer to."""
        for index, span in enumerate(self._sample.pool):
            message = None if self._pooled[index] else self._message(span, head)
            if message is not None:
                words = {"operation": "pooled_message", "index": index, "message": message}
                yield head.event("legacy.imported", words)
        for index, span in enumerate(self._sample.calls):
            try:
                value = self._sample.load(span).read.value
            except (ValueError, RecursionError):
                continue
            words = {"operation": "pooled_request", "index": index, "message": value}
            yield head.event("legacy.imported", words)

    def _conversation(self, frame: Frame) -> Conversation:
        return self._conversations.setdefault(frame.session_id, Conversation(self._told))

    def _message(self, span: Any, record: Record) -> dict[str, Any] | None:
        try:
            loaded = self._sample.load(span)
        except (ValueError, RecursionError):
            return None
        value = loaded.read.value
        if not isinstance(value, dict):
            value = {"content": value}
        if loaded.read.escaped or loaded.read.nonfinite:
            record.mended.append(loaded.read)
        return dict(self._references.resolve(value, record.mended)) if loaded.refers else value

    def _begin(self, record: Record, event: dict[str, Any]) -> Iterator[Item]:
        frame, call_id = self._spans.begin(event)
        if not frame.child:
            record.session_id = frame.session_id
            yield _plain(record, event, "span_begin")
            return
        yield Link(frame.child, "parent", frame.parent)
        record.session_id = frame.parent
        words = {"child_session_key": frame.child, "task_id": event.get("id"), "task_type": event.get("name")}
        fields = without(event, "event", "timestamp", "name")
        time = event.get("timestamp")
        yield record.event("subagent.started", words, fields, time=time, call_id=call_id, status="started")

    def _end(self, record: Record, event: dict[str, Any]) -> Event:
        frame = self._spans.ended(event)
        if frame is None or not frame.child:
            return _plain(record, event, "span_end")
        record.session_id = frame.parent
        words = {"child_session_key": frame.child, "task_id": event.get("id")}
        fields = without(event, "event", "timestamp")
        return record.event("subagent.stopped", words, fields, time=event.get("timestamp"))

    def _model(self, record: Record, event: dict[str, Any], frame: Frame) -> Iterator[Item]:
        conversation = self._conversation(frame)
        started = event.get("timestamp")
        met: Counter[bytes] = Counter()
        numbers: list[int] = []
        for number, message in self._inputs(record, event, met):
            numbers.append(number)
            if message is not None:
                yield from conversation.message(
                    record, message, number=number, aside=frame.aside, time=started
                )
        yield from self._output(record, event, frame, numbers, met)

    def _inputs(
        self, record: Record, event: dict[str, Any], met: Counter[bytes]
    ) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Yield the number of each message that the model was given, and it itself where it is new."""
        given = event.get("input")
        for message in given if isinstance(given, list) else ():
            if isinstance(message, dict):
                number, new = self._told.number(message, met)
                yield number, message if new else None
        for index in _new(event.get("input_refs"), self._pooled):
            pooled = self._message(self._sample.pool[index], record)
            if pooled is not None:
                number, new = self._told.number(pooled, self._pool_met)
                yield number, {**pooled, "pool": index} if new else None

    def _output(
        self, record: Record, event: dict[str, Any], frame: Frame, numbers: list[int], met: Counter[bytes]
    ) -> Iterator[Item]:
        """Yield the answer with its calls, what it used, and how it failed."""
        conversation = self._conversation(frame)
        output = _object(event.get("output"))
        choices = output.get("choices")
        choices = choices if isinstance(choices, list) else []
        first = choices[0] if choices and isinstance(choices[0], dict) else {}
        message = first.get("message") if isinstance(first.get("message"), dict) else None
        model = word(output, "model") or word(event, "model")
        provider = word(event, "model").partition("/")
        columns: dict[str, Any] = {"model": model, "provider": provider[0][:128] if provider[1] else ""}
        done = event.get("completed")
        time = done if values.iso_time(done)[0] is not None else event.get("timestamp")
        fields = self._call_fields(event, output, choices, message)
        if isinstance(event.get("input"), list) and event["input"]:
            fields["message_refs"] = ranges(numbers)
        if message is None:
            yield record.event("legacy.imported", {"operation": "model"}, fields, time=time, **columns)
        else:
            number, _ = self._told.number(message, met)
            message = {"role": "assistant", **message}
            told = {**columns, "fields": {"call": fields}}
            yield from conversation.message(
                record, message, number=number, aside=frame.aside, time=time, **told
            )
        if event.get("cache") != "read" and (message is not None or output.get("usage")):
            yield _usage(record, event, output, time, columns, purpose="scoring" if frame.aside else None)
        if event.get("error"):
            words = {"error_type": "model", "message": values.text(event["error"])}
            yield record.event("error.recorded", words, time=time, status="error", **columns)

    def _call_fields(
        self,
        event: dict[str, Any],
        output: dict[str, Any],
        choices: list[Any],
        message: dict[str, Any] | None,
    ) -> dict[str, Any]:
        """Return what a model's event says beside its messages; tools that did not change are named only."""
        fields = without(event, "event", "input", "output", "tools")
        if isinstance(event.get("input"), list):
            odd = [one for one in event["input"] if not isinstance(one, dict)]
            fields |= {"input": odd} if odd else {}
        else:
            fields |= {"input": event["input"]} if "input" in event else {}
        tools = event.get("tools")
        if tools:
            digest = sha256_bytes(dumps(tools))
            told = self._tools.setdefault(digest, word(event, "uuid"))
            same = told and told != word(event, "uuid")
            fields["tools"] = {"as_in": told} if same else tools
        rest = without(output, "choices", "completion")
        if message is not None and choices:
            rest |= {"choice": without(choices[0], "message")}
            rest |= {"other_choices": choices[1:]} if len(choices) > 1 else {}
            if word(output, "completion") not in ("", _shown(message)):
                rest["completion"] = output["completion"]
        else:
            rest = output
        if event.get("cache") != "read":
            rest = without(rest, "usage")
        return fields | ({"output": rest} if rest else {})


def _shown(message: dict[str, Any]) -> str:
    return content.read(message.get("content")).text


def _usage(
    record: Record,
    event: dict[str, Any],
    output: dict[str, Any],
    time: Any,
    columns: dict[str, Any],
    *,
    purpose: str | None,
) -> Event:
    """Return what one answer used; what was not reported stays null."""
    given = output.get("usage")
    counts = given if isinstance(given, dict) else {}
    read = {word: counts[key] for key, word in _USAGE.items() if is_number(counts.get(key))}
    placed = {key for key in _USAGE if counts.get(key) is None or is_number(counts[key])}
    fields = without(counts, *placed) if isinstance(given, dict) else {"usage": given} if given else {}
    response_id = word(event, "call", "response", "id") or None
    words = values.usage(**read, purpose=purpose, response_id=response_id)
    return record.event("usage.recorded", words, fields, time=time, **columns)


def _plain(record: Record, event: dict[str, Any], kind: str) -> Event:
    """Return an event that is kept as it is, under its own name."""
    body, taken = provenance.whole(without(event, "event", "timestamp"))
    if "operation" in body:
        taken["operation"] = body.pop("operation")
    time = event.get("timestamp")
    if values.iso_time(time)[0] is None and time is not None:
        taken["timestamp"] = time
    if not kind and "event" in event:
        taken["event"] = event["event"]
    words = {"operation": kind or "event", **body}
    return record.event("legacy.imported", words, taken, time=time, raw=kind not in _PLAIN)


def _error(record: Record, event: dict[str, Any]) -> Event:
    given = event.get("error")
    given = given if isinstance(given, dict) else {"message": given}
    words = {"error_type": None, **given, "message": values.text(given.get("message"))}
    fields = without(event, "event", "timestamp", "error")
    return record.event("error.recorded", words, fields, time=event.get("timestamp"), status="error")


def ranges(numbers: list[int]) -> list[list[int]]:
    """Return numbers as half-open ranges, as logs write them."""
    out: list[list[int]] = []
    for number in numbers:
        if out and out[-1][1] == number:
            out[-1][1] += 1
        else:
            out.append([number, number + 1])
    return out


def _new(refs: Any, told: bytearray) -> Iterator[int]:
    """Yield the indices that half-open ranges name and that were not told before, and mark them."""
    for one in refs if isinstance(refs, list) else ():
        pair = one if isinstance(one, list) else [one, one + 1] if type(one) is int else []
        if len(pair) != 2 or any(type(end) is not int for end in pair):
            continue
        at, end = max(0, pair[0]), min(pair[1], len(told))
        while at < end and (at := told.find(0, at, end)) >= 0:
            told[at] = 1
            yield at


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
