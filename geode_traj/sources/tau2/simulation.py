"""One simulation as a session: its start, what was said and done, its reward by reference, its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.fields import listed, without, word
from geode_traj.sources.record import Record
from geode_traj.sources.rewritten import head_of, within
from geode_traj.sources.tau2.messages import Messages
from geode_traj.sources.tau2.results import Found
from geode_traj.sources.tau2.ticks import Ticks

_BODY: Final = ("messages", "ticks")
_WORDS: Final = ("task_id", "trial", "seed", "mode", "policy")
_END: Final = ("termination_reason", "end_time", "duration", "agent_cost", "user_cost")
_ENDED: Final = {
    "user_stop": "completed",
    "agent_stop": "completed",
    "max_steps": "interrupted",
    "timeout": "interrupted",
}


class Simulation:
    """Reads one simulation. Voice simulations tell their messages tick by tick, others as a list."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._value: dict[str, Any] = found.read.value
        self._messages = listed(self._value.get("messages"))
        self._ticks = listed(self._value.get("ticks"))

    @property
    def total(self) -> int:
        """Its records: itself, its messages, its ticks."""
        return 1 + len(self._messages) + len(self._ticks)

    @property
    def first_time(self) -> float | None:
        """When it began, or the first time that can be read in it."""
        times = (values.iso_time(one)[0] for one in self._stamps())
        return next((time for time in times if time is not None), None)

    def _stamps(self) -> Iterator[Any]:
        yield self._value.get("start_time")
        for one in (*self._messages, *self._ticks):
            yield word(one, "timestamp")

    def items(self, given: Input) -> Iterator[Event]:
        """Yield its records in order."""
        given = replace(given, file_sha256=self._found.receipt)
        head = self._head(given)
        yield self._started(head)
        models = {
            "assistant": word(self._found.info, "agent_info", "llm"),
            "user": word(self._found.info, "user_info", "llm"),
        }
        messages = Messages(models)
        number = 1
        for met in within(self._found.read, "/messages", self._messages):
            number += 1
            yield from messages.read(self._record(given, number, "message", met))
        ticks = Ticks(messages, told=bool(self._messages))
        for met in within(self._found.read, "/ticks", self._ticks):
            number += 1
            yield from ticks.read(self._record(given, number, "tick", met))
        yield from ticks.end()
        yield from self._rewarded(head)
        yield from self._ended(head)

    def _record(self, given: Input, number: int, name: str, met: Tolerated) -> Record:
        record = Record(given, self._found.session_id, number, f"{name}:{number - 2}", met.value, name, met)
        record.time, record.time_rule = values.iso_time(word(met.value, "timestamp"))
        return record

    def _head(self, given: Input) -> Record:
        lists = [key for key in _BODY if isinstance(self._value.get(key), list)]
        own = without(self._value, *lists)
        met = head_of(self._found.read, *(f"/{key}" for key in lists))
        return Record(given, self._found.session_id, 1, "simulation", own, "simulation", met)

    def _started(self, head: Record) -> Event:
        seconds, rule = values.iso_time(head.value.get("start_time"))
        words = {key: head.value[key] for key in _WORDS if key in head.value}
        words |= {"info": self._found.info} if self._found.info else {}
        words |= {"task": self._found.task} if self._found.task is not None else {}
        words |= {"run": self._found.run} if self._found.info else {}
        placed = [*words, "reward_info", *(_END if self._is_over else ())]
        placed += ["start_time"] if seconds is not None else []
        fields = without(head.value, *(key for key in placed if key not in ("info", "task", "run")))
        model = word(self._found.info, "agent_info", "llm")
        return head.event(
            "session.started",
            words,
            fields,
            status="active",
            model=model,
            time=seconds,
            time_rule=rule,
        )

    @property
    def _is_over(self) -> bool:
        return word(self._value, "termination_reason") != ""

    def _rewarded(self, head: Record) -> Iterator[Event]:
        """Yield the reward by reference: the receipt that holds it stays its authority."""
        reward = head.value.get("reward_info")
        if reward is None and "reward_info" not in head.value:
            return
        seconds, rule = self._end()
        if reward is None:
            words: dict[str, Any] = {"operation": "reward", "reward_info": None}
            yield head.event("legacy.imported", words, time=seconds, time_rule=rule)
            return
        reference = {
            "kind": "native_receipt",
            "schema_id": "tau2.results@native",
            "authority": "tau2 native results receipt",
            "reference": self._found.receipt,
            "raw_artifact_sha256": self._found.receipt,
        }
        words = {"references": [reference]}
        yield head.event(
            "verification.evidence",
            words,
            {"reward_info": reward},
            role="policy",
            time=seconds,
            time_rule=rule,
        )

    def _ended(self, head: Record) -> Iterator[Event]:
        if not self._is_over:
            return
        reason = word(head.value, "termination_reason")
        seconds, rule = self._end()
        words = {"termination_reason": reason}
        words |= {key: head.value[key] for key in ("agent_cost", "user_cost") if key in head.value}
        fields = {}
        for key, name in (("duration", "duration_s"), ("end_time", "")):
            if key in head.value and name:
                words[name] = head.value[key]
            elif key in head.value and seconds is None:
                fields[key] = head.value[key]
        status = _ENDED.get(reason, "error")
        yield head.event("session.ended", words, fields, status=status, time=seconds, time_rule=rule)

    def _end(self) -> tuple[float | None, str]:
        return values.iso_time(self._value.get("end_time"))
