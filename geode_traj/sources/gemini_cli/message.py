"""A message's final state as events: what was said and thought, calls and results, what it took."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.model.event import Link, Loss
from geode_traj.sources import values
from geode_traj.sources.calls import Calls
from geode_traj.sources.fields import is_number
from geode_traj.sources.gemini_cli import content
from geode_traj.sources.gemini_cli.content import Content
from geode_traj.sources.gemini_cli.record import Record, Said

_FAILED: Final = {"success": False, "error": True}
_FINAL: Final = frozenset({"success", "error", "cancelled"})
_COUNTS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cache_read_tokens",
    "thoughts": "reasoning_tokens",
    "tool": "tool_use_prompt_tokens",
    "total": "total_tokens",
}
_PLACED: Final = frozenset({"id", "type", "timestamp", "content"})
_NOT_CALLED: Final = frozenset({"id", "name", "args", "result", "status", "agentId"})


class Messages:
    """Tells the messages of one session."""

    def __init__(self) -> None:
        self.calls = Calls()
        self._results: set[str] = set()
        self._children: set[str] = set()

    def tell(self, record: Record, said: Said, tokens: Any, *, copied: bool) -> None:
        """Add a message's events to those of the record in which it stands first.

        `tokens` is what it took, told by whichever state told it last. A `copied` message stands in a history
        that was rewritten: its calls are none that were made, so they stay in its fields.
        """
        kind = said.value["type"]
        if kind == "user":
            self._user(record, said, copied=copied)
        elif kind == "gemini":
            self._gemini(record, said, copied=copied)
            if not copied and ("tokens" in said.value or said.value.get("model") or tokens is not None):
                _usage(record, said, tokens)
        else:
            _notice(record, said, kind)

    def _user(self, record: Record, said: Said, *, copied: bool) -> None:
        read = content.read(said.value.get("content"))
        fields = _fields(said, read)
        if read.only_responses and not copied:
            for one in read.responses:
                self._response(record, said, one, fields)
                fields = {}
            return
        words: dict[str, Any] = {"content": read.text}
        if read.attachments:
            words["attachments"] = read.attachments
        if read.responses or read.calls:
            fields["parts"] = read.responses + read.calls
        if read.is_injected:
            words = {"operation": "injected_context", **words}
            record.event("legacy.imported", words, fields, said=said, time=_time(said), role="user")
            return
        if read.is_summary:
            words |= {"is_summary": True, "copied_context": True}
        elif not copied:
            self.calls.moved_on(record.number)
        record.event("message.user", words, fields, said=said, time=_time(said), role="user")

    def _response(self, record: Record, said: Said, one: dict[str, Any], fields: dict[str, Any]) -> None:
        """Tell of a result that stands in a message of its own, unless its call has one already."""
        call_id, tool = (values.text(one.get(key)) for key in ("id", "name"))
        called = self._answered(call_id, tool)
        words: dict[str, Any]
        if called is None and call_id in self._results:
            words = {"operation": "function_response", "response": one}
            record.event("legacy.imported", words, fields, said=said, time=_time(said))
            return
        if called is None:
            record.items.append(Loss("result_without_call"))
        found = content.result([{"functionResponse": one}])
        if found.is_masked:
            record.items.append(Loss("tool_output_masked"))
        words = {"tool": tool or called or "", "is_error": found.failed or None, "result": found.text}
        if found.attachments:
            words["attachments"] = found.attachments
        rest = fields | ({"response": found.outline} if found.outline else {})
        record.event("tool.completed", words, rest, said=said, time=_time(said), call_id=call_id)

    def _gemini(self, record: Record, said: Said, *, copied: bool) -> None:
        read = content.read(said.value.get("content"))
        told, whole = content.thoughts(said.value.get("thoughts"))
        fields = _fields(said, read)
        calls = said.value.get("toolCalls")
        listed = [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
        if not copied and isinstance(calls, list) and len(listed) == len(calls):
            fields.pop("toolCalls", None)
        if whole:
            fields.pop("thoughts", None)
        thought = "\n\n".join([*told, *read.thoughts])
        reasoning = values.reasoning(thought, status="preview")  # the program only gets summaries of it
        words: dict[str, Any] = {"content": read.text, "reasoning": reasoning}
        if read.attachments:
            words["attachments"] = read.attachments
        if read.is_summary:
            words |= {"is_summary": True, "copied_context": True}
        if read.responses:
            fields["parts"] = read.responses
        model = _model(said)
        known = {one.get("id") for one in listed if isinstance(one.get("id"), str)}
        bare = [one for one in read.calls if values.text(one.get("id")) not in known]
        if copied:
            fields |= {"calls": read.calls} if read.calls else {}
            listed, bare = [], []
        record.event(
            "message.assistant", words, fields, said=said, time=_time(said), role="assistant", model=model
        )
        for one in bare:
            self._called(record, said, {**one, "status": None}, model)
        for one in listed:
            self._called(record, said, one, model)
        for one in listed:
            self._completed(record, said, one)

    def _called(self, record: Record, said: Said, call: dict[str, Any], model: str) -> None:
        call_id, tool = (values.text(call.get(key)) for key in ("id", "name"))
        self.calls.called(call_id, tool, record.number)
        fields = {key: value for key, value in call.items() if key not in _NOT_CALLED}
        fields |= {key: call[key] for key in ("id", "name") if call.get(key) and not _is_text(call[key])}
        if isinstance(call.get("args"), str):
            fields["args"] = call["args"]
        if _is_final(call):
            fields.pop("resultDisplay", None)
        elif call.get("status") is not None:
            fields["status"] = call["status"]
        words = {"tool": tool, "arguments": values.arguments(call.get("args"))}
        child, time = call.get("agentId"), call.get("timestamp")
        if child is not None and not (isinstance(child, str) and child):
            fields["agentId"] = child
        record.event("tool.called", words, fields, said=said, time=time, call_id=call_id, model=model)
        if isinstance(child, str) and child:
            if child not in self._children:
                self._children.add(child)
                record.items.append(Link(child, "parent", record.session))
            words = {"child_session_key": child, "task_type": tool}
            record.event("subagent.started", words, said=said, time=time, call_id=call_id)

    def _answered(self, call_id: str, tool: str) -> str | None:
        """Return the tool of the call that a result answers, None for a result without one."""
        called = self.calls.answered(call_id, tool)
        if called is not None:
            self._results.add(call_id)
        return called

    def _completed(self, record: Record, said: Said, call: dict[str, Any]) -> None:
        if not _is_final(call):
            return
        call_id, status = values.text(call.get("id")), values.text(call.get("status"))
        tool = self._answered(call_id, values.text(call.get("name")))
        found = content.result(call.get("result"))
        if found.is_masked:
            record.items.append(Loss("tool_output_masked"))
        failed = _FAILED.get(status, True if found.failed else None)
        words: dict[str, Any] = {"tool": tool or values.text(call.get("name")), "is_error": failed}
        if found.given:
            words["result"] = found.text
        if found.attachments:
            words["attachments"] = found.attachments
        if "resultDisplay" in call:
            words["result_display"] = call["resultDisplay"]
        fields = {"result": found.outline} if found.outline != "" else {}
        time = call.get("timestamp")
        record.event("tool.completed", words, fields, said=said, time=time, call_id=call_id, status=status)
        if isinstance(call.get("agentId"), str) and call["agentId"]:
            child = {"child_session_key": call["agentId"], "task_type": tool or ""}
            record.event("subagent.stopped", child, said=said, time=time, call_id=call_id, status=status)


def _usage(record: Record, said: Said, tokens: Any) -> None:
    """Record what a response took, once for all states of its message; what was not reported is null."""
    given = tokens if isinstance(tokens, dict) else {}
    counts = {word: given[key] for key, word in _COUNTS.items() if is_number(given.get(key))}
    fields = {key: value for key, value in given.items() if key not in _COUNTS or not is_number(value)}
    fields = {key: value for key, value in fields.items() if value is not None}
    if tokens is not None and not isinstance(tokens, dict):
        fields = {"tokens": tokens}
    noted = {"input_includes_cached": True} if "input_tokens" in counts else {}
    words = values.usage(**counts, **noted, response_id=said.value.get("id"))
    event = record.event("usage.recorded", words, fields, said=said, time=_time(said), model=_model(said))
    event.payload.pop("branch", None)  # what was taken back was paid for all the same


def _notice(record: Record, said: Said, kind: str) -> None:
    """Record what the program told the person: an error as one, anything else as the operation it is."""
    read = content.read(said.value.get("content"))
    fields = _fields(said, read)
    words: dict[str, Any] = {"attachments": read.attachments} if read.attachments else {}
    if kind == "error":
        words = {"error_type": "error", "message": read.text, **words}
        record.event("error.recorded", words, fields, said=said, time=_time(said), status="error")
        return
    words = {"operation": kind, "content": read.text, **words}
    record.event("legacy.imported", words, fields, said=said, time=_time(said), role="system")


def _fields(said: Said, read: Content) -> dict[str, Any]:
    """Return what of a message has no word of its own; a copied message keeps its calls and tokens there."""
    placed = set(_PLACED) - (set() if isinstance(said.value.get("id"), str) else {"id"})
    if said.value["type"] == "gemini":
        placed |= {"model"} if isinstance(said.value.get("model"), str) else set()
        placed |= set() if said.marks.get("copied_context") else {"tokens"}
    fields = {key: value for key, value in said.value.items() if key not in placed}
    if read.outline != "":
        fields["content"] = read.outline
    elif said.value.get("content") is None and "content" in said.value:
        fields["content"] = None
    return fields


def _time(said: Said) -> Any:
    return said.value.get("timestamp")


def _model(said: Said) -> str:
    model = said.value.get("model")
    return model if isinstance(model, str) else ""


def _is_final(call: dict[str, Any]) -> bool:
    status = call.get("status")
    return call.get("result") is not None or (isinstance(status, str) and status in _FINAL)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
