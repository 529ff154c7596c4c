"""What events say, in the shapes that chat formats share: texts, reasoning, arguments, results, usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps

_SPOKEN: Final = frozenset({"system", "developer"})


def content(event: dict[str, Any]) -> str:
    """Return a message's text, "" where it has none."""
    given = event["payload"].get("content")
    return given if isinstance(given, str) else plain(given)


def plain(value: Any) -> str:
    """Return a value as text: texts as they are, text blocks a line each, anything else as its JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    blocks = text_blocks(value)
    return dumps(value).decode() if blocks is None else "\n".join(blocks)


def text_blocks(value: Any) -> list[str] | None:
    """Return the texts of a list of blocks that are text and nothing else, None for any other value."""
    if not isinstance(value, list) or not value:
        return None
    texts = []
    for block in value:
        if not isinstance(block, dict) or block.keys() != {"type", "text"} or block["type"] != "text":
            return None
        if not isinstance(block["text"], str):
            return None
        texts.append(block["text"])
    return texts


def reasoning(event: dict[str, Any]) -> str:
    """Return the reasoning text of a message, "" where it is unavailable or withheld."""
    given = event["payload"].get("reasoning")
    text = given.get("text") if isinstance(given, dict) else None
    return text if isinstance(text, str) else ""


def result(event: dict[str, Any]) -> tuple[str, Any]:
    """Return which word of a result holds what the tool said, and that: its result, else a summary of it."""
    payload = event["payload"]
    if payload.get("result") is None and payload.get("summary") is not None:
        return "summary", payload["summary"]
    return "result", payload.get("result")


def arguments(event: dict[str, Any]) -> Any:
    """Return a call's arguments as its source gave them: a text that held no JSON as that text."""
    given = event["payload"].get("arguments")
    if isinstance(given, dict) and len(given) == 1:
        for marked in ("_value", "_legacy_fragment"):
            if marked in given:
                return given[marked]
    return given


def arguments_text(event: dict[str, Any]) -> str:
    """Return a call's arguments as the text in which chat formats write them."""
    given = event["payload"].get("arguments")
    if isinstance(given, dict) and given.keys() == {"_legacy_fragment"}:
        return str(given["_legacy_fragment"])
    return dumps(arguments(event)).decode() if given is not None else ""


def tool(event: dict[str, Any]) -> str:
    """Return the name of a call's or a result's tool, "" where it is not told."""
    return text(event["payload"], "tool")


def text(payload: dict[str, Any], word: str) -> str:
    """Return a word of a payload that is a text, "" otherwise."""
    given = payload.get(word)
    return given if isinstance(given, str) else ""


def response_id(event: dict[str, Any]) -> str:
    """Return the id of the model response that an event is part of, "" where it is not told."""
    return text(event["payload"], "response_id")


def is_system(event: dict[str, Any]) -> bool:
    """Tell whether an event is what a system or developer message said."""
    return (
        event["kind"] == "legacy.imported"
        and event["actor"] in _SPOKEN
        and isinstance(event["payload"].get("content"), str)
    )


def attachments(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the attachments of a message or a result."""
    given = event["payload"].get("attachments")
    yield from (one for one in (given if isinstance(given, list) else ()) if isinstance(one, dict))


def number(value: Any) -> int | float | None:
    """Return a count or an amount, None for anything else."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(value: Any) -> int | None:
    """Return a count of tokens, None for anything else."""
    given = number(value)
    return int(given) if given is not None and given == int(given) and given >= 0 else None


def input_tokens(payload: dict[str, Any]) -> int | None:
    """Return all input tokens of a usage, cached ones among them; None where that cannot be told.

    Counts that come with both cache reads and creations are separate from these; one that says so includes
    them (record contract §13). With only one of the two, nobody knows.
    """
    given, read, made = (
        whole(payload.get(word)) for word in ("input_tokens", "cache_read_tokens", "cache_creation_tokens")
    )
    if given is None or payload.get("input_includes_cached") is True or (read is None and made is None):
        return given
    return None if read is None or made is None else given + read + made
