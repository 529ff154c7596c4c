"""Edits: what was found is replaced in decoded leaves and keys, and every replacement is told.

A redacted text is searched again until nothing is found, since a replacement can uncover what it
overlapped. Numbers are given at the end, so that they follow the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.errors import DataError
from geode_traj.scan import fields
from geode_traj.scan.engine import Scanner
from geode_traj.scan.leaves import child_name, escape
from geode_traj.scan.matching import HOME, HOME_NAME, Span
from geode_traj.scan.rules import Profile, Ruleset

OPAQUE: Final = frozenset({"encrypted_content", "signature", "thoughtSignature", "thought_signature"})
"""Members that are whole or gone: half of an encrypted text is neither readable nor verifiable."""

UNNUMBERED: Final = 0
_SEPARATORS: Final = ("/", "\\", "%2F", "%5C")
_ROUNDS: Final = 8

Number = Callable[[str, str], int]
Wanted = Callable[[str, Span], bool]


@dataclass(frozen=True, slots=True)
class Redaction:
    """One replacement: the characters `start`..`end` of the redacted text at `pointer`.

    The pointer, too, is the redacted value's. `n` is the value's number in its class, 0 for the two
    replacements that carry none; `in_key`: the text is the key of the member at `pointer`.
    """

    pointer: str
    start: int
    end: int
    rule: str
    cls: str
    n: int
    in_key: bool = False

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


def placeholder(cls: str, n: int) -> str:
    """Return what stands for value `n` of a class."""
    return f"[REDACTED:{cls}:{n}]"


@dataclass(slots=True)
class _Mark:
    """A replacement in a text under work: what stands at `start`..`end`, and what was found there."""

    start: int
    end: int
    span: Span
    numbered: bool
    n: int = UNNUMBERED


class Redactor:
    """Redacts JSON values and texts for one profile.

    `number(class, value)` gives a value's number (`Numbering.number`). `wanted(pointer, span)`, if given,
    says which findings are replaced; the others stay. A sensitive key's value is always replaced.
    """

    def __init__(
        self,
        profile: Profile,
        number: Number,
        sensitive_keys: Iterable[str] = (),
        *,
        wanted: Wanted | None = None,
        ruleset: Ruleset | None = None,
    ) -> None:
        self.scanner: Final = Scanner(profile, sensitive_keys, ruleset)
        self._number = number
        self._wanted = wanted

    def may_match(self, encoded: bytes) -> bool:
        """Tell whether the value of this canonical JSON may need `redact`; import profile only."""
        return self.scanner.may_match(encoded)

    def redact(self, value: Any) -> tuple[Any, list[Redaction]]:
        """Return the JSON value with all findings replaced, and the replacements in document order.

        The input is not changed. Raises `DataError` TE308 if something is found however often it is replaced.
        """
        done: list[Redaction] = []
        root: list[Any] = [None]
        stack: list[tuple[Any, Any, Any, str, str]] = [(root, 0, value, "", "")]
        while stack:
            target, slot, item, pointer, name = stack.pop()
            if isinstance(item, str):
                target[slot], redactions = self._text(item, pointer, name)
                done += redactions
            elif isinstance(item, dict):
                out: dict[str, Any] = {}
                target[slot] = out
                members = self._keys(item, pointer, out, done)
                stack.extend(
                    (out, new, item[old], where, child_name(old, name))
                    for old, new, where in reversed(members)
                )
            elif isinstance(item, list):
                target[slot] = out_list = [None] * len(item)
                indices = reversed(range(len(item)))
                stack.extend((out_list, i, item[i], f"{pointer}/{i}", name) for i in indices)
            else:
                target[slot] = item
        return root[0], done

    def redact_text(self, text: str, *, damaged: bool = False) -> tuple[str, list[Redaction]]:
        """Return one text redacted (`damaged`: a broken line of JSON), and the replacements."""
        return self._text(text, "", "", damaged=damaged)

    def _keys(
        self, item: dict[str, Any], pointer: str, out: dict[str, Any], done: list[Redaction]
    ) -> list[tuple[str, str, str]]:
        """Fill `out` with new keys and sensitive values; return (old key, new key, pointer) of the others."""
        edited = {key: self._edited(key, pointer, "") for key in item}
        taken = {key for key, (text, _) in edited.items() if text == key}
        members: list[tuple[str, str, str]] = []
        for key, (text, marks) in edited.items():
            new, again = text, 1
            while new != key and new in taken:
                again += 1
                new = f"{text}#{again}"
            taken.add(new)
            where = f"{pointer}/{escape(new)}"
            out[new] = item[key]
            done += (self._told(mark, where, in_key=True) for mark in marks)
            if not self.scanner.is_sensitive(key):
                members.append((key, new, where))
            elif not fields.already(item[key]):
                out[new] = fields.MARKER
                length = len(fields.MARKER)
                done.append(Redaction(where, 0, length, "sensitive_key", "sensitive_field", UNNUMBERED))
        return members

    def _text(
        self, text: str, pointer: str, name: str, *, damaged: bool = False
    ) -> tuple[str, list[Redaction]]:
        new, marks = self._edited(text, pointer, name, damaged=damaged)
        return new, [self._told(mark, pointer, in_key=False) for mark in marks]

    @staticmethod
    def _told(mark: _Mark, pointer: str, *, in_key: bool) -> Redaction:
        return Redaction(pointer, mark.start, mark.end, mark.span.rule, mark.span.cls, mark.n, in_key)

    def _edited(
        self, text: str, pointer: str, name: str, *, damaged: bool = False
    ) -> tuple[str, list[_Mark]]:
        marks: list[_Mark] = []
        original = text
        for _ in range(_ROUNDS):
            spans = self.scanner.find(text, name, damaged=damaged)
            if self._wanted is not None:
                spans = [span for span in spans if self._wanted(pointer, span)]
            if not spans:
                return self._numbered(text, marks) if marks else (text, marks)
            if name in OPAQUE:
                spans = [spans[0]._replace(start=0, end=len(text), value=original, blob=True)]
            text, marks = _replaced(text, marks, spans)
        raise DataError("TE308", place=pointer, found=spans[0].cls)

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
        span = what.span if isinstance(what, _Mark) else what
        moved.append(_Mark(at, at + len(new), span, numbered))
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
