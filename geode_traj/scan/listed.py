"""The redactions that a value lists of itself (`_redactions`): those of them that are true.

Only what stands in the value as listed is believed. What looks like a placeholder and is not listed was typed
by somebody; what is listed and not there is an entry like any other data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.scan import fields, media
from geode_traj.scan.matching import HOME, HOME_NAME

UNNUMBERED: Final = 0

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PLACEHOLDER: Final = re.compile(r"\[REDACTED:([a-z0-9_]{1,64}):([1-9][0-9]{0,8})\]")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_STANDING: Final = {HOME_NAME: HOME, fields.MARKER: "sensitive_field"}


def placeholder(cls: str, n: int) -> str:
    """Return what stands for value `n` of a class."""
    return f"[REDACTED:{cls}:{n}]"


_PICTURES: Final = 1 << 26
"""Characters of all pictures of a value that are looked at."""

_LONGEST: Final = len(placeholder("x" * 64, 999_999_999))


class Standing(NamedTuple):
    """A listed redaction that is true: the characters `start`..`end` of one text; `n` 0 without a number."""

    start: int
    end: int
    rule: str
    cls: str
    n: int


class Listed:
    """The true ones of `entries` (what `Redaction.to_json` gives) over a JSON value; `rest` are the others.

    An entry's pointer may also be the list of its keys. Of entries that overlap the first is believed.
    """

    def __init__(self, value: object = None, entries: Iterable[object] = ()) -> None:
        self.rest: Final[list[Any]] = []
        # By text first: a place is asked for with its text, and its pointer is joined only where the text is
        # listed.
        self._places: dict[str, dict[str, list[Standing]]] = {}
        self._pictures = _PICTURES
        found: dict[tuple[str, str], list[tuple[Standing, object]]] = {}
        for entry in entries:
            one = self._resolved(value, entry) if isinstance(entry, dict) else None
            if one is None:
                self.rest.append(entry)
            else:
                found.setdefault(one[:2], []).append((one[2], entry))
        for (text, place), there in found.items():
            self._places.setdefault(text, {})[place] = self._apart(there)

    def _apart(self, there: list[tuple[Standing, object]]) -> list[Standing]:
        """Return what overlaps nothing, left to right."""
        kept: list[Standing] = []
        for standing, entry in sorted(there, key=lambda pair: pair[0].start):
            if kept and standing.start < kept[-1].end:
                self.rest.append(entry)
            else:
                kept.append(standing)
        return kept

    def at(self, text: str, trail: Trail) -> list[Standing]:
        """Return what is listed of the string at `trail`, or of a key of the object there."""
        places = self._places.get(text)
        return places.get(pointer.of(trail), []) if places else []

    def _resolved(self, value: object, entry: dict[str, Any]) -> tuple[str, str, Standing] | None:
        """Return the text an entry speaks of, its place, and what stands there; None where it is not true."""
        steps = _steps(entry.get("pointer"))
        start, end, n = entry.get("start"), entry.get("end"), entry.get("n")
        rule, cls = entry.get("rule"), entry.get("class")
        if steps is None or not (isinstance(rule, str) and isinstance(cls, str) and _NAME.fullmatch(rule)):
            return None
        if not (type(start) is int and type(end) is int and type(n) is int):
            return None
        there, text = _at(value, steps)
        if entry.get("in_key"):
            *steps, key = steps or [""]
            text = key if there else None
        if not isinstance(text, str) or not 0 <= start < end <= len(text):
            return None
        if not self._stands(text, start, end, cls, n):
            return None
        return text, pointer.join(steps), Standing(start, end, rule, cls, n)

    def _stands(self, text: str, start: int, end: int, cls: str, n: int) -> bool:
        """Tell whether what a redaction leaves stands at a place."""
        if cls == media.CLASS and n == UNNUMBERED:
            self._pictures -= end - start
            return self._pictures >= 0 and media.is_bare(text[start:end])
        shown = text[start : min(end, start + _LONGEST + 1)]
        if n == UNNUMBERED:
            return _STANDING.get(shown) == cls
        return shown == placeholder(cls, n) and _PLACEHOLDER.fullmatch(shown) is not None


def in_text(text: str) -> list[Standing]:
    """Return all placeholders in a text of which every one is known to be true."""
    return [
        Standing(*found.span(), found[1], found[1], int(found[2])) for found in _PLACEHOLDER.finditer(text)
    ]


def _steps(given: object) -> list[str] | None:
    if isinstance(given, str) and given[:1] in ("", "/"):
        return pointer.split(given)
    if isinstance(given, list) and all(isinstance(step, str) for step in given):
        return given
    return None


def _at(value: Any, steps: list[str]) -> tuple[bool, Any]:
    """Return whether anything stands at a place, and what."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
    return True, value
