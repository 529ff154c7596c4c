"""Where words of an event stand in ATIF: its own fields, `extra`, content parts, metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from geode_traj.export.ways import said
from geode_traj.export.ways.words import CHECKING, time, words

Event = dict[str, Any]

_SHORT: Final = 1000
_IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_AUDIO: Final = frozenset(
    "audio/wav audio/mpeg audio/mp4 audio/aac audio/ogg audio/flac audio/webm audio/aiff".split()
)
_COUNTS: Final = {"completion_tokens": "output_tokens", "cached_tokens": "cache_read_tokens"}


def native(event: Event) -> dict[str, Any]:
    """Return the fields of an ATIF record that no word of its event holds; {} for other sources."""
    legacy = event["payload"].get("_legacy")
    fields = legacy.get("fields") if isinstance(legacy, dict) else None
    return fields if event["payload"].get("source") == "atif" and isinstance(fields, dict) else {}


def whole_fields(event: Event, taken: Iterable[str]) -> set[str]:
    """Return the word for a record's other fields, if all of them are among those that were taken."""
    fields = native(event)
    return {"_legacy.fields"} if fields and set(taken).issuperset(fields) else set()


def further(
    event: Event, held: Iterable[str], *, first: Event | None = None
) -> tuple[dict[str, Any], set[str]]:
    """Return the short words of an event that no field of the format holds, and their names.

    `held` are those that a field holds, `first` is the event whose time the step has: another is told.
    """
    payload = event["payload"]
    out: dict[str, Any] = {}
    for key, value in payload.items():
        if key in held or key in CHECKING or value is None or value == "":
            continue
        if isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _SHORT):
            out[key] = value
    names = set(out)
    status = (
        payload.get("reasoning", {}).get("status") if isinstance(payload.get("reasoning"), dict) else None
    )
    if isinstance(status, str) and "reasoning.status" in set(words(event)).difference(held):
        out["reasoning_status"] = status
        names.add("reasoning.status")
    if first is not None:
        names.add("occurred_at")
        if time(event) and time(event) != time(first):
            out["occurred_at"] = time(event)
    given = native(event).get("extra")
    if isinstance(given, dict):
        out = {**given, **out}
    return out, names


def content(text: str, event: Event, *, audio: bool) -> tuple[Any, set[str]]:
    """Return text and the media beside it, and the word of these if all could be referred to.

    The format names a file for each: only what the source named can be named again.
    """
    given = list(said.attachments(event))
    media = [part for one in given if (part := _part(one, audio=audio))]
    if not media:
        return text, set()
    parts = ([{"type": "text", "text": text}] if text else []) + media
    return parts, {"attachments"} if len(media) == len(given) else set()


def _part(attachment: dict[str, Any], *, audio: bool) -> dict[str, Any] | None:
    kind, path = (said.text(attachment, key) for key in ("media_type", "reference"))
    if attachment.get("omitted") != "by_reference" or not path:
        return None
    if kind in _IMAGES:
        return {"type": "image", "source": {"media_type": kind, "path": path}}
    if not audio or kind not in _AUDIO:
        return None
    source: dict[str, Any] = {"media_type": kind, "path": path}
    seconds = said.number(attachment.get("duration_sec"))
    if seconds is not None and seconds >= 0:
        source["duration_sec"] = seconds
    return {"type": "audio", "source": source}


def result(event: Event, *, audio: bool) -> tuple[dict[str, Any], set[str]]:
    """Return what came of a call, or was observed without one, and the words that it holds."""
    word, value = said.result(event)
    if value is None:
        return {}, set()
    blocks = said.text_blocks(value)
    if blocks is not None:
        made: Any = [{"type": "text", "text": block} for block in blocks]
        return {"content": made}, {word}
    made, held = content(said.plain(value), event, audio=audio)
    return {"content": made}, held | {word}


def metrics(event: Event) -> tuple[dict[str, Any], set[str]]:
    """Return a step's metrics and the words that they hold.

    Prompt tokens are all of them, cached ones among them; where that cannot be told, the count stands aside.
    """
    payload = event["payload"]
    held = {"model"}
    out: dict[str, Any] = {}
    given = said.input_tokens(payload)
    if given is not None:
        out["prompt_tokens"] = given
        held |= {"input_includes_cached"}
        if given == payload["input_tokens"]:
            held.add("input_tokens")
    for field, word in _COUNTS.items():
        count = said.whole(payload.get(word))
        if count is not None:
            out[field] = count
            held.add(word)
    cost = said.number(payload.get("cost_usd"))
    if cost is not None:
        out["cost_usd"] = cost
        held.add("cost_usd")
    rest = native(event)
    for key in ("prompt_token_ids", "completion_token_ids", "logprobs"):
        if isinstance(rest.get(key), list) and all(said.number(one) is not None for one in rest[key]):
            out[key] = rest[key]
    more, names = further(event, held)
    if more:
        out["extra"] = more
    restored = whole_fields(event, {"extra", *out})
    return out, held | names | restored


def reference(event: Event) -> dict[str, Any] | None:
    """Return a sub-agent's trajectory as the source referred to it, None where it named no file."""
    given = event["payload"].get("reference")
    if not isinstance(given, dict) or not said.text(given, "trajectory_path"):
        return None
    texts = all(isinstance(given.get(key, ""), str) for key in ("trajectory_id", "session_id"))
    known = given.keys() <= {"trajectory_id", "trajectory_path", "session_id", "extra"}
    return given if texts and known and isinstance(given.get("extra", {}), dict) else None
