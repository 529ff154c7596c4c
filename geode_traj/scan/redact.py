"""Edits: what was found is replaced in decoded leaves and keys, and every replacement is told.

A redacted text is searched again until nothing is found, since a replacement can uncover what it
overlapped. Numbers are given at the end, so that they follow the order of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.errors import DataError
from geode_traj.scan import fields
from geode_traj.scan.engine import Scanner
from geode_traj.scan.leaves import child_name
from geode_traj.scan.listed import Listed
from geode_traj.scan.marks import Mark, Number, numbered, outside, replaced, standing
from geode_traj.scan.matching import Span, settled

OPAQUE: Final = frozenset({"encrypted_content", "signature", "thoughtSignature", "thought_signature"})
"""Members that are whole or gone: half of an encrypted text is neither readable nor verifiable."""

MAX_TOLD: Final = 16 << 20
"""Characters of all pointers told of one value: a long key above a long list would fill the memory."""

MAX_ASKED: Final = 1 << 28
"""Characters of all pointers that a guide is asked about."""

_ROUNDS: Final = 8
_NOTHING_LISTED: Final = Listed()


@dataclass(frozen=True, slots=True)
class Redaction:
    """One replacement: the characters `start`..`end` of the redacted text at `pointer`.

    The pointer, too, is the redacted value's. `n` is the value's number in its class, 0 for the three
    replacements that carry none (a name in a home path, the value of a sensitive field, a cleaned picture);
    `in_key`: the text is the key of the member at `pointer`; `earlier`: it was listed beforehand. `kept`:
    nothing was replaced, a guide keeps what stands there; no event lists it.
    """

    pointer: str
    start: int
    end: int
    rule: str
    cls: str
    n: int
    in_key: bool = False
    earlier: bool = False
    kept: bool = False

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


class Guide(Protocol):
    """What is known of the texts of one value besides what a scanner finds there.

    Pointers and spans are of the value as given, before any edit; `in_key`: the text is the key of the member
    at `pointer`. The values of sensitive keys are not asked about: they always go.
    """

    def more(self, pointer: str, *, in_key: bool) -> Sequence[Span]:
        """Return what else is to be replaced in a text: its part of a secret cut over chunks.

        Asked once for each text. What overlaps a finding becomes one with it (`scan.matching.settled`).
        """

    def keeps(self, pointer: str, span: Span, *, in_key: bool) -> bool:
        """Tell whether a finding, one of `more` included, stays because somebody approved it."""


class Redactor:
    """Redacts JSON values and texts; `number(class, value)` gives a value's number (`Numbering.number`)."""

    def __init__(self, scanner: Scanner, number: Number) -> None:
        self.scanner: Final = scanner
        self._number = number

    def redact(
        self,
        value: Any,
        earlier: Listed = _NOTHING_LISTED,
        *,
        renumber: bool = False,
        guide: Guide | None = None,
    ) -> tuple[Any, list[Redaction]]:
        """Return the JSON value with all findings replaced, and the replacements in document order.

        Those that the value lists `earlier` are among them, where they stand now, under their own number, or
        with `renumber` under one of this redactor, their class and old number standing for the value. What a
        `guide` keeps is among them as `kept`; nothing is replaced inside it, and a later finding that reaches
        beyond it takes all of it. The input is not changed. Raises `DataError` TE308 if something is found
        however often it is replaced, TE203 where the pointers of all replacements are longer than `MAX_TOLD`.
        """
        work = _Work(self.scanner, self._number, earlier, renumber, guide)
        return work.value(value), work.done

    def redact_text(self, text: str, *, damaged: bool = False) -> tuple[str, list[Redaction]]:
        """Return one text redacted (`damaged`: a broken line of JSON), and the replacements."""
        work = _Work(self.scanner, self._number, _NOTHING_LISTED, False, None)
        return work.text(text, (None, None), "", damaged=damaged), work.done


_Place = tuple[Trail, Trail]
"""Where a text stands in the value as it was, and as it will be; the two differ below an edited key."""


def _below(place: _Place, old: str | int, new: str | int) -> _Place:
    was, now = place
    step = (now, new)
    return ((was, old), step) if was is not now or old != new else (step, step)


class _Work:
    """One value under work: `done` is what was replaced so far."""

    def __init__(
        self, scanner: Scanner, number: Number, earlier: Listed, renumber: bool, guide: Guide | None
    ) -> None:
        self.done: Final[list[Redaction]] = []
        self._scanner = scanner
        self._number = number
        self._earlier = earlier
        self._renumber = renumber
        self._guide = guide
        self._told = self._asked = 0

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
        edited = {key: self._edited(key, place, "", in_key=True) for key in item}
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
                self._tell([standing(one) for one in self._earlier.at(item[key], was)], now)
            else:
                out[new] = fields.MARKER
                span = Span(0, len(fields.MARKER), "sensitive_key", "sensitive_field", "high", "")
                self._tell([Mark(span.start, span.end, span, False)], now)
        return members

    def _tell(self, marks: list[Mark], trail: Trail, *, in_key: bool = False) -> None:
        if not marks:
            return
        where = pointer.of(trail)
        self._told += len(where) * len(marks)
        if self._told > MAX_TOLD:
            raise DataError("TE203", limit=MAX_TOLD, place="the pointers of what is redacted")
        for mark in marks:
            rule, cls = mark.span.rule, mark.span.cls
            how = (in_key, mark.earlier, mark.kept)
            self.done.append(Redaction(where, mark.start, mark.end, rule, cls, mark.n, *how))

    def _edited(
        self, text: str, place: _Place, name: str, *, damaged: bool = False, in_key: bool = False
    ) -> tuple[str, list[Mark]]:
        marks = [standing(one, renumber=self._renumber) for one in self._earlier.at(text, place[0])]
        spans = self._scanner.find(text, name, damaged=damaged)
        if self._guide is not None:
            where = (place[0], text) if in_key else place[0]
            spans, kept = self._guided(self._guide, spans, text, where, in_key)
            marks += kept
        original = text
        for _ in range(_ROUNDS):
            if not spans:
                return numbered(text, marks, self._number) if marks else (text, marks)
            if name in OPAQUE:
                spans = [spans[0]._replace(start=0, end=len(text), value=original, blob=True)]
            text, marks = replaced(text, marks, spans)
            spans = outside(self._scanner.find(text, name, damaged=damaged), marks)
        raise DataError("TE308", place=pointer.shown(place[1]), found=spans[0].cls)

    def _guided(
        self, guide: Guide, spans: list[Span], text: str, trail: Trail, in_key: bool
    ) -> tuple[list[Span], list[Mark]]:
        """Return what is to be replaced in a text as given, and marks of what is kept there."""
        where = pointer.of(trail)
        self._asked += len(where)
        if self._asked > MAX_ASKED:
            raise DataError("TE203", limit=MAX_ASKED, place="the pointers of all texts")
        if more := guide.more(where, in_key=in_key):
            spans = settled([*more, *spans], text)
        go: list[Span] = []
        kept: list[Mark] = []
        for span in spans:
            if guide.keeps(where, span, in_key=in_key):
                kept.append(Mark(span.start, span.end, span, False, kept=True))
            else:
                go.append(span)
        return go, kept
