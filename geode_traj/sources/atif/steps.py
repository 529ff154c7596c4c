"""What a step says: a message, calls, what the model used, and what was observed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event, Item, Link
from geode_traj.sources import values
from geode_traj.sources.atif import parts
from geode_traj.sources.atif.document import Trajectory
from geode_traj.sources.atif.record import Record
from geode_traj.sources.calls import Calls
from geode_traj.sources.fields import is_number, objects, without

_KINDS: Final = {"user": "message.user", "agent": "message.assistant", "system": "legacy.imported"}
_ROLES: Final = {"user": "user", "agent": "assistant", "system": "system"}
_COUNTS: Final = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read_tokens",
    "cost_usd": "cost_usd",
}
_INCLUDES_CACHED: Final = (1, 2)  # the version that says so of prompt_tokens


class Steps:
    """Reads the steps of one trajectory in order."""

    def __init__(self, trajectory: Trajectory, version: tuple[int, int]) -> None:
        self._trajectory = trajectory
        self._version = version
        self._calls = Calls()
        self.referred: set[str] = set()
        """Sessions of embedded trajectories that a step referred to."""

    def read(self, record: Record) -> Iterator[Item]:
        """Yield what a step gives: first its message, then calls, usage, observations."""
        step = record.value
        source = step.get("source")
        if not isinstance(source, str) or source not in _KINDS:
            words = {"operation": "step", "record": step}
            yield record.event("legacy.imported", words, raw=True)
            return
        record.name = f"step/{source}"
        called = objects(step.get("tool_calls"))
        results = _results(step)
        yield _message(record, source, called, results)
        for call in called:
            yield self._called(record, call)
        if source == "agent" and "metrics" in step:
            yield self._usage(record, step["metrics"])
        yield from self._observed(record, called, results)

    def _called(self, record: Record, call: dict[str, Any]) -> Event:
        tool, call_id = (values.text(call.get(key)) for key in ("function_name", "tool_call_id"))
        self._calls.called(call_id, tool)
        placed = {key for key in ("function_name", "tool_call_id") if isinstance(call.get(key), str)}
        given = call.get("arguments")
        if not isinstance(given, str):
            placed.add("arguments")  # a text is kept beside what was read of it
        words = {"tool": tool, "arguments": values.arguments(given)}
        fields = without(call, *placed)
        return record.event("tool.called", words, fields, call_id=call_id, model=record.model)

    def _usage(self, record: Record, metrics: Any) -> Event:
        given = metrics if isinstance(metrics, dict) else {}
        counts = {word: given.get(key) for key, word in _COUNTS.items() if is_number(given.get(key))}
        placed = {key for key in _COUNTS if given.get(key) is None or is_number(given[key])}
        fields = without(given, *placed) if isinstance(metrics, dict) else {"metrics": metrics}
        noted = {"input_includes_cached": True} if self._version >= _INCLUDES_CACHED else {}
        words = values.usage(**counts, **(noted if "input_tokens" in counts else {}))
        return record.event("usage.recorded", words, fields, model=record.model)

    def _observed(
        self, record: Record, called: list[dict[str, Any]], results: list[dict[str, Any]]
    ) -> Iterator[Item]:
        """Yield a step's results; those that name no call are its calls' in order, if their numbers agree.

        Others without a call are observations: no call is invented for them.
        """
        linked = {values.text(result["source_call_id"]) for result in results if _names_call(result)}
        waiting = [call for call in called if values.text(call.get("tool_call_id")) not in linked]
        unlinked = sum(not _names_call(result) for result in results)
        tools = (
            [values.text(call.get("function_name")) for call in waiting] if unlinked == len(waiting) else []
        )
        for result in results:
            call_id = result["source_call_id"] if _names_call(result) else ""
            for ref in _refs(result):
                yield from self._child(record, ref, call_id)
            read = parts.read(result.get("content"))
            words: dict[str, Any] = {"attachments": read.attachments} if read.attachments else {}
            if "content" in result:
                words["result"] = result["content"] if result["content"] is None else read.text
            placed = {"subagent_trajectory_ref"} if _refs(result) else set()
            placed |= {"content"} if read.whole or result.get("content") is None else set()
            if not call_id and not tools:
                words = {"operation": "observation", **words}
                fields = without(result, *placed)
                yield record.event("legacy.imported", words, fields, role="environment")
                continue
            tool = (self._calls.answered(call_id) or "") if call_id else tools.pop(0)
            placed |= {"source_call_id"} if call_id or result.get("source_call_id") is None else set()
            words = {"tool": tool, "is_error": None, **words}
            yield record.event("tool.completed", words, without(result, *placed), call_id=call_id)

    def _child(self, record: Record, ref: dict[str, Any], call_id: str) -> Iterator[Item]:
        """Yield a sub-agent's start and stop: what it found is here, so it ran before this."""
        own = self._trajectory.session_id
        names = [ref.get(key) for key in ("trajectory_id", "session_id")]
        ids = [name for name in names if isinstance(name, str) and name]
        known = [self._trajectory.embedded[name] for name in ids if name in self._trajectory.embedded]
        child = next((name for name in (*known, *ids) if name != own), "")
        if child:
            self.referred.add(child)
            yield Link(child, "parent", own)
        words = {"child_session_key": child or values.text(ref.get("trajectory_path")), "reference": ref}
        yield record.event("subagent.started", words, call_id=call_id, status="started")
        yield record.event("subagent.stopped", {**words}, call_id=call_id)


def _message(
    record: Record, source: str, called: list[dict[str, Any]], results: list[dict[str, Any]]
) -> Event:
    """Return the step's message, which keeps all of the step that stands nowhere else."""
    step = record.value
    read = parts.read(step.get("message"))
    words: dict[str, Any] = {"content": read.text}
    if read.attachments:
        words["attachments"] = read.attachments
    placed = {"source"} | ({"message"} if read.whole else set())
    placed |= {"timestamp"} if not record.unread_time() else set()
    placed |= {"is_copied_context"} if record.copied else set()
    columns: dict[str, Any] = {"role": _ROLES[source]}
    if source == "system":
        words["operation"] = "system_message"
    if source == "agent":
        thought = step.get("reasoning_content")
        words["reasoning"] = values.reasoning(thought)
        placed |= {"metrics"} | ({"reasoning_content"} if isinstance(thought, str) and thought else set())
        columns["model"] = record.model
        placed |= {"model_name"} if step.get("model_name") == record.model else set()
    if isinstance(step.get("tool_calls"), list) and len(called) == len(step["tool_calls"]):
        placed.add("tool_calls")
    fields = without(step, *placed)
    if "observation" in fields:
        fields |= _observation_rest(fields.pop("observation"), len(results))
    return record.event(_KINDS[source], words, fields, **columns)


def _observation_rest(given: Any, read: int) -> dict[str, Any]:
    """Return, as a field, what an observation holds beside the results that are read."""
    results = given.get("results") if isinstance(given, dict) else None
    if not isinstance(results, list) or len(results) != read:
        return {"observation": given}
    rest = without(given, "results")
    return {"observation": rest} if rest else {}


def _results(step: dict[str, Any]) -> list[dict[str, Any]]:
    observation = step.get("observation")
    return objects(observation.get("results")) if isinstance(observation, dict) else []


def _refs(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a result's references to trajectories, none where not all can be read."""
    given = result.get("subagent_trajectory_ref")
    given = [given] if isinstance(given, dict) else given
    found = objects(given)
    return found if isinstance(given, list) and len(found) == len(given) else []


def _names_call(result: dict[str, Any]) -> bool:
    named = result.get("source_call_id")
    return isinstance(named, str) and named != ""
