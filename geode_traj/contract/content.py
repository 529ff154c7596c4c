"""What a policy leaves out of a published trajectory though nothing in it was found, or changes in all of it.

The switches are those of a policy's table `content`, and `digests` of its table `release`. Everything here is
pure: values in, new values out. What is left out is marked as the record contract marks it (§4), so that a
reader of the file sees that something stood there, and counted by class; `declared` says it in the file's
`privacy`: `content_reduction` for what is gone, `content_transform` for what was changed in all places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.contract.exported import digest_payload, omission
from geode_traj.contract.kinds import OUR_MARKERS, OVERLAID
from geode_traj.contract.policy import Policy

REASONING: Final = "reasoning"
IMAGE: Final = "image"
BODY: Final = "omitted_body"
REDUCTION: Final = "content_reduction"
TRANSFORM: Final = "content_transform"
PSEUDONYMS: Final = "session_ids_pseudonymous"
SHIFTED: Final = "timestamps_shifted"
PLAIN: Final = {"kind": "plain", "guessable": True}
"""What `privacy.digests` says where digests of private bytes stand as they are."""

_MARKERS: Final = ("_content_omitted", "_omitted_payload_sha256", "_omitted_payload_bytes")
# Names under which programs and providers write what a model thought, lower case, without `_` and `-`.
_THOUGHTS: Final = frozenset(
    """reasoning reasoningcontent reasoningtext reasoningdetails reasoningitems codexreasoningitems
    reasoningsummary reasoningopaque thinking thinkingblocks redactedthinking thought thoughts
    thoughtsignature encryptedcontent chainofthought""".split()
)
_THOUGHT_TYPES: Final = frozenset({"reasoning", "thinking", "redacted_thinking", "thought"})
# An operation that is nothing but a thought: `reasoning.delta`, `block.thinking`; no `thinking_level_change`.
_THOUGHT_EVENT: Final = re.compile(
    r"(?:.*[./:_])?(?:reasoning|thinking|thoughts?)(?!_(?:level|effort)).*", re.S
)
# What stays of a thought: that there was one, how it is classed, which it is.
_FACTS: Final = frozenset({"status", "effort", "type", "id", *_MARKERS})
_KEPT: Final = _FACTS | {"operation", *OVERLAID, *OUR_MARKERS}
_THINK: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_SPOKEN: Final = frozenset({"message.assistant", "assistant_message"})

# Base64 of JPEG, PNG, GIF, RIFF (WebP), TIFF, ISO media (HEIC, AVIF), SVG and icons, by their first bytes.
_STARTS: Final = (
    "/9j/", r"\\/9j\\/", "iVBORw0KGgo", "R0lGOD", "UklGR", "SUkqA", "TU0AK",
    "AAAA[A-Za-z0-9+/][GWm2]Z0eX[AB]", "PHN2Z", "AAABAA",
)  # fmt: skip
_DIGITS: Final = r"(?:[A-Za-z0-9+/_-]|\\/)"
_LINE_END: Final = r"(?:\r?\n|\\r\\n|\\n)"
_PICTURE: Final = re.compile(
    rf"data:[^:,\s\"'<>]{{0,256}};base64,(?:{_DIGITS}|%2[BbFf]|%3[Dd]|=|{_LINE_END}(?={_DIGITS}{{40}}))++"
    r"|data:image/[^:,\s\"'<>]{0,256},[^\s\"'<>]++"
    rf"|(?<![A-Za-z0-9+/])(?:{'|'.join(_STARTS)}){_DIGITS}{{24,}}+"
    rf"(?:{_LINE_END}{_DIGITS}{{40,}}+)*+(?:{_LINE_END}{_DIGITS}++(?==))?=*+"
)
_SIGNS: Final = re.compile(r"data:|/9j|iVBOR|R0lGOD|UklGR|SUkqA|TU0AK|Z0eX|PHN2Z|AAABAA")
_MEDIA_TYPES: Final = ("media_type", "mime_type", "mediaType", "mimeType", "type")
_DATA: Final = frozenset("data base64 b64_json bytes blob content image".split())
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_=\r\n-]++")


@dataclass(frozen=True, slots=True)
class Switches:
    """What of a policy changes content: each is off where no policy asks for it."""

    shift: bool = False
    pseudonyms: bool = False
    no_reasoning: bool = False
    no_images: bool = False
    digests_only: bool = False
    plain: bool = False

    @classmethod
    def of(cls, policy: Policy | None) -> Switches:
        """Return the switches of a policy."""
        if policy is None:
            return cls()
        content = policy.settings["content"]
        return cls(
            content["timestamps"] == "shift",
            content["session_ids"] == "pseudonym",
            content["reasoning"] == "drop",
            content["images"] == "drop",
            content["bodies"] == "digest",
            policy.setting("release", "digests") == "plain",
        )

    def transforms(self) -> list[str]:
        """Return the classes of `content_transform` that the switches stand for."""
        return [name for name, on in ((PSEUDONYMS, self.pseudonyms), (SHIFTED, self.shift)) if on]

    def reduced(self, event: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
        """Return an exported event without what is not published of its payload, and the class of that."""
        payload = event["payload"]
        if self.digests_only and (digested := without_body(event["kind"], payload)) is not payload:
            return {**event, "payload": digested}, BODY
        if self.no_reasoning and (bare := without_reasoning(payload)) is not payload:
            return {**event, "payload": bare}, REASONING
        return event, None


def without_body(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload as a digest export writes it, the payload itself where nothing more can go."""
    digested = digest_payload(kind, payload)
    if set(digested.get("_content_omitted", ())).issubset(_MARKERS) and not payload.get("_displaced"):
        return payload
    earlier = payload.get("_content_omitted")
    if isinstance(earlier, list):  # of two omissions the names of both, not that the first one had marks
        names = {*digested["_content_omitted"], *(one for one in earlier if isinstance(one, str))}
        digested["_content_omitted"] = sorted(names.difference(_MARKERS))
    return digested


