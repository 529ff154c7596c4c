"""What a redaction is told of one candidate: what was approved stays, whatever else was found goes.

A redaction looks for itself. But a review also found what one text alone does not show, or what only the
reviewer's own list of secrets knows: all of it that nobody approved is replaced, found again or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from geode_traj.review.folder import Found
from geode_traj.scan.matching import Span
from geode_traj.scan.rules import Band

PAYLOAD: Final = "/payload"
_SAYS_LEAST: Final = 99
_BANDS: Final[dict[str, Band]] = {"high": "high", "review": "review", "note": "note"}

_Place = tuple[str, bool]


class FindingGuide:
    """Guides the redaction of one value (`scan.redact.Guide`): a payload, or the head."""

    def __init__(self) -> None:
        self._kept: dict[_Place, list[tuple[int, int]]] = defaultdict(list)
        self._more: dict[_Place, list[Span]] = defaultdict(list)

    def keep(self, place: _Place, start: int, end: int) -> None:
        """Keep what stands there."""
        self._kept[place].append((start, end))

    def replace(self, place: _Place, span: Span) -> None:
        """Replace what stands there, whether a redaction finds it or not."""
        self._more[place].append(span)

    def more(self, pointer: str, *, in_key: bool) -> Sequence[Span]:
        """Return what else is to be replaced in a text."""
        return self._more.get((pointer, in_key), ())

    def keeps(self, pointer: str, span: Span, *, in_key: bool) -> bool:
        """Tell whether a finding was approved: it is one, or lies within one."""
        kept = self._kept.get((pointer, in_key), ())
        return any(start <= span.start and span.end <= end for start, end in kept)


class Guides:
    """The guides of one candidate, by the ordinal of the event, None for what stands around the events."""

    def __init__(self, findings: Iterable[Found] = (), approved: frozenset[int] = frozenset()) -> None:
        self._guides: dict[int | None, FindingGuide] = {}
        for found in findings:
            pointer = found.pointer
            if found.ordinal is not None:
                if not pointer.startswith(PAYLOAD):
                    continue  # an id or another column: a private one is mapped everywhere at once
                pointer = pointer.removeprefix(PAYLOAD)
            if found.span is None:
                continue  # the value of a sensitive key, which always goes
            guide = self._guides.setdefault(found.ordinal, FindingGuide())
            place = (pointer, found.in_key)
            if found.id in approved:
                guide.keep(place, *found.span)
            else:
                guide.replace(place, _span(found, *found.span))

    def of(self, ordinal: int | None) -> FindingGuide | None:
        """Return the guide of an event."""
        return self._guides.get(ordinal)


def _span(found: Found, start: int, end: int) -> Span:
    # Where the redaction finds the same, its own finding names it and gives it its number.
    value = f"\0value {found.value}"
    return Span(
        start, end, found.rule, found.cls, _BANDS[found.band], value, found.view, _SAYS_LEAST, blob=True
    )
