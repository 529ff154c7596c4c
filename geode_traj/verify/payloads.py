"""Looking into payloads: every value with its pointer, the markers of record contract §4, and what is cut
though nothing says so.

Nothing here returns payload text: what was found is told in words of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.pointer import Trail, shown
from geode_traj.contract.kinds import CUT_MARK, ISSUE_KEYS, OUR_MARKERS, OVERLAID, REDACTED_VALUES

_TAIL: Final = 300

# Marks that end what a tool cut, by what they are known from; they stand at the end of a text.
_ENDING: Final = tuple(
    (name, re.compile(pattern + r"\s*\Z"))
    for name, pattern in (
        ("OpenHands", r"\[\.\.\. ?Observation truncated due to length ?\.\.\.\]"),
        ("SWE-agent", r"(?<!\d)\d{1,12} characters were elided\.?(?:[^\n]{0,80})"),
        ("mini-swe-agent", r"(?<!\d)\d{1,12} characters elided\s*</elided_chars>"),
        ("a search tool", r"\(Results are truncated\b[^\n)]{0,160}\)"),
        (
            "a reading tool",
            r"\((?:Output|File|Result)s? (?:was |were |is )?(?:truncated|capped)\b[^\n)]{0,160}\)",
        ),
        ("Pi", r"\[(?:Output truncated\b|Showing (?:last|lines?) )[^\]\n]{0,200}\]"),
        ("Hermes", r"\[OUTPUT TRUNCATED\b[^\]\n]{0,160}\]"),
        ("a tool", r"(?:\.\.\.|…) ?\[?\(?(?:output |content |text )?truncated\)?\]?(?:\.\.\.|…)?"),
        (
            "a tool",
            r"[\[(<](?:output |content |text |file |result )?truncated(?:[,;:] [^\])>\n]{0,120})?[\])>]",
        ),
    )
)
# Marks that stand where the middle was taken out; looked for in results only, since code may quote them.
_INSIDE: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("an editing tool", r"<response clipped>"),
        ("Codex", r"…(?:\d{1,12} (?:tokens|chars) truncated)…"),
        ("Codex", r"\[\.\.\. omitted \d{1,12} of \d{1,12} lines \.\.\.\]"),
        ("a shell tool", r"\.\.\. \[\d{1,12} (?:lines|characters) (?:truncated|omitted)\] \.\.\."),
        ("Terminus", r"\[\.\.\. output limited to \d{1,12} bytes; \d{1,12} interior bytes omitted \.\.\.\]"),
    )
)
_DATA_URI: Final = re.compile(r"data:[\w.+/-]{0,127}(?:;[\w.+=-]{1,80}){0,4};base64,")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]*+(={0,2})\s*")
_HALF: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_SPACE: Final = re.compile(r"\s+")

# Where a result says what came of the call, and what else it may have.
_BODIES: Final = frozenset("result summary content output outputs error text value stdout stderr".split())
_BESIDE: Final = frozenset(OVERLAID) | OUR_MARKERS | {"tool", "call_id", "turn_id"}

_KEY_WORDS: Final = {
    "_corrupt_payload": "the stored payload is corrupt",
    "_content_omitted": "fields are replaced by their digest",
    "_omitted_type": "a value of a type that is not stored is omitted",
    "_personal_data_omitted": "personal data is omitted",
    "_timestamp_invalid": "the source's time could not be read",
    "_timestamp_missing": "the source gave no time",
    "_truncated": "something is truncated",
    "_truncated_items": "items are cut off",
}
_DEPTH, _WHOLE = "what stands too deep is cut off", "the whole payload is truncated"
_TEXT, _SECRET = "a text is cut off", "a secret is redacted"


def walk(value: Any) -> Iterator[tuple[Trail, Any]]:
    """Yield every value within a value, itself included, before what it holds; keys in their order."""
    stack: list[tuple[Trail, Any]] = [(None, value)]
    while stack:
        trail, item = stack.pop()
        yield trail, item
        if isinstance(item, dict):
            stack.extend(((trail, key), item[key]) for key in sorted(item, reverse=True))
        elif isinstance(item, list):
            stack.extend(((trail, index), item[index]) for index in range(len(item) - 1, -1, -1))


def texts(value: Any) -> Iterator[tuple[Trail, str]]:
    """Yield every text within a value; keys are none."""
    return ((trail, item) for trail, item in walk(value) if isinstance(item, str))


def markers(payload: dict[str, Any]) -> dict[str, str]:
    """Return what an issue payload's markers say, each with the pointer of the first that says it."""
    found: dict[str, str] = {}
    for trail, item in walk(payload):
        if isinstance(item, dict):
            for key in sorted(ISSUE_KEYS.intersection(item)):
                found.setdefault(_said(key, item[key], trail), shown((trail, key)))
        elif isinstance(item, str) and CUT_MARK in item:
            found.setdefault(_TEXT, shown(trail))
        elif isinstance(item, str) and item in REDACTED_VALUES:
            found.setdefault(_SECRET, shown(trail))
    return found


def _said(key: str, value: Any, trail: Trail) -> str:
    if key == "_truncated" and value == "max_depth":
        return _DEPTH
    return _WHOLE if key == "_truncated" and trail is None else _KEY_WORDS[key]


def cut_mark(text: str, *, inside: bool) -> str | None:
    """Return whose mark of a cut a text ends in, or, asked for `inside`, holds anywhere."""
    tail = text[-_TAIL:]
    for name, pattern in _ENDING:
        if pattern.search(tail):
            return f"ends in the cut mark of {name}"
    for name, pattern in _INSIDE:
        if pattern.search(text if inside else tail):
            return f"holds the cut mark of {name}"
    return None


def ends_within_word(text: str) -> bool:
    """Tell whether a text breaks off where no sentence, line or bracket ends."""
    return text[-1:].isalnum()


def half_base64(text: str, *, is_data: bool) -> str | None:
    """Return why a base64 text cannot be whole; `is_data` says that it is one, else only a data URI is."""
    start = _DATA_URI.match(text)
    if start is None and not is_data:
        return None
    body = text[start.end() :] if start else text
    padding = _BASE64.fullmatch(body)
    if padding is None:
        return None
    length = len(_SPACE.sub("", body)) - len(padding[1])
    if length % 4 == 1:
        return "no base64 text has this length"
    if (length + len(padding[1])) % 4 and ("+" in body or "/" in body):
        return "its padding is not there"
    return None


def half_character(text: str) -> str | None:
    """Return how a text ends in half a character: by the sign decoders put for one, or by half an escape."""
    if text.endswith("\ufffd"):
        return "ends in a replacement character, as a cut through a character leaves it"
    return "ends in half of a surrogate pair" if _HALF.search(text, max(0, len(text) - 6)) else None


def answer(payload: dict[str, Any]) -> str:
    """Return whether a result's payload is `full`, `empty` (its bodies are), or `missing` (there is none)."""
    if payload.get("summary") or payload.get("result"):  # as almost every one is
        return "full"
    said = [(key, value) for key, value in payload.items() if value is not None and key not in _BESIDE]
    bodies = [value for key, value in said if key in _BODIES]
    if any(value not in ("", [], {}) for value in bodies) or any(
        value and isinstance(value, str | list | dict) for _, value in said
    ):
        return "full"
    return "empty" if bodies else "missing"
