"""What a scan reports: class, place and value number, never a secret or a part of one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.scan import fields
from geode_traj.scan.engine import Scanner
from geode_traj.scan.leaves import child_name
from geode_traj.scan.matching import Span
from geode_traj.scan.rules import Band

Number = Callable[[str, str], int]

_ANY = "value"
_SHORT: Final = 64
_REMEMBERED: Final = 1 << 16
_CONTAINERS: Final = (dict, list)


@dataclass(frozen=True, slots=True)
class Clean:
    """The keys and the short texts (with their names) in which nothing was found: most come again and again.

    What is searched again in parts that are counted (`jobs.scan_workers`) needs one of its own.
    """

    keys: set[str] = field(default_factory=set)
    texts: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """One finding: the characters `span` of the leaf at `pointer`, in clear or in the decoding `view`.

    `span` is None where the value is no string. `value_number`: equal values of one report share it. A key
    that holds a finding stands in `pointer` with the finding replaced; `in_key`: that key is the leaf. A very
    long pointer is cut.
    """

    rule: str
    cls: str
    band: Band
    pointer: str
    span: tuple[int, int] | None
    value_number: int
    view: str | None = None
    in_key: bool = False

    def to_json(self, **place: object) -> dict[str, object]:
        """Return the finding as the scan report writes it; `place` is what the caller adds (a line)."""
        where: dict[str, object] = {**place, "pointer": self.pointer}
        if self.span is not None:
            where["span"] = list(self.span)
        if self.in_key:
            where["in_key"] = True
        return {
            "rule": self.rule,
            "class": self.cls,
            "band": self.band,
            "place": where,
            "value": f"v{self.value_number}",
            "view": self.view,
        }


def scan_text(text: str, scanner: Scanner, number: Number, *, damaged: bool = False) -> list[ScanFinding]:
    """Return the findings in one text that is no JSON; see `scan_value`."""
    return _told(scanner.find(text, damaged=damaged), None, number)


def scan_value(
    value: Any, scanner: Scanner, number: Number, clean: Clean | None = None
) -> Iterator[ScanFinding]:
    """Yield the findings in a JSON value, keys included, in document order.

    `number` gives value numbers (`Numbering.number`, of a numbering that serves this report only). What is
    `clean` is not searched again, and grows. Iterative.
    """
    clean = Clean() if clean is None else clean
    keys, texts = clean.keys, clean.texts
    stack: list[tuple[Trail, str, Any]] = [(None, "", value)]
    while stack:
        trail, name, item = stack.pop()
        if isinstance(item, str):
            if spans := scanner.find(item, name):
                yield from _told(spans, trail, number)
            elif len(item) <= _SHORT and len(texts) < _REMEMBERED:
                texts.add((name, item))
        elif isinstance(item, dict):
            members: list[tuple[Trail, str, Any]] = []
            for key, child in item.items():
                where: Trail = (trail, key)
                if key not in keys:
                    if spans := scanner.find(key):
                        where = (trail, without(key, spans))
                        yield from _told(spans, where, number, in_key=True)
                    if scanner.is_sensitive(key):
                        if not fields.already(child):
                            yield _sensitive(child, where, number)
                        continue
                    if not spans and len(keys) < _REMEMBERED:
                        keys.add(key)
                below = child_name(key, name)
                if isinstance(child, str):
                    if (below, child) not in texts:
                        members.append((where, below, child))
                elif isinstance(child, _CONTAINERS):
                    members.append((where, below, child))
            members.reverse()
            stack += members
        elif isinstance(item, list):
            stack.extend(((trail, i), name, item[i]) for i in reversed(range(len(item))))


def told(span: Span, where: str, number: Number, *, in_key: bool = False) -> ScanFinding:
    """Return the finding of a span in the leaf at the pointer `where`."""
    n = number(_ANY, span.value)
    return ScanFinding(span.rule, span.cls, span.band, where, (span.start, span.end), n, span.view, in_key)


def _told(spans: list[Span], trail: Trail, number: Number, *, in_key: bool = False) -> list[ScanFinding]:
    where = pointer.shown(trail)
    return [told(span, where, number, in_key=in_key) for span in spans]


def _sensitive(value: Any, trail: Trail, number: Number) -> ScanFinding:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    span = (0, len(value)) if isinstance(value, str) else None
    n = number(_ANY, text)
    return ScanFinding("sensitive_key", "sensitive_field", "high", pointer.shown(trail), span, n)


def without(key: str, spans: list[Span]) -> str:
    """Return a text, mostly a key, as reports show it: without what was found in it."""
    out: list[str] = []
    position = 0
    for span in spans:
        out += (key[position : span.start], f"[REDACTED:{span.cls}]")
        position = span.end
    return "".join((*out, key[position:]))
