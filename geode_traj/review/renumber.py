"""Redaction of a payload that an import has redacted before: its placeholders are numbered anew.

Numbers belong to one store or to one release. What an event lists in `_redactions` is therefore found again,
its class and old number standing for the value, and takes part in the numbering of the release. What only
looks like a placeholder and is not listed was typed by somebody: it stays as it is, and unlisted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from geode_traj.scan import fields
from geode_traj.scan.engine import Scanner
from geode_traj.scan.leaves import escape
from geode_traj.scan.matching import HOME_NAME, Span, uncovered
from geode_traj.scan.redact import UNNUMBERED, Number, Redaction, Redactor, placeholder
from geode_traj.scan.rules import Ruleset

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PLACEHOLDER: Final = re.compile(r"\[REDACTED:([a-z0-9_]{1,64}):([1-9][0-9]{0,8})\]")
_LONGEST: Final = len(placeholder("x" * 64, 999_999_999))
_INDEX: Final = re.compile(r"[0-9]{1,9}")
_STANDING: Final = {HOME_NAME: "absolute_home", fields.MARKER: "sensitive_field"}
# Columns that an import redacts too; an event lists only what stands in its payload.
_COLUMNS: Final = ("model", "provider", "status")
# Begins the rule and the value of what is found again: no rule's name and no secret begins so.
_EARLIER: Final = "\0earlier "

# The text an entry speaks of: the pointer of the leaf, or of the object that has the key; the text itself.
_Place = tuple[str, str]


class Renumberer(Redactor):
    """The publish profile's redactor, with what an import listed among its findings.

    `earlier` holds, after `redact_again`, those of its redactions that the import had made.
    """

    def __init__(
        self, number: Number, sensitive_keys: Iterable[str] = (), *, ruleset: Ruleset | None = None
    ) -> None:
        super().__init__("publish", number, sensitive_keys, ruleset=ruleset)
        self._listing = _Listing("publish", sensitive_keys, ruleset)
        self.scanner = self._listing  # type: ignore[misc]
        self._listed: dict[_Place, list[Span]] = {}
        self._renamed: dict[str, str] = {}
        self.earlier: set[Redaction] = set()

    def redact_again(self, payload: dict[str, Any], listed: object) -> tuple[dict[str, Any], list[Redaction]]:
        """Return the payload redacted and all its redactions; `listed` is its `_redactions`, where true.

        Raises `DataError` TE308 as `redact` does.
        """
        self._listed = _believed(payload, listed if isinstance(listed, list) else [])
        self._renamed.clear()
        self.earlier.clear()
        redacted, done = self.redact(payload)
        for place, told in enumerate(done):
            if told.rule.startswith(_EARLIER):
                done[place] = replace(told, rule=told.rule.removeprefix(_EARLIER))
                self.earlier.add(done[place])
        return redacted, done

    def entry(self, redaction: Redaction) -> dict[str, object]:
        """Return the entry of `_redactions` for a redaction.

        Keys joined to a pointer can read as what none of them is: `/home/url`. Nothing in a JSON pointer can
        keep them apart, so where anything is found in one, the list of its keys stands in its place.
        """
        entry = redaction.to_json()
        if self.scanner.find(redaction.pointer):
            entry["pointer"] = [_unescaped(step) for step in redaction.pointer.split("/")[1:]]
        return entry

    def _edited(self, text: str, pointer: str, name: str, *, damaged: bool = False) -> Any:
        self._listing.pending = self._listed.get((self._origin(pointer), text), ())
        return super()._edited(text, pointer, name, damaged=damaged)

    def _keys(
        self, item: dict[str, Any], pointer: str, out: dict[str, Any], done: list[Redaction]
    ) -> list[tuple[str, str, str]]:
        members = super()._keys(item, pointer, out, done)
        self._renamed.update(
            (where, f"{self._origin(pointer)}/{escape(old)}") for old, new, where in members if old != new
        )
        # A sensitive key's value that is redacted already is not looked at: what listed it still holds.
        for key, value in item.items():
            if self.scanner.is_sensitive(key) and key in out and fields.already(value):
                where = f"{pointer}/{escape(key)}"
                done += (
                    Redaction(where, span.start, span.end, span.rule, span.cls, UNNUMBERED)
                    for span in self._listed.get((self._origin(where), value), [])
                )
        return members

    def _origin(self, pointer: str) -> str:
        """Return the pointer that led to a place before keys above it were edited."""
        head, tail = pointer, ""
        while self._renamed and head:
            if head in self._renamed:
                return self._renamed[head] + tail
            head, _, last = head.rpartition("/")
            tail = f"/{last}{tail}"
        return pointer


class _Listing(Scanner):
    """A scanner that finds, once, what it is told beforehand, where nothing else is found."""

    pending: Iterable[Span] = ()

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list[Span]:
        found = super().find(text, key, damaged=damaged)
        told, self.pending = self.pending, ()
        return sorted([*found, *uncovered(found, told)], key=lambda span: span.start) if told else found


def _believed(payload: dict[str, Any], listed: list[Any]) -> dict[_Place, list[Span]]:
    """Return, by place, the listed redactions that stand in the payload as listed, those of columns too.

    Of overlapping ones the first counts.
    """
    places: dict[_Place, list[Span]] = {}
    for entry in (*listed, *_of_columns(payload)):
        found = _resolve(payload, entry) if isinstance(entry, dict) else None
        if found is not None:
            places.setdefault(found[0], []).append(found[1])
    for spans in places.values():
        spans.sort(key=lambda span: span.start)
        spans[:] = [span for i, span in enumerate(spans) if i == 0 or spans[i - 1].end <= span.start]
    return places


def _of_columns(payload: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in _COLUMNS:
        text = payload.get(name)
        for found in _PLACEHOLDER.finditer(text) if isinstance(text, str) else ():
            start, end = found.span()
            entry = {"pointer": f"/{name}", "start": start, "end": end, "rule": found[1]}
            yield {**entry, "class": found[1], "n": int(found[2])}


def _resolve(payload: dict[str, Any], entry: dict[str, Any]) -> tuple[_Place, Span] | None:
    pointer, start, end = entry.get("pointer"), entry.get("start"), entry.get("end")
    if isinstance(pointer, list) and all(isinstance(step, str) for step in pointer):
        pointer = "".join(f"/{escape(step)}" for step in pointer)
    rule, cls, n = entry.get("rule"), entry.get("class"), entry.get("n")
    if not (isinstance(pointer, str) and isinstance(rule, str) and isinstance(cls, str)):
        return None
    if not (type(start) is int and type(end) is int and type(n) is int and _NAME.fullmatch(rule)):
        return None
    above, _, last = pointer.rpartition("/")
    value = _at(payload, pointer)
    if entry.get("in_key"):
        value, pointer = (None if value is None else _unescaped(last)), above
    if not isinstance(value, str) or not 0 <= start < end <= min(len(value), start + _LONGEST):
        return None
    text = value[start:end]
    standing = _STANDING.get(text) == cls and n == UNNUMBERED
    if not standing and (not _PLACEHOLDER.fullmatch(text) or text != placeholder(cls, n)):
        return None
    span = Span(start, end, _EARLIER + rule, cls, "high", value=f"{_EARLIER}{n}", blob=not standing)
    return (pointer, value), span


def _at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value.get(_unescaped(step))
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
