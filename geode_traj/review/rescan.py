"""A second look at what is about to be published, as bytes: whatever is found refuses them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from geode_traj.codec.files import CHUNK, reading
from geode_traj.codec.framed import read
from geode_traj.contract.gates import GateCounter
from geode_traj.errors import DataError
from geode_traj.review.guide import PAYLOAD
from geode_traj.scan.chunks import Streams
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import scan_value
from geode_traj.scan.leaves import placed_texts
from geode_traj.scan.matching import Span

Engine = Callable[[str], Iterable[str]]
"""Another scanner: takes one text, a key or a string, and gives the class of each thing it finds there."""


Place = tuple[str, bool]
"""A text in an event, or in what stands around the events: its pointer, and whether it is a key."""

Kept = dict[int | None, dict[Place, list[tuple[int, int]]]]
"""What was approved: by the event's ordinal (None: around the events) and place, characters of the text."""


def rescan(path: Path, scanner: Scanner, engines: Iterable[Engine] = (), kept: Kept | None = None) -> None:
    """Raise `DataError` TE308, naming classes and counts alone, if anything is found in a trajectory file.

    Looked at are every string and key, in all views and by all engines, and the file's text as it stands, by
    the gate classes of a release (record contract §8). What lies within something `kept` passes, but for the
    gates: nobody can approve what these refuse.
    """
    kept = kept or {}
    streams = Streams(scanner)
    found: Counter[str] = Counter()
    gates = GateCounter()
    engines = tuple(engines)
    with reading(path) as stream:
        while chunk := stream.read(CHUNK):
            gates.feed(chunk)
        stream.seek(0)
        document = read(stream)
        for text in document.events:
            event = text.value
            found.update(_found(event, scanner, engines, kept.get(text.ordinal, {})))
            fed = streams.feed(
                text.ordinal, event["kind"], event["turn_id"], event["call_id"], event["payload"]
            )
            found.update(_across(fed, kept))
        found.update(_across(streams.end(), kept))
        found.update(_found(_without_counts(document.head), scanner, engines, kept.get(None, {})))
    found |= Counter(gates.result())
    _refuse(+found)


def refuse_words(words: Sequence[str], scanner: Scanner) -> None:
    """Raise `DataError` TE308 if anything is found in what is published word for word beside trajectories.

    Nothing in it is redacted, so nothing may need to be: alone, one line below the other, or as JSON.
    """
    texts = [*words, "\n".join(words), json.dumps(words, ensure_ascii=False)]
    found: Counter[str] = Counter()
    for text in texts:
        found |= Counter(span.cls for span in scanner.find(text))
    _refuse(found)


def _refuse(found: Counter[str]) -> None:
    if found:
        raise DataError("TE308", found=", ".join(f"{cls} ({count})" for cls, count in sorted(found.items())))


def _without_counts(head: dict[str, Any]) -> dict[str, Any]:
    """Leave out the counts by class: a configured sensitive key may have the name of a class."""
    integrity = {key: value for key, value in head["integrity"].items() if key != "value_redactions"}
    return {**head, "integrity": integrity}


def _found(
    value: object, scanner: Scanner, engines: tuple[Engine, ...], kept: dict[Place, list[tuple[int, int]]]
) -> Iterable[str]:
    for finding in scan_value(value, scanner, _unnumbered):
        places = kept.get((finding.pointer, finding.in_key), ()) if kept else ()
        start, end = finding.span or (0, 0)
        if finding.span is None or not any(low <= start and end <= high for low, high in places):
            yield finding.cls
    if not engines:
        return
    for place, leaf in placed_texts(value):
        text = leaf
        for low, high in kept.get(place, ()):
            text = f"{text[:low]}{' ' * (high - low)}{text[high:]}"
        for engine in engines:
            yield from engine(text)


def _across(streams: Iterable[tuple[int, str, Span]], kept: Kept) -> Iterator[str]:
    """Yield the classes of what stands in more than one event of a stream."""
    for ordinal, pointer, span in streams:
        places = kept.get(ordinal, {}).get((PAYLOAD + pointer, False), ())
        if not any(low <= span.start and span.end <= high for low, high in places):
            yield span.cls


def _unnumbered(_cls: str, _value: str) -> int:
    return 0
