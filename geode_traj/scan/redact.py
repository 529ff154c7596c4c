"""Edits: what was found is replaced in decoded leaves and keys, and every replacement is told.

A redacted text is searched again until nothing is found, since a replacement can uncover what it
overlapped. Numbers are given at the end, so that they follow the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.errors import DataError
from geode_traj.scan import fields
from geode_traj.scan.engine import Scanner
from geode_traj.scan.leaves import child_name
from geode_traj.scan.listed import UNNUMBERED, Listed, Standing, placeholder
from geode_traj.scan.matching import HOME, HOME_NAME, Span

OPAQUE: Final = frozenset({"encrypted_content", "signature", "thoughtSignature", "thought_signature"})
"""Members that are whole or gone: half of an encrypted text is neither readable nor verifiable."""

MAX_TOLD: Final = 16 << 20
"""Characters of all pointers told of one value: a long key above a long list would fill the memory."""

_SEPARATORS: Final = ("/", "\\", "%2F", "%5C")
_ROUNDS: Final = 8
_NOTHING_LISTED: Final = Listed()

Number = Callable[[str, str], int]


@dataclass(frozen=True, slots=True)
class Redaction:
    """One replacement: the characters `start`..`end` of the redacted text at `pointer`.

    The pointer, too, is the redacted value's. `n` is the value's number in its class, 0 for the two
    replacements that carry none; `in_key`: the text is the key of the member at `pointer`; `earlier`: it was
    listed beforehand.
    """

    pointer: str
    start: int
    end: int
    rule: str
    cls: str
    n: int
    in_key: bool = False
    earlier: bool = False

    def to_json(self) -> dict[str, object]:
        """Return the entry of an event's `_redactions`."""
        entry: dict[str, object] = {
            "pointer": self.pointer,
            "start": self.start,
            "end": self.end,
            "rule": self.rule,
            "class": self.cls,
            "n": self.n,
        }
        return {**entry, "in_key": True} if self.in_key else entry


class Redactor:
    """Redacts JSON values and texts; `number(class, value)` gives a value's number (`Numbering.number`)."""

    def __init__(self, scanner: Scanner, number: Number) -> None:
        self.scanner: Final = scanner
        self._number = number

    def redact(
        self, value: Any, earlier: Listed = _NOTHING_LISTED, *, renumber: bool = False
    ) -> tuple[Any, list[Redaction]]:
        """Return the JSON value with all findings replaced, and the replacements in document order.

        Those that the value lists `earlier` are among them, where they stand now, under their own number, or
        with `renumber` under one of this redactor, their class and old number standing for the value. The
        input is not changed. Raises `DataError` TE308 if something is found however often it is replaced,
        TE203 where the pointers of all replacements are longer than `MAX_TOLD`.
        """
        work = _Work(self.scanner, self._number, earlier, renumber)
        return work.value(value), work.done

    def redact_text(self, text: str, *, damaged: bool = False) -> tuple[str, list[Redaction]]:
        """Return one text redacted (`damaged`: a broken line of JSON), and the replacements."""
        work = _Work(self.scanner, self._number, _NOTHING_LISTED, False)
        return work.text(text, (None, None), "", damaged=damaged), work.done


@dataclass(slots=True)
class _Mark:
    """A replacement in a text under work: what stands at `start`..`end`, and what was found there."""

    start: int
    end: int
    span: Span
    numbered: bool
    n: int = UNNUMBERED
    earlier: bool = False


_Place = tuple[Trail, Trail]
"""Where a text stands in the value as it was, and as it will be; the two differ below an edited key."""


def _below(place: _Place, old: str | int, new: str | int) -> _Place:
    was, now = place
    step = (now, new)
    return ((was, old), step) if was is not now or old != new else (step, step)


