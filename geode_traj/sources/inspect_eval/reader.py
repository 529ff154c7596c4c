"""One sample as a session: its start, the events in their order, what remained of it, its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Damaged, Event, Item, Loss
from geode_traj.sources import attachments, values
from geode_traj.sources.base import Input
from geode_traj.sources.fields import without, word
from geode_traj.sources.inspect_eval import content, splitting
from geode_traj.sources.inspect_eval.events import Events
from geode_traj.sources.inspect_eval.log import Facts, reason_of
from geode_traj.sources.inspect_eval.pieces import pieces
from geode_traj.sources.inspect_eval.record import Record
from geode_traj.sources.inspect_eval.references import References
from geode_traj.sources.inspect_eval.sample import Loaded, Sample
from geode_traj.sources.inspect_eval.splitting import Span

_SETUP: Final = ("id", "epoch", "uuid", "input", "choices", "target", "sandbox", "files", "setup", "metadata")


def ended(sample: Sample, head: dict[str, Any], facts: Facts, *, summarised: bool) -> str:
    """Return how the log says that a sample ended, "" where it does not say so."""
    if head.get("error") or _is_large(sample, head, "error"):
        return "error"
    if head.get("limit"):
        return "limit"
    scored = head.get("scores") is not None or _is_large(sample, head, "scores")
    if scored or summarised or facts.status == "success":
        return "completed"
    if head.get("completed_at"):
        return "cancelled" if facts.status == "cancelled" else "completed"
    return ""


def _is_large(sample: Sample, head: dict[str, Any], key: str) -> bool:
    return key in sample.head and key not in head


class SampleReader:
    """Reads one sample. Its records are the sample itself, its events, and its list of messages."""

    def __init__(self, given: Input, sample: Sample, session_id: str, facts: Facts, status: str) -> None:
        self._given = given
        self._sample = sample
        self._session = session_id
        self._facts = facts
        self._status = status
        self._references = References(sample)
        self._keys: Counter[str] = Counter()
        self._events = Events(session_id, sample, self._references)

    def items(self) -> Iterator[Item]:
        """Yield everything."""
        loaded = self._sample.load_head()
        head = self._record(1, "sample", loaded)
        head.name = "sample"
        yield self._started(head)
        number = 1
        for span in self._sample.events:
            number += 1
            yield from self._record_items(number, span, self._event)
        if self._sample.messages is not None:
            yield from self._messages(number + 1, self._sample.messages)
        yield from self._rest(head, loaded)
        yield from self._ended(head)

    def _record(self, number: int, key: str, loaded: Loaded) -> Record:
        self._keys[key] += 1
        if self._keys[key] > 1:  # an id that was used before: each record stays one of its own
            key += f"#{self._keys[key]}"
        record = Record(self._given, self._session, number, key, loaded.read)
        if loaded.refers:
            record.value = self._references.resolve(record.value, record.mended)
        return record

    def _record_items(
        self, number: int, span: Span, convert: Callable[[int, Loaded], Iterator[Item]]
    ) -> Iterator[Item]:
        """Yield what a record gives, or its damage."""
        sample = self._sample
        try:
            loaded = sample.load(span)
        except (ValueError, RecursionError) as error:
            yield Damaged(number, *span, sample.sha256(span), reason_of(error), None, self._session)
            return
        if not isinstance(loaded.read.value, dict):
            sha256 = sample.sha256(span)
            yield Damaged(number, *span, sha256, "not_object", _bytes(sample, span), self._session)
            return
        yield from convert(number, loaded)

    def _event(self, number: int, loaded: Loaded) -> Iterator[Item]:
        own = word(loaded.read.value, "uuid")
        record = self._record(number, own or f"event:{number - 1}", loaded)
        yield from self._events.read(record, record.value)
        for pointer, span in loaded.large:
            yield from pieces(self._sample, record, pointer, span)

    def _started(self, head: Record) -> Event:
        words: dict[str, Any] = {"sample": {key: head.value[key] for key in _SETUP if key in head.value}}
        spec = self._facts.spec
        if spec:
            words["eval"] = spec
        model = word(spec, "model")
        time = head.value.get("started_at") or self._first_time()
        return head.event("session.started", words, time=time, status="active", model=model)

    def _first_time(self) -> str | None:
        for span in self._sample.events:
            time = first_time(self._sample, span)
            if time:
                return time
        return None

    def _messages(self, number: int, listed: Any) -> Iterator[Item]:
        """Yield the conversation as it stood at the end: which messages, and those met nowhere before."""
        record = self._record(number, "messages", Loaded(Tolerated({"count": len(listed)})))
        record.name = "messages"
        read = self._events.conversation_at_end(record, listed)
        refs = next(read)
        words = {"operation": "final_messages", "count": len(listed), "message_refs": refs}
        yield record.event("legacy.imported", words)
        yield from read

    def _rest(self, head: Record, loaded: Loaded) -> Iterator[Item]:
        """Yield what remained: members too large for one record, attachments and pools nothing refers to."""
        for pointer, span in loaded.large:
            yield from pieces(self._sample, head, pointer, span)
        for key, span in self._sample.repeated:
            yield Loss("repeated_member")
            yield from pieces(self._sample, head, f"/{key}", span, operation="repeated_member")
        yield from self._events.unused(head)
        for name, span in self._sample.attachments.items():
            if name in self._references.resolved:
                continue
            read = self._references.text(name)
            if read is None:
                yield from pieces(self._sample, head, f"/attachments/{name}", span)
                continue
            words: dict[str, Any] = {"operation": "attachment", "attachment": name}
            if attachments.data_url(read.value):
                words["attachments"] = [content.attachment(read.value)]
            else:
                words["content"] = read.value
            head.mended = [read]
            yield head.event("legacy.imported", words)
            head.mended = []

    def _ended(self, head: Record) -> Iterator[Event]:
        """Yield the result, and the end where the log tells of one."""
        result = without(head.value, *_SETUP)
        time = head.value.get("completed_at")
        if result:
            words = {"operation": "sample_result", "scores": result.pop("scores", None), "result": result}
            yield head.event("legacy.imported", words, time=time)
        error = head.value.get("error")
        if error and not self._events.failed:
            yield head.event("error.recorded", error_words(error), time=time, status="error")
        if self._status:
            ended = {
                key: head.value[key] for key in ("working_time", "limit", "error") if head.value.get(key)
            }
            words = {"duration_s": head.value.get("total_time"), **ended}
            yield head.event("session.ended", words, time=time, status=self._status)


def error_words(error: Any) -> dict[str, Any]:
    """Return an error as payload words."""
    given = error if isinstance(error, dict) else {"message": error}
    return {"error_type": None, **given, "message": values.text(given.get("message"))}


def first_time(sample: Sample, span: Span) -> str | None:
    """Return the time of an event as its text, None where none can be read."""
    try:
        value = sample.load(span).read.value
    except (ValueError, RecursionError):
        return None
    given = value.get("timestamp") if isinstance(value, dict) else None
    return given if values.iso_time(given)[0] is not None else None


def _bytes(sample: Sample, span: Span) -> bytes | None:
    return splitting.read(sample.stream, span) if span.length <= splitting.PIECE else None
