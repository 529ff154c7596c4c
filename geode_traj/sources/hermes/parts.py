"""The parts of a Hermes message: its text and media, its reasoning, its calls, its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.sources import values
from geode_traj.sources.attachments import data_url, held

MARKED: Final = "\0json:"
"""What stands before content that is a list of parts, written as JSON."""
_SUMMARY: Final = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY")


def moment(value: Any) -> tuple[float | None, str]:
    """Return a time in Unix seconds and how it was read: epoch seconds, or ISO 8601 (mostly without zone)."""
    if isinstance(value, str):
        return values.iso_time(value)
    return values.epoch_time(value), ""


def embedded(value: Any) -> Any:
    """Return the JSON that a text column holds, the value itself where it is none."""
    read = parsed(value) if isinstance(value, str) else None
    return read.value if read else value


def parsed(text: str) -> Tolerated | None:
    """Read JSON inside a text; None where it is none."""
    try:
        return tolerant(text.encode())
    except (ValueError, RecursionError):
        return None


@dataclass(slots=True)
class Content:
    """A message's text and media; `rest` are parts that are neither, `order` tells what stood where.

    `order` names each part ("text:N" with its characters, "attachment", "other") where there are several.
    """

    text: str
    attachments: list[dict[str, Any]] = field(default_factory=list)
    rest: list[Any] = field(default_factory=list)
    order: list[str] = field(default_factory=list)


def content(value: Any) -> Content:
    """Return what a message's content holds: a text, or a list of parts, also as marked JSON."""
    if isinstance(value, str) and value.startswith(MARKED):
        read = parsed(value.removeprefix(MARKED))
        if read is None or not isinstance(read.value, list):
            return Content(value)
        value = read.value
    if isinstance(value, str) or value is None:
        return Content(value or "")
    if not isinstance(value, list):
        return Content(values.text(value), rest=[value])
    texts: list[str] = []
    out = Content("")
    for part in value:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
            out.order.append(f"text:{len(part['text'])}")
            if not part.keys() <= {"type", "text"}:
                out.rest.append({key: part[key] for key in part if key != "text"})
        elif (medium := _medium(part)) is not None:
            out.attachments.append(medium)
            out.order.append("attachment")
            if not part.keys() <= {"type", "image_url"}:
                out.rest.append({key: part[key] for key in part if key != "image_url"})
        else:
            out.rest.append(part)
            out.order.append("other")
    out.text = "\n".join(texts)
    if len(out.order) < 2:
        out.order = []
    return out


def _medium(part: Any) -> dict[str, Any] | None:
    image = part.get("image_url") if isinstance(part, dict) else None
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return None
    detail = {key: image[key] for key in image if key != "url"} if isinstance(image, dict) else {}
    head = data_url(url)
    if head is None:
        return {"media_type": None, "bytes": None, "omitted": "a reference only", "url": url, **detail}
    return {**held(head[1], url[head.end() :]), **detail}


def is_summary(text: str) -> bool:
    """Tell whether a message is the summary that stands for a compacted history."""
    return text.lstrip().startswith(_SUMMARY)


def reasoning(row: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the reasoning of an assistant row (J1), and the column that gave it ("" for none).

    Columns count in the order reasoning, reasoning_content, reasoning_details, codex_reasoning_items; blank
    text is none, and items that hold only encrypted text say that it was withheld.
    """
    for column in ("reasoning", "reasoning_content"):
        text = row.get(column)
        if isinstance(text, str) and text.strip():
            return values.reasoning(text), column
    withheld = ""
    for column in ("reasoning_details", "codex_reasoning_items"):
        texts, hidden = _reasoning_items(embedded(row.get(column)))
        if texts:
            return values.reasoning("\n".join(texts)), column
        withheld = withheld or (column if hidden else "")
    return values.reasoning(None, status="withheld" if withheld else "present"), withheld


def _reasoning_items(items: Any) -> tuple[list[str], bool]:
    texts: list[str] = []
    hidden = False
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        summary = item.get("summary")
        parts = [item, *(summary if isinstance(summary, list) else ())]
        found = [part.get("text") for part in parts if isinstance(part, dict)] + [summary]
        texts += [text for text in found if isinstance(text, str) and text.strip()]
        hidden = hidden or bool(item.get("encrypted_content") or item.get("data"))
    return texts, hidden


def answer_of_items(items: Any) -> str:
    """Return the text of `codex_message_items`, the only place of some final answers."""
    texts: list[str] = []
    items = embedded(items)
    for item in items if isinstance(items, list) else ():
        parts = item.get("content") if isinstance(item, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                texts.append(part["text"])
    return "\n".join(texts)


@dataclass(slots=True)
class Call:
    """A call that a message announces; `fields` is what has no place of its own."""

    call_id: str
    tool: str
    arguments: Any
    fields: dict[str, Any]
    also: str = ""
    """Another id that the same call carries, and its result may name."""


def calls(value: Any) -> tuple[list[Call], bool]:
    """Return the calls of a `tool_calls` list, of either shape, and whether they say all of `value`."""
    whole = True
    if isinstance(value, str):
        read = parsed(value)
        if read is not None:
            value = read.value
            whole = not (read.escaped or read.nonfinite or read.duplicates)
    return ([_call(item) for item in value], whole) if isinstance(value, list) else ([], False)


def _call(item: Any) -> Call:
    if not isinstance(item, dict):
        return Call("", "", {"_value": item}, {})
    nested = isinstance(item.get("function"), dict)
    inner = item["function"] if nested else item
    tool = inner["name"] if isinstance(inner.get("name"), str) else ""
    arguments, whole = call_arguments(inner.get("arguments"))
    placed = {"name"} if tool else set()
    rest = {key: inner[key] for key in inner.keys() - placed - ({"arguments"} if whole else set())}
    fields = rest
    if nested:
        fields = {key: item[key] for key in item if key != "function"} | ({"function": rest} if rest else {})
    ids = {key: item[key] for key in ("id", "call_id") if isinstance(item.get(key), str) and item[key]}
    for key in list(ids)[:1]:
        del fields[key]
    first, *others = [*ids.values(), ""]
    return Call(first, tool, arguments, fields, others[0] if others and others[0] != first else "")


def call_arguments(value: Any) -> tuple[Any, bool]:
    """Return a call's arguments as the record contract has them (§1), and whether they say all of `value`."""
    if not isinstance(value, str) or not value:
        return values.arguments(value), bool(value) or isinstance(value, dict)
    read = parsed(value)
    if read is None:
        return {"_legacy_fragment": value}, True
    whole = not (read.escaped or read.nonfinite or read.duplicates)
    return (read.value if isinstance(read.value, dict) else {"_value": read.value}), whole
