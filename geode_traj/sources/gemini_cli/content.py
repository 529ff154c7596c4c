"""What the parts of a Gemini message hold: text, thoughts, media, calls and responses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.sources import values
from geode_traj.sources.attachments import held

# What the program writes in the user's name before the first prompt, or around one.
_INJECTED: Final = ("<session_context>", "<hook_context>", "<environment_context>")
_SUMMARY: Final = "<state_snapshot>"
_MASKED: Final = "<tool_output_masked>"
_MEDIA: Final = {"inlineData": "data", "fileData": "fileUri"}


@dataclass(slots=True)
class Content:
    """Read parts. `outline` is the parts with what has found a place elsewhere left out, "" for one text."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    responses: list[dict[str, Any]] = field(default_factory=list)
    outline: Any = ""

    @property
    def text(self) -> str:
        """The texts, a line each."""
        return "\n".join(self.texts)

    @property
    def is_injected(self) -> bool:
        """Tell whether the program wrote all of the text itself."""
        said = [text for text in self.texts if text.strip()]
        return bool(said) and all(text.lstrip().startswith(_INJECTED) for text in said)

    @property
    def is_summary(self) -> bool:
        """Tell whether the text stands for a compacted history."""
        return any(text.lstrip().startswith(_SUMMARY) for text in self.texts)

    @property
    def only_responses(self) -> bool:
        """Tell whether nothing but results of calls is in it."""
        return bool(self.responses) and not (self.texts or self.attachments or self.thoughts or self.calls)


def read(given: Any) -> Content:
    """Read content of any shape that was met: a text, one part, or a list of either."""
    out = Content()
    if isinstance(given, str):
        out.texts.append(given)
        return out
    if given is None:
        return out
    if not isinstance(given, list | dict):
        out.outline = given
        return out
    parts = given if isinstance(given, list) else [given]
    outline = [_part(out, part) for part in parts]
    if outline != [{"text": {"chars": len(out.text)}}]:
        out.outline = outline
    return out


def _part(out: Content, part: Any) -> Any:
    """Take one part; return it with its placed values left out."""
    if isinstance(part, str):
        out.texts.append(part)
        return {"chars": len(part)}
    if not isinstance(part, dict):
        return part
    rest = dict(part)
    text = part.get("text")
    if isinstance(text, str):
        (out.thoughts if part.get("thought") is True else out.texts).append(text)
        rest["text"] = {"chars": len(text)}
    for key in _MEDIA:
        if isinstance(part.get(key), dict):
            rest[key] = {"attachment": len(out.attachments)}
            out.attachments.append(_medium(part[key]))
    if isinstance(part.get("functionCall"), dict):
        rest["functionCall"] = {"call": len(out.calls)}
        out.calls.append(part["functionCall"])
    if isinstance(part.get("functionResponse"), dict):
        rest["functionResponse"] = {"response": len(out.responses)}
        out.responses.append(part["functionResponse"])
    return rest


def _medium(given: dict[str, Any]) -> dict[str, Any]:
    """Return a medium as an attachment: its data, or where it is said to be (importer decision J9)."""
    rest = {key: value for key, value in given.items() if key not in ("data", "mimeType", "bytes", "omitted")}
    data = given.get("data")
    if isinstance(data, str):
        return {**rest, **held(given.get("mimeType"), data)}
    if data is not None:
        rest["data_given"] = data
    return {**rest, "media_type": given.get("mimeType"), "bytes": None, "omitted": "by_reference"}


def thoughts(given: Any) -> tuple[list[str], bool]:
    """Return the texts of a message's list of thoughts, and whether they say all but the times of it."""
    if not isinstance(given, list):
        return [], given is None
    texts = []
    whole = True
    for thought in given:
        said = [thought.get(key) for key in ("subject", "description")] if isinstance(thought, dict) else []
        told = [text for text in said if isinstance(text, str) and text]
        whole = whole and isinstance(thought, dict) and thought.keys() <= {"subject", "description"}
        if told:
            texts.append("\n".join(told))
    return texts, whole


@dataclass(slots=True)
class Result:
    """What a call's result says; `given` tells that there was one, `failed` that it is an error's text."""

    given: bool
    text: str = ""
    failed: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list)
    outline: Any = ""

    @property
    def is_masked(self) -> bool:
        """Tell whether the program put a preview in the output's place."""
        return self.text.lstrip().startswith(_MASKED)


def result(given: Any) -> Result:
    """Read the parts of a call's result: the output of its response, and what stands beside it."""
    if given is None:
        return Result(given=False)
    found = read(given)
    out = Result(given=True, attachments=found.attachments)
    told = [_response(one) for one in found.responses]
    out.failed = bool(told) and all(key == "error" for _, key in told)
    out.text = "\n".join([*(text for text, _ in told), *found.texts])
    for one in found.responses:
        if one.get("parts") is not None:
            nested = read(one["parts"])
            out.attachments += nested.attachments
            out.text = "\n".join([out.text, *nested.texts]) if nested.texts else out.text
    simple = isinstance(given, str) or (
        isinstance(given, list) and len(given) == 1 and len(found.responses) == 1 and not found.texts
    )
    if not simple or _has_more(found):
        out.outline = _shape(found)
    return out


def _response(one: dict[str, Any]) -> tuple[str, str]:
    """Return the text of a function's response, and the member of it that says it ("" for all of it)."""
    response = one.get("response")
    if isinstance(response, dict):
        for key in ("output", "error"):
            if key in response:
                return values.text(response[key]), key
    return values.text(response), ""


def _beside(one: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a response beside the one that is its text."""
    _, key = _response(one)
    return {name: item for name, item in one["response"].items() if name != key} if key else {}


def _has_more(found: Content) -> bool:
    """Tell whether responses say more than their text: other members than id, name and response."""
    extra = any(not one.keys() <= {"id", "name", "response"} for one in found.responses)
    extra = extra or any(_beside(one) for one in found.responses)
    return extra or any(not part.keys() <= {"functionResponse"} for part in found.outline or ())


def _shape(found: Content) -> Any:
    """Return a result's parts without the texts and data that its event holds."""
    if not found.responses:
        return found.outline
    shown = []
    for one in found.responses:
        rest = {key: value for key, value in one.items() if key not in ("response", "parts")}
        if _beside(one):
            rest["response"] = _beside(one)
        if one.get("parts") is not None:
            rest["parts"] = read(one["parts"]).outline or [{"text": {"chars": None}}]
        shown.append(rest)
    return {"parts": found.outline, "responses": shown}
