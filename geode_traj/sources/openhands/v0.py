"""Events of OpenHands's first generation: actions and the observations that they caused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.model.event import Event, Item, Link
from geode_traj.sources import content, values
from geode_traj.sources.fields import id_text, listed, member, number, objects, without, word
from geode_traj.sources.openhands.fields import full, outcome, rest_of
from geode_traj.sources.openhands.meter import Meter, of_response
from geode_traj.sources.record import Record

# Neither tools nor agents: what the program does around them (importer decision J2).
_WORKFLOW: Final = frozenset(
    """null recall change_agent_state condensation condensation_request start pause resume stop
    agent_state_changed agent_condensation condense loop_detection loop_recovery success""".split()
)
_TOOLS: Final = frozenset(
    """run run_ipython read write edit browse browse_interactive mcp call_tool_mcp think task_tracking push
    send_pr""".split()
)
_ENDED_TURN: Final = {"finished": "completed", "error": "error", "rejected": "error"}
_PICTURES: Final = ("image_urls", "screenshot", "set_of_marks")


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that waits for its result; `metadata` is the digest of what was said of it."""

    call_id: str
    tool: str
    metadata: str


class V0:
    """Reads a stream of events in order."""

    def __init__(self, session_id: str) -> None:
        self._sessions = [session_id]
        self._delegates: list[str] = []
        self._calls: dict[str, _Call] = {}
        self._meter = Meter()
        self._response = ""
        self._over = False

    def read(self, record: Record) -> Iterator[Item]:
        """Yield what an event gives; those of a delegate belong to a session of its own."""
        value = record.value
        record.session_id = self._sessions[-1]
        action, seen = word(value, "action"), word(value, "observation")
        record.name = f"action/{action}" if action else f"observation/{seen}"
        if action:
            yield from self._action(record, value, action)
        else:
            yield from self._observation(record, value, seen)
        yield from self._usage(record, value)

    def end(self) -> Iterator[Item]:
        """Yield nothing: a stream that ends says nothing."""
        yield from ()

    def _action(self, record: Record, value: dict[str, Any], action: str) -> Iterator[Item]:
        args, source = value.get("args"), word(value, "source")
        args = args if isinstance(args, dict) else {}
        rest = rest_of(record)
        if action == "system":
            words: dict[str, Any] = {"operation": "system_message", "content": args.get("content")}
            words |= {"tool_definitions": args["tools"]} if "tools" in args else {}
            _leave(rest, without(args, "content", "tools"))
            yield record.event("legacy.imported", words, full(rest), role="system")
        elif action == "message":
            yield self._message(record, args, source, rest)
        elif action == "finish":
            yield from self._finish(record, value, args, rest)
        elif action == "reject":
            yield record.whole(action, raw=False)
            yield self._completed(record, "error", "rejected")
        elif action == "delegate":
            yield from self._delegate(record, value, args, rest)
        elif action in _TOOLS or (action not in _WORKFLOW and value.get("tool_call_metadata")):
            yield from self._called(record, value, args, rest)
        else:
            yield record.whole(action, raw=action not in _WORKFLOW)

    def _message(self, record: Record, args: dict[str, Any], source: str, rest: dict[str, Any]) -> Event:
        text, attachments, left = args.get("content"), *_pictures(args)
        _leave(rest, without(left, "content"))
        if isinstance(text, str) and rest.get("message") == text:
            del rest["message"]
        words = {"content": text, **attachments}
        if source in ("user", "agent"):
            del rest["source"]
        if source == "user":
            self._over = False
            return record.event("message.user", words, full(rest), role="user")
        if source == "agent":
            words["reasoning"] = _reasoning(record.value)
            model = _model(record.value)
            return record.event("message.assistant", words, full(rest), role="assistant", model=model)
        words["operation"] = "environment_message"
        return record.event("legacy.imported", words, full(rest), role=source)

    def _finish(
        self, record: Record, value: dict[str, Any], args: dict[str, Any], rest: dict[str, Any]
    ) -> Iterator[Event]:
        """Yield the last answer and the end of its turn: nothing is ever observed of a finish."""
        said = word(args, "final_thought") or word(args, "thought") or word(value, "message")
        _leave(rest, {key: item for key, item in args.items() if item != said})
        if rest.get("message") == said:
            del rest["message"]
        words = {"content": said, "operation": "finish", "reasoning": _reasoning(value)}
        yield record.event("message.assistant", words, full(rest), role="assistant", model=_model(value))
        yield self._completed(record, "completed", "finish")

    def _completed(self, record: Record, status: str, reason: str) -> Event:
        self._over = True
        return record.event("turn.completed", {"termination_reason": reason}, status=status)

    def _called(
        self, record: Record, value: dict[str, Any], args: dict[str, Any], rest: dict[str, Any]
    ) -> Iterator[Event]:
        thought = word(args, "thought")
        model = _model(value)
        if thought and word(value, "action") != "think":
            words = {"content": thought, "reasoning": _reasoning(value)}
            yield record.event("message.assistant", words, role="assistant", model=model)
            args = without(args, "thought")
        call, given = self._open(value, args)
        _leave(rest, {} if given is args else args)
        words = {"tool": call.tool, "arguments": values.arguments(given)}
        role = "" if word(value, "source") in ("agent", "") else word(value, "source")
        yield record.event("tool.called", words, full(rest), call_id=call.call_id, model=model, role=role)

    def _open(self, value: dict[str, Any], args: dict[str, Any]) -> tuple[_Call, Any]:
        """Return a call and its arguments: as the model gave them, else as they were carried out."""
        metadata = value.get("tool_call_metadata")
        own = _id(value)
        tool = word(metadata, "function_name") or word(value, "action")
        call_id = word(metadata, "tool_call_id") or own
        call = _Call(call_id, tool, sha256_bytes(dumps(metadata)) if metadata else "")
        if own:
            self._calls[own] = call
        for choice in objects(member(metadata, "model_response", "choices")):
            for asked in objects(member(choice, "message", "tool_calls")):
                if word(asked, "id") == call_id and member(asked, "function", "arguments") is not None:
                    return call, member(asked, "function", "arguments")
        return call, args

    def _delegate(
        self, record: Record, value: dict[str, Any], args: dict[str, Any], rest: dict[str, Any]
    ) -> Iterator[Item]:
        """Yield the start of a delegate; what follows is its own until its outputs are observed."""
        parent, own = record.session_id, _id(value) or str(record.number)
        child = f"{self._sessions[0]}/delegate/{own}"
        call_id = ""
        words = {"task_type": args.get("agent"), "inputs": args.get("inputs"), "child_session_key": child}
        _leave(rest, without(args, "agent", "inputs"))
        if value.get("tool_call_metadata"):
            yield from self._called(record, value, args, dict(rest))
            call_id = self._calls[own].call_id if own in self._calls else ""
            rest = {}
        yield Link(child, "parent", parent)
        yield record.event("subagent.started", words, full(rest), call_id=call_id, status="started")
        self._delegates.append(own)
        self._sessions.append(child)

    def _observation(self, record: Record, value: dict[str, Any], seen: str) -> Iterator[Item]:
        cause = id_text(value.get("cause"))
        if seen == "delegate" and self._delegates:
            if cause in self._delegates:  # whatever it had delegated itself is over with it
                while self._delegates[-1] != cause:
                    self._delegates.pop()
                    self._sessions.pop()
            child = self._sessions.pop()
            self._delegates.pop()
            record.session_id = self._sessions[-1]
            call = self._calls.get(cause)
            words = {"summary": value.get("content"), "child_session_key": child}
            fields = rest_of(record, "content")
            yield record.event(
                "subagent.stopped", words, fields, call_id=call.call_id if call else "", status="completed"
            )
        call = self._calls.pop(cause, None)
        metadata = value.get("tool_call_metadata")
        if call is not None or (metadata and seen not in _WORKFLOW):
            yield self._result(record, value, seen, call)
        elif seen == "delegate":
            if not record.made:
                yield record.whole(seen)
        elif seen == "error":
            words = {"error_type": member(value, "extras", "error_id"), "message": value.get("content")}
            yield record.event("error.recorded", words, rest_of(record, "content"), status="error")
        elif seen == "agent_state_changed":
            yield from self._state(record, value)
        elif seen in _TOOLS:  # what it is of is not there
            yield self._result(record, value, seen, None)
        else:
            yield record.whole(seen, raw=seen not in _WORKFLOW)

    def _result(self, record: Record, value: dict[str, Any], seen: str, call: _Call | None) -> Event:
        metadata = value.get("tool_call_metadata")
        call_id = word(metadata, "tool_call_id") or (call.call_id if call else id_text(value.get("cause")))
        tool = word(metadata, "function_name") or (call.tool if call else seen)
        extras, (attachments, left) = value.get("extras"), _pictures(value.get("extras"))
        error = _is_error(value, seen)
        words: dict[str, Any] = {"tool": tool, "is_error": error}
        words |= {"result": value["content"]} if "content" in value else {}
        code = number(extras, "metadata", "exit_code")
        code = number(extras, "exit_code") if code is None else code
        words |= {} if code is None else {"exit_code": code}
        rest = rest_of(record, "content", "cause")
        if isinstance(extras, dict):
            rest["extras"] = left
        if call is not None and metadata and call.metadata == sha256_bytes(dumps(metadata)):
            del rest["tool_call_metadata"]  # the call says the same
        if call is None and "cause" in value:
            rest["cause"] = value["cause"]
        status = "rejected" if seen == "user_rejected" else outcome(error)
        return record.event(
            "tool.completed", {**words, **attachments}, full(rest), call_id=call_id, status=status
        )

    def _state(self, record: Record, value: dict[str, Any]) -> Iterator[Event]:
        state = word(value, "extras", "agent_state")
        yield record.whole("agent_state_changed", raw=False)
        if state in _ENDED_TURN and not self._over:
            yield self._completed(record, _ENDED_TURN[state], state)
        elif state == "stopped":
            yield record.event("session.ended", {"termination_reason": state}, status="interrupted")

    def _usage(self, record: Record, value: dict[str, Any]) -> Iterator[Event]:
        metrics, model = value.get("llm_metrics"), _model(value)
        response = member(value, "tool_call_metadata", "model_response")
        own = word(response, "id")
        if isinstance(metrics, dict):
            words = self._meter.used(record.session_id, metrics, response_id=own)
        elif "action" in value and isinstance(member(response, "usage"), dict):
            again = own != "" and own == self._response
            self._response = own
            words = None if again else of_response(response["usage"], response_id=own or None)
        else:
            return
        if words is not None:
            yield record.event("usage.recorded", words, model=model)


