"""What a redaction takes out because a policy asks for it: pictures, and thoughts written into a message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from geode_traj.codec import pointer
from geode_traj.codec.pointer import Trail
from geode_traj.contract import content
from geode_traj.contract.content import IMAGE, REASONING, Switches
from geode_traj.scan.matching import Span
from geode_traj.scan.redact import Guide

# Names what it overlaps, whatever else was found there: a picture that goes is none to be cleaned.
_FIRST = -1

_Place = tuple[str, bool]


class DroppedGuide:
    """A guide (`scan.redact.Guide`) that replaces more than another one, of which it keeps nothing."""

    def __init__(self, guide: Guide | None, dropped: dict[_Place, list[Span]]) -> None:
        self._guide = guide
        self._dropped = dropped
        self.counts = Counter(span.cls for spans in dropped.values() for span in spans)

    def more(self, pointer: str, *, in_key: bool) -> Sequence[Span]:
        """Return what else is to be replaced in a text."""
        own = self._dropped.get((pointer, in_key), ())
        return [*own, *(self._guide.more(pointer, in_key=in_key) if self._guide else ())]

    def keeps(self, pointer: str, span: Span, *, in_key: bool) -> bool:
        """Tell whether a finding stays: it was approved, and touches nothing that goes."""
        own = self._dropped.get((pointer, in_key), ())
        if any(one.start < span.end and span.start < one.end for one in own):
            return False
        return self._guide is not None and self._guide.keeps(pointer, span, in_key=in_key)


def dropped(value: Any, kind: str, switches: Switches) -> dict[_Place, list[Span]]:
    """Return what of a payload or a head goes as a part of a text, by place; `kind` is the event's, or ""."""
    found: dict[_Place, list[Span]] = {}
    if not (switches.no_images or switches.no_reasoning):
        return found
    stack: list[tuple[Trail, Any, bool]] = [(None, value, False)]
    while stack:
        trail, item, whole = stack.pop()
        if isinstance(item, str):
            _note(found, trail, item, _spans(item, kind, switches, trail, whole=whole))
        elif isinstance(item, dict):
            for key, child in item.items():
                _note(found, (trail, key), key, _spans(key, "", switches, None), in_key=True)
                stack.append(((trail, key), child, switches.no_images and content.is_picture(item, key)))
        elif isinstance(item, list):
            stack.extend(((trail, i), item[i], False) for i in range(len(item)))
    return found


def _spans(
    text: str, kind: str, switches: Switches, trail: Trail, *, whole: bool = False
) -> list[tuple[int, int, str]]:
    if whole:
        return [(0, len(text), IMAGE)]
    found = []
    if switches.no_reasoning and trail == (None, "content"):
        found += [(start, end, REASONING) for start, end in content.thoughts(kind, text)]
    if switches.no_images:
        found += [(start, end, IMAGE) for start, end in content.pictures(text)]
    return found


def _note(
    found: dict[_Place, list[Span]],
    trail: Trail,
    text: str,
    spans: list[tuple[int, int, str]],
    *,
    in_key: bool = False,
) -> None:
    if spans:
        found[(pointer.of(trail), in_key)] = [
            Span(start, end, cls, cls, "high", text[start:end], vague=_FIRST, blob=True)
            for start, end, cls in spans
        ]
