"""What was said, called and answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from geode_traj.model.event import Event, Loss
from geode_traj.sources import values
from geode_traj.sources.calls import Calls
from geode_traj.sources.chat.content import Attachments
from geode_traj.sources.chat.record import Record
from geode_traj.sources.fields import number, text_of, without

# Messages that the program put before the model by itself.
_INJECTED: Final = ("skill-", "system")
_STATUS: Final = {True: "ok", False: "error"}


def user(record: Record, calls: Calls, data: dict[str, Any]) -> None:
    """Add a message of a person's, or one that the program wrote in their place."""
    rest = without(data, "content", "attachments", "transformedContent")
    payload: dict[str, Any] = {"content": text_of(data, "content", rest)}
    if data.get("transformedContent") is not None:
        payload["transformed_content"] = data["transformedContent"]
    listed = data.get("attachments")
    if isinstance(listed, list) and listed:
        _attached(record, payload, listed)
    elif listed is not None and listed != []:
        rest["attachments"] = listed
    keep(record, rest)
    source = data.get("source")
    if isinstance(source, str) and source.startswith(_INJECTED):
        record.kept("injected_context", payload)
        return
    calls.moved_on(record.line)
    record.event("message.user", payload, role="user")


def _attached(record: Record, payload: dict[str, Any], listed: Iterable[Any]) -> None:
    attachments, parts = Attachments(), []
    for one in listed:
        lifted = attachments.lifted(one)
        if lifted is one and isinstance(one, dict):
            attachments.refer(one)
        parts.append(lifted)
    payload["parts"] = parts
    elsewhere = attachments.put(payload)
    if elsewhere:
        record.items.append(Loss("media_kept_elsewhere", elsewhere))


def assistant(record: Record, calls: Calls, data: dict[str, Any], thought: str) -> None:
    """Add a response: its text if it has one, then its calls; `thought` was told right before it."""
    calls.moved_on(record.line)
    rest = without(data, "content", "reasoningText", "toolRequests", "model")
    if number(data, "outputTokens") is not None:
        del rest["outputTokens"]
    model = text_of(data, "model", rest)
    reasoning, own = _reasoning(data, thought), data.get("reasoningText")
    if own is not None and not isinstance(own, str):
        rest["reasoningText"] = own
    content = text_of(data, "content", rest)
    requests = data.get("toolRequests")
    listed = requests if isinstance(requests, list) else []
    if requests is not None and not isinstance(requests, list):
        rest["toolRequests"] = requests
    response = text_of(data, "messageId", {})
    keep(record, rest)
    made: list[Event] = []
    if content or reasoning["status"] != "unavailable" or not listed:
        words = {"content": content, "reasoning": reasoning}
        made.append(record.event("message.assistant", words, role="assistant", model=model))
    made += [_request(record, calls, one, model) for one in listed]
    for event in made if response else ():
        event.payload["response_id"] = response


def _reasoning(data: dict[str, Any], thought: str) -> dict[str, Any]:
    """Return the thoughts of a response: in plain text, or encrypted (they stay among its other fields)."""
    text = data.get("reasoningText")
    text = text if isinstance(text, str) and text else thought
    if text:
        return {"status": "present", "text": text}
    if data.get("reasoningOpaque") or data.get("encryptedContent"):
        return {"status": "withheld"}
    return {"status": "unavailable"}


def _request(record: Record, calls: Calls, request: Any, model: str) -> Event:
    if not isinstance(request, dict):
        return record.kept("tool_call", {"call": request}, model=model)
    rest = without(request, "toolCallId", "name", "arguments")
    if rest.get("type") == "function":
        del rest["type"]
    call_id, tool = text_of(request, "toolCallId", rest), text_of(request, "name", rest)
    return _called(record, calls, call_id, tool, request.get("arguments"), rest, model)


def _called(
    record: Record,
    calls: Calls,
    call_id: str,
    tool: str,
    given: Any,
    rest: dict[str, Any],
    model: str,
) -> Event:
    if not values.reads_whole(given):
        rest["arguments"] = given
    calls.called(call_id, tool, record.line)
    words = {"tool": tool, "arguments": values.arguments(given)}
    return record.event("tool.called", words, rest=rest, call_id=call_id, model=model)


def begun(record: Record, calls: Calls, data: dict[str, Any], *, asked: bool) -> None:
    """Add the start of a tool: a call of its own unless a response announced it; `asked` by a person."""
    call_id = text_of(data, "toolCallId", {})
    model = text_of(data, "model", {})
    if call_id and calls.waits(call_id):
        record.kept(record.name, {"record": data}, call_id=call_id, model=model)
        return
    rest = without(data, "toolCallId", "toolName", "arguments", "model")
    tool = text_of(data, "toolName", rest)
    event = _called(record, calls, call_id, tool, data.get("arguments"), rest, model)
    if asked:
        event.payload["requested_by"] = "user"


def completed(record: Record, calls: Calls, data: dict[str, Any]) -> None:
    """Add a tool's result: what it gave, or why it failed."""
    rest = without(data, "toolCallId", "toolName", "success", "result", "error", "model")
    call_id, tool = text_of(data, "toolCallId", rest), text_of(data, "toolName", rest)
    called = calls.answered(call_id, tool)
    success = data.get("success")
    if success is not None and not isinstance(success, bool):
        rest["success"], success = success, None
    payload: dict[str, Any] = {
        "tool": tool or called or "",
        "is_error": None if success is None else not success,
    }
    if data.get("isUserRequested") is True:
        payload["requested_by"] = "user"
    attachments = Attachments()
    for key, text in (("error", "message"), ("result", "content")):
        if data.get(key) is not None:
            _told(payload, attachments, key, attachments.lifted(data[key]), text)
    elsewhere = attachments.put(payload)
    model = text_of(data, "model", rest)
    keep(record, rest)
    status = _STATUS[success] if success is not None else ""
    record.event("tool.completed", payload, call_id=call_id, status=status, model=model)
    if called is None:
        record.items.append(Loss("result_without_call"))
    if elsewhere:
        record.items.append(Loss("media_kept_elsewhere", elsewhere))


def _told(payload: dict[str, Any], attachments: Attachments, key: str, told: Any, text: str) -> None:
    """Put what a tool told into a payload: its text is the result, the rest stands beside it."""
    if not isinstance(told, dict) or text not in told:
        payload["result" if isinstance(told, str) else f"{key}_details"] = told
        return
    payload["result"] = told[text]
    beside = without(told, text)
    if beside:
        payload["details" if key == "result" else "error_details"] = beside


def keep(record: Record, rest: dict[str, Any]) -> None:
    """Keep what of a row's data found no place, if anything."""
    if rest:
        record.rest["data"] = rest
