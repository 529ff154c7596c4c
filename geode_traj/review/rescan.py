"""A second look at what is about to be published, as bytes: whatever is found refuses them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from geode_traj.codec.files import CHUNK, reading
from geode_traj.codec.framed import read
from geode_traj.contract.gates import GateCounter
from geode_traj.errors import DataError
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import scan_value
from geode_traj.scan.leaves import texts

Engine = Callable[[str], Iterable[str]]
"""Another scanner: takes one text, a key or a string, and gives the class of each thing it finds there."""


def rescan(path: Path, scanner: Scanner, engines: Iterable[Engine] = ()) -> None:
    """Raise `DataError` TE308, naming classes and counts alone, if anything is found in a trajectory file.

    Looked at are every string and key, in all views and by all engines, and the file's text as it stands, by
    the gate classes of a release (record contract §8).
    """
    found: Counter[str] = Counter()
    gates = GateCounter()
    engines = tuple(engines)
    with reading(path) as stream:
        while chunk := stream.read(CHUNK):
            gates.feed(chunk)
        stream.seek(0)
        document = read(stream)
        for text in document.events:
            found.update(_found(text.value, scanner, engines))
        found.update(_found(_without_counts(document.head), scanner, engines))
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


def _found(value: object, scanner: Scanner, engines: tuple[Engine, ...]) -> Iterable[str]:
    for finding in scan_value(value, scanner, _unnumbered):
        yield finding.cls
    if engines:
        for text in texts(value):
            for engine in engines:
                yield from engine(text)


def _unnumbered(_cls: str, _value: str) -> int:
    return 0
