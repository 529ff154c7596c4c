"""Tool calls and results as Codex writes them."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec.reading import tolerant
from geode_traj.sources import values
from geode_traj.sources.codex import content

CALLS: Final = frozenset(
    "function_call custom_tool_call local_shell_call tool_search_call web_search_call"
    " image_generation_call".split()
)
RESULTS: Final = frozenset("function_call_output custom_tool_call_output tool_search_output".split())
# The provider runs these and writes one record for the call and what became of it.
HOSTED: Final = frozenset({"web_search_call", "image_generation_call"})
_DONE: Final = {"completed": False, "failed": True, "incomplete": True}


def name_of(payload: dict[str, Any]) -> str:
    """Return the name of the tool that a call or a result is of; "" where the record does not say."""
    kind = payload["type"]
    if kind in ("function_call", "custom_tool_call"):
        return values.text(payload.get("name"))
    if kind == "tool_search_output":
        return "tool_search"
    return kind.removesuffix("_call") if kind in CALLS else ""


def arguments(payload: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a call's arguments, and whether they hold everything that the record's text said."""
    kind = payload["type"]
    if kind == "custom_tool_call":
        return {"input": payload.get("input")}, True
    if kind in ("local_shell_call", "web_search_call"):
        return values.arguments(payload.get("action")), True
    if kind == "image_generation_call":
        return {"revised_prompt": payload.get("revised_prompt")}, True
    given = payload.get("arguments")
    return values.arguments(given), values.reads_whole(given)


def placed(payload: dict[str, Any]) -> set[str]:
    """Return the keys of a call record that its event's own words hold."""
    words = {
        "custom_tool_call": {"name", "input"},
        "local_shell_call": {"action"},
        "web_search_call": {"action"},
        "image_generation_call": {"revised_prompt", "result"},
    }
    return words.get(payload["type"], {"name", "arguments"})


def hosted(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result payload of a hosted tool's record, None while it says of no end."""
    status = payload.get("status")
    data = payload.get("result")
    ended = _DONE.get(status) if isinstance(status, str) else None
    if ended is None and data is None:
        return None
    out: dict[str, Any] = {"is_error": ended}
    if isinstance(data, str) and payload["type"] == "image_generation_call":
        out["attachments"] = [content.encoded(data)]
    elif data is not None:
        out["result"] = data
    return out


def result(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what a result record says: `result` as given, `is_error` where it is told, attachments."""
    output = payload.get("tools") if payload["type"] == "tool_search_output" else payload.get("output")
    out: dict[str, Any] = {"is_error": _is_error(output)}
    parts = output.get("content") if isinstance(output, dict) else output
    attached = content.read(parts).attachments if isinstance(parts, list) else []
    if attached:
        out["attachments"] = attached
        output = content.without_data(output)
    if "output" in payload or "tools" in payload:
        out["result"] = output
    return out


def _is_error(output: Any) -> bool | None:
    """Return whether a call failed, where its output says so: `success`, or an exit code beside the text."""
    if isinstance(output, str) and output.startswith('{"'):
        try:
            output = tolerant(output.encode()).value
        except (ValueError, RecursionError):
            return None
        told = output.get("metadata") if isinstance(output, dict) else None
        code = told.get("exit_code") if isinstance(told, dict) else None
        return code != 0 if type(code) is int else None
    success = output.get("success") if isinstance(output, dict) else None
    return not success if isinstance(success, bool) else None