def without_reasoning(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload without what a model thought, the payload itself where it holds nothing of it.

    Gone are texts, summaries, what is encrypted of them, and signatures over them, at any depth; its status
    stays. Numbers and flags that speak of reasoning (its tokens, its effort) stay too.
    """
    operation = payload.get("operation")
    if _is_one(payload) or (isinstance(operation, str) and _THOUGHT_EVENT.fullmatch(operation)):
        return _thought(payload, _KEPT)
    out: dict[str, Any] = _unthought(payload)
    return out


def _unthought(value: Any) -> Any:
    if isinstance(value, list):
        items = [_unthought(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    if _is_one(value):
        return _thought(value)
    gone = set()
    made: dict[str, Any] = {}
    for key, item in value.items():
        if not _is_thought(key):
            made[key] = _unthought(item)
        elif isinstance(item, dict):
            made[key] = _thought(item)
        else:
            made[key] = item
            if _says(item):
                gone.add(key)
    same = not gone and all(made[key] is value[key] for key in value)
    return value if same else _omitted(made, gone)


def _thought(value: dict[str, Any], kept: frozenset[str] = _FACTS) -> dict[str, Any]:
    return _omitted(value, {key for key, item in value.items() if key not in kept and _says(item)})


def _is_one(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return (isinstance(kind, str) and kind in _THOUGHT_TYPES) or value.get("thought") is True


def _says(value: Any) -> bool:
    """Tell whether a value holds more than a number or a flag."""
    return isinstance(value, str | list | dict) and bool(value)


def _is_thought(key: str) -> bool:
    return key.replace("_", "").replace("-", "").lower() in _THOUGHTS


def _omitted(value: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return an object without some members, marked; the marks that it has are taken into the new ones."""
    if not names:
        return value
    earlier = {key: value[key] for key in _MARKERS if key in value}
    marks = omission({name: value[name] for name in names} | earlier)
    told = earlier.get("_content_omitted")
    more = [one for one in told if isinstance(one, str)] if isinstance(told, list) else []
    marks["_content_omitted"] = sorted({*names, *more})
    return {key: item for key, item in value.items() if key not in names and key not in earlier} | marks


def thoughts(kind: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where the content of a message holds a thought between tags: characters start, end."""
    if kind in _SPOKEN and "<think" in text:
        yield from (found.span() for found in _THINK.finditer(text))


def pictures(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text holds a picture or a data URL: characters start, end. Linear in the text."""
    if _SIGNS.search(text):
        yield from (found.span() for found in _PICTURE.finditer(text))


def is_picture(holder: dict[str, Any], key: str) -> bool:
    """Tell whether a member holds base64 data that another member of its object calls a picture."""
    if key not in _DATA or not isinstance(holder[key], str):
        return False
    named = (holder.get(name) for name in _MEDIA_TYPES)
    is_image = any(isinstance(one, str) and (one == "image" or one.startswith("image/")) for one in named)
    return is_image and _BASE64.fullmatch(holder[key]) is not None


def declared(
    privacy: dict[str, Any], candidate: object, reduced: Mapping[str, int], switches: Switches
) -> dict[str, Any]:
    """Return the `privacy` of a published form, with what its policy left out and changed declared in it.

    `candidate` is the private form's own `privacy`: what it declares of changes is still so. `reduced` counts
    what was left out now by class; of a class that is declared already the counts are added.
    """
    listed = [dict(item) if isinstance(item, dict) else item for item in privacy.get("redactions", [])]
    given = candidate.get("redactions") if isinstance(candidate, dict) else None
    before = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    changed = [item.get("class") for item in before if _is(item, TRANSFORM)]
    made = switches.transforms()
    front: list[dict[str, Any]] = [
        {"type": TRANSFORM, "class": cls} for cls in (PSEUDONYMS, SHIFTED) if cls in changed or cls in made
    ]
    for cls, count in sorted(reduced.items()):
        same = [one for one in listed if _is(one, REDUCTION) and one.get("class") == cls]
        if same and isinstance(same[0].get("count"), int):
            same[0]["count"] += count
        elif not same:
            front.append({"type": REDUCTION, "class": cls, "count": count})
    stated = {key: value for key, value in privacy.items() if key != "digests" or value != PLAIN}
    if switches.plain:
        stated["digests"] = PLAIN
    return {**stated, "redactions": [*front, *listed]}


def _is(item: Any, kind: str) -> bool:
    return isinstance(item, dict) and item.get("type") == kind