class _Work:
    """One value under work: `done` is what was replaced so far."""

    def __init__(self, scanner: Scanner, number: Number, earlier: Listed, renumber: bool) -> None:
        self.done: Final[list[Redaction]] = []
        self._scanner = scanner
        self._number = number
        self._earlier = earlier
        self._renumber = renumber
        self._told = 0

    def value(self, value: Any) -> Any:
        """Return the value redacted; iterative, since depth must cost memory, never the stack."""
        root: list[Any] = [None]
        stack: list[tuple[Any, Any, Any, _Place, str]] = [(root, 0, value, (None, None), "")]
        while stack:
            target, slot, item, place, name = stack.pop()
            if isinstance(item, str):
                target[slot] = self.text(item, place, name)
            elif isinstance(item, dict):
                out: dict[str, Any] = {}
                target[slot] = out
                members = self._keys(item, place, out)
                stack.extend(
                    (out, new, item[old], _below(place, old, new), child_name(old, name))
                    for old, new in reversed(members)
                )
            elif isinstance(item, list):
                target[slot] = out_list = [None] * len(item)
                indices = reversed(range(len(item)))
                stack.extend((out_list, i, item[i], _below(place, i, i), name) for i in indices)
            else:
                target[slot] = item
        return root[0]

    def text(self, text: str, place: _Place, name: str, *, damaged: bool = False) -> str:
        """Return one text redacted, `name` being what it goes by."""
        new, marks = self._edited(text, place, name, damaged=damaged)
        self._tell(marks, place[1])
        return new

    def _keys(self, item: dict[str, Any], place: _Place, out: dict[str, Any]) -> list[tuple[str, str]]:
        """Fill `out` with new keys and sensitive values; return (old key, new key) of the others."""
        edited = {key: self._edited(key, place, "") for key in item}
        taken = {key for key, (text, _) in edited.items() if text == key}
        members: list[tuple[str, str]] = []
        for key, (text, marks) in edited.items():
            new, again = text, 1
            while new != key and new in taken:
                again += 1
                new = f"{text}#{again}"
            taken.add(new)
            out[new] = item[key]
            was, now = _below(place, key, new)
            self._tell(marks, now, in_key=True)
            if not self._scanner.is_sensitive(key):
                members.append((key, new))
            elif fields.already(item[key]):
                # Not looked at: what listed it still holds.
                self._tell([_kept(one) for one in self._earlier.at(item[key], was)], now)
            else:
                out[new] = fields.MARKER
                span = Span(0, len(fields.MARKER), "sensitive_key", "sensitive_field", "high", "")
                self._tell([_Mark(span.start, span.end, span, False)], now)
        return members

    def _tell(self, marks: list[_Mark], trail: Trail, *, in_key: bool = False) -> None:
        if not marks:
            return
        where = pointer.of(trail)
        self._told += len(where) * len(marks)
        if self._told > MAX_TOLD:
            raise DataError("TE203", limit=MAX_TOLD, place="the pointers of what is redacted")
        for mark in marks:
            rule, cls = mark.span.rule, mark.span.cls
            self.done.append(Redaction(where, mark.start, mark.end, rule, cls, mark.n, in_key, mark.earlier))

    def _edited(
        self, text: str, place: _Place, name: str, *, damaged: bool = False
    ) -> tuple[str, list[_Mark]]:
        marks = [_kept(one, renumber=self._renumber) for one in self._earlier.at(text, place[0])]
        original = text
        for _ in range(_ROUNDS):
            spans = self._scanner.find(text, name, damaged=damaged)
            if not spans:
                return self._numbered(text, marks) if marks else (text, marks)
            if name in OPAQUE:
                spans = [spans[0]._replace(start=0, end=len(text), value=original, blob=True)]
            text, marks = _replaced(text, marks, spans)
        raise DataError("TE308", place=pointer.shown(place[1]), found=spans[0].cls)

    def _numbered(self, text: str, marks: list[_Mark]) -> tuple[str, list[_Mark]]:
        """Put the numbers into the placeholders."""
        out: list[str] = []
        position = length = 0
        for mark in marks:
            kept = text[position : mark.start]
            new = text[mark.start : mark.end]
            if mark.numbered:
                mark.n = self._number(mark.span.cls, mark.span.value)
                new = placeholder(mark.span.cls, mark.n)
            position = mark.end
            mark.start = length + len(kept)
            mark.end = length = mark.start + len(new)
            out += (kept, new)
        out.append(text[position:])
        return "".join(out), marks


def _kept(one: Standing, *, renumber: bool = False) -> _Mark:
    """Return the mark of an earlier redaction; no secret begins like the value that stands for its own."""
    span = Span(one.start, one.end, one.rule, one.cls, "high", f"\0earlier {one.n}")
    return _Mark(one.start, one.end, span, renumber and one.n != UNNUMBERED, one.n, earlier=True)


def _replaced(text: str, marks: list[_Mark], spans: list[Span]) -> tuple[str, list[_Mark]]:
    """Replace `spans` in `text`; a mark that a span touches is swallowed by it, the others move along."""
    edits: list[tuple[int, int, _Mark | Span]] = [(mark.start, mark.end, mark) for mark in marks]
    edits += ((span.start, span.end, span) for span in spans)
    edits.sort(key=lambda edit: (edit[0], -edit[1]))
    joined: list[tuple[int, int, _Mark | Span]] = []
    for start, end, what in edits:
        if joined and start < joined[-1][1]:
            low, high, other = joined[-1]
            # Only a span and marks can overlap; the span names the union, as one value.
            named = what if isinstance(what, Span) else other
            joined[-1] = (low, max(high, end), named)
        else:
            joined.append((start, end, what))
    out: list[str] = []
    moved: list[_Mark] = []
    position = length = 0
    for start, end, what in joined:
        kept = text[position:start]
        new, tail, numbered = _replacement(text, start, end, what)
        at = length + len(kept)
        if isinstance(what, _Mark):
            moved.append(replace(what, start=at, end=at + len(new)))
        else:
            moved.append(_Mark(at, at + len(new), what, numbered))
        out += (kept, new, tail)
        length = at + len(new) + len(tail)
        position = end
    out.append(text[position:])
    return "".join(out), moved


def _replacement(text: str, start: int, end: int, what: _Mark | Span) -> tuple[str, str, bool]:
    """Return the new text, what must follow it, and whether it carries a number."""
    if isinstance(what, _Mark):
        return text[start:end], "", what.numbered
    if what.cls == HOME and not what.blob:
        return HOME_NAME, _separator(text, start, end, exact=what.view is None), False
    if what.cls == "sensitive_field":
        return f"{what.quote}{fields.MARKER}{what.quote}", "", False
    return placeholder(what.cls, UNNUMBERED), "", True


def _separator(text: str, start: int, end: int, *, exact: bool) -> str:
    """Return the separator that must follow a home directory's name, "" where one does.

    `exact`: the one that stands before the name, as the gate wants; in a view any will do, encoded or not.
    """
    before = text[start - 1 : start]
    after = text[end : end + 3].upper()
    if before == "-" or after.startswith(before if exact and before else _SEPARATORS):
        return ""
    first = start
    while first and text[first - 1] == "\\":
        first -= 1
    return text[first:start] or "/"
