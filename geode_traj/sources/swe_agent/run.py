"""One SWE-agent run: its head, its messages, and its steps where they tell more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.fields import listed, member, number, without, word
from geode_traj.sources.record import Record
from geode_traj.sources.swe_agent.messages import Messages, same_action

_BODY: Final = ("history", "trajectory")
_ENDED: Final = {"submitted": "completed", "early_exit": "interrupted"}


class Run:
    """Reads one run in order: messages as they stand, each step after the messages that it gave."""

    def __init__(
        self,
        given: Input,
        session_id: str,
        key: str,
        value: dict[str, Any],
        met: tuple[Tolerated, list[Tolerated], list[Tolerated]],
        before: int,
    ) -> None:
        self._given, self._session, self._key, self._value = given, session_id, key, value
        self._head_met, self._history_met, self._steps_met = met
        self._before = before
        self._model = _model(value.get("replay_config"))
        self._steps: list[Any] = listed(value.get("trajectory"))
        self._history: list[Any] = listed(value.get("history"))

    def items(self) -> Iterator[Event]:
        """Yield the head, messages and steps, and at last what the run says of its end."""
        head = self._record(1, "head", without(self._value, *_BODY), self._head_met, "run")
        yield self._started(head)
        messages = Messages(self._model)
        done = 0
        open_step: int | None = None
        for place, message in enumerate(self._history):
            starts = isinstance(message, dict) and message.get("role") == "assistant"
            if starts and not message.get("is_demo"):
                if open_step is not None:
                    yield from self._step(open_step, messages, told=True)
                    open_step = None
                found = self._matching(message, done)
                for missed in range(done, done if found is None else found):
                    yield from self._step(missed, messages, told=False)
                if found is not None:
                    open_step, done = found, found + 1
            yield from messages.read(self._message(place, message))
        if open_step is not None:
            yield from self._step(open_step, messages, told=True)
        for missed in range(done, len(self._steps)):
            yield from self._step(missed, messages, told=False)
        yield from self._ended(head)

    def _record(self, place: int, key: str, value: Any, met: Tolerated, name: str) -> Record:
        full = f"{self._key}:{key}"
        return Record(self._given, self._session, self._before + place, full, value, name, met)

    def _message(self, place: int, message: Any) -> Record:
        name = f"history/{word(message, 'message_type') or word(message, 'role') or 'message'}"
        return self._record(2 + place, f"history:{place}", message, self._history_met[place], name)

    def _step(self, place: int, messages: Messages, *, told: bool) -> Iterator[Event]:
        value = self._steps[place]
        number = 2 + len(self._history) + place
        record = self._record(number, f"trajectory:{place}", value, self._steps_met[place], "trajectory")
        return messages.step(record, told=told)

    def _matching(self, message: dict[str, Any], done: int) -> int | None:
        """Return the next step that gave a message: the first one, or one behind steps that gave none."""
        for place in range(done, min(done + 16, len(self._steps))):
            if same_action(message, self._steps[place]):
                return place
        return None

    def _started(self, head: Record) -> Event:
        words = {key: head.value[key] for key in ("environment", "replay_config") if key in head.value}
        placed = [*words, *(["info"] if isinstance(head.value.get("info"), dict) else [])]
        if self._before:
            placed.append("attempts")
        return head.event(
            "session.started", words, without(head.value, *placed), status="active", model=self._model
        )

    def _ended(self, head: Record) -> Iterator[Event]:
        info = head.value.get("info")
        if not isinstance(info, dict):
            return
        stats = info.get("model_stats")
        rest = without(info, "model_stats")
        if stats is not None:
            yield self._usage(head, stats)
        status = info.get("exit_status")
        if not isinstance(status, str) or not status:  # it was not over when this was written
            if rest:
                yield head.event("legacy.imported", {"operation": "info", "info": rest})
            return
        words = {"termination_reason": status, **without(rest, "exit_status")}
        ended = _ENDED.get(status.partition(" ")[0], "error")
        yield head.event("session.ended", words, status=ended)

    def _usage(self, head: Record, stats: Any) -> Event:
        """Return what the whole run used; nothing but zeros beside calls is what a replay writes."""
        counts = {
            "input_tokens": number(stats, "tokens_sent"),
            "output_tokens": number(stats, "tokens_received"),
            "cost_usd": number(stats, "instance_cost"),
        }
        if number(stats, "api_calls") and not any(counts.values()):
            counts = {}
        words = values.usage(**counts, purpose="run")
        return head.event("usage.recorded", words, {"model_stats": stats}, model=self._model)


def _model(config: Any) -> str:
    """Return the model that a run's configuration names; older files hold it as a text of JSON."""
    if isinstance(config, str):
        config = values.arguments(config)
    name = member(config, "agent", "model", "name")
    return name if isinstance(name, str) else ""
