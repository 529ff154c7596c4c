"""Voice simulations tick by tick: speech comes in pieces, calls and results whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources.fields import listed, objects, without, word
from geode_traj.sources.record import Record
from geode_traj.sources.tau2.messages import Messages

_SIDES: Final = {"agent": "assistant", "user": "user"}
_KINDS: Final = {"assistant": "message.assistant", "user": "message.user"}


@dataclass(slots=True)
class _Speech:
    """One utterance so far: its pieces, what names it, and the ticks that it began and ended with."""

    texts: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    began: Record | None = None
    last: Any = None


class Ticks:
    """Reads ticks in order; where the simulation's messages were `told` they only repeat those."""

    def __init__(self, messages: Messages, *, told: bool) -> None:
        self._messages = messages
        self._told = told
        self._speech = {role: _Speech() for role in _SIDES.values()}
        self._latest: Record | None = None

    def read(self, record: Record) -> Iterator[Event]:
        """Yield the tick as it is, without its calls and results, then what happened in it."""
        tick = record.value
        if not isinstance(tick, dict) or self._told:
            yield record.whole("tick", raw=not isinstance(tick, dict))
            return
        whole = [
            key
            for side in _SIDES
            for key in (f"{side}_tool_calls", f"{side}_tool_results")
            if len(objects(tick.get(key))) == len(listed(tick.get(key))) and isinstance(tick.get(key), list)
        ]
        words = {"operation": "tick", "record": without(tick, *(key for key in whole if tick[key]))}
        yield record.event("legacy.imported", words)
        self._latest = record
        for side, role in _SIDES.items():
            yield from self._said(record, role, tick.get(f"{side}_chunk"), tick.get("tick_id"))
            for key in whole:
                if key == f"{side}_tool_calls":
                    for call in tick[key]:
                        yield self._messages.called(record, call, role, {})
                elif key == f"{side}_tool_results":
                    for result in tick[key]:
                        yield self._messages.result(record, result, {})

    def end(self) -> Iterator[Event]:
        """Yield what was still being said."""
        for role in _SIDES.values():
            if self._latest is not None:
                yield from self._over(self._latest, role)

    def _said(self, record: Record, role: str, chunk: Any, tick: Any) -> Iterator[Event]:
        """Gather a side's speech; it is over with a piece of another utterance, or with silence."""
        text = word(chunk, "content")
        speech = self._speech[role]
        ids = {one for one in listed(chunk.get("utterance_ids")) if isinstance(one, str)} if text else set()
        if speech.texts and (not text or (ids and speech.ids and not ids & speech.ids)):
            yield from self._over(record, role)
            speech = self._speech[role]
        if text:
            speech.began = speech.began or record
            speech.texts.append(text)
            speech.ids |= ids
            speech.last = tick

    def _over(self, record: Record, role: str) -> Iterator[Event]:
        speech, self._speech[role] = self._speech[role], _Speech()
        if speech.began is None:
            return
        words: dict[str, Any] = {"content": "".join(speech.texts)}
        words["ticks"] = [speech.began.value.get("tick_id"), speech.last]
        time: dict[str, Any] = {"time": speech.began.time, "time_rule": speech.began.time_rule}
        yield record.event(_KINDS[role], words, role=role, **time)