def _leave(rest: dict[str, Any], args: dict[str, Any]) -> None:
    """Leave of an action's arguments what no word holds; what is no object stays as it is."""
    if isinstance(rest.get("args"), dict):
        rest["args"] = args


def _id(value: dict[str, Any]) -> str:
    return id_text(value.get("id"))


def _model(value: dict[str, Any]) -> str:
    return word(value, "tool_call_metadata", "model_response", "model") or word(
        value, "llm_metrics", "accumulated_token_usage", "model"
    )


def _reasoning(value: dict[str, Any]) -> dict[str, Any]:
    choices = objects(member(value, "tool_call_metadata", "model_response", "choices"))
    texts = [word(choice, "message", "reasoning_content") for choice in choices]
    return values.reasoning("\n".join(filter(None, texts)))


def _is_error(value: dict[str, Any], seen: str) -> bool | None:
    if seen in ("error", "user_rejected"):
        return True
    success = value.get("success")
    return not success if isinstance(success, bool) else None


def _pictures(given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the pictures of an event as attachments, and its members without their data."""
    if not isinstance(given, dict):
        return {}, {}
    urls = [url for key in _PICTURES for url in [*listed(given.get(key)), given.get(key)]]
    found = [content.image(url) for url in urls if isinstance(url, str) and url.startswith("data:")]
    found = [one for one in found if "data" in one]
    if not found:
        return {}, given
    left = {key: content.shortened(item) if key in _PICTURES else item for key, item in given.items()}
    return {"attachments": found}, left
