"""One JSON document that its program rewrites: its records are units of their own (importer decision J5).

The document is parsed once for all of them. A record says who it is by its own key; what else it says is the
digest of its canonical JSON, so that the same record is the same in every state and every copy of the file.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jiter

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.contract.ids import MAX_SESSION_ID, fit
from geode_traj.errors import DataError
from geode_traj.model.event import Damaged, Item
from geode_traj.sources.base import HEAD_BYTES, Input, Probe, Source, Unit
from geode_traj.sources.document import load

_TOO_DEEP: Final = re.compile(r"recursion limit exceeded at line (\d+) column (\d+)")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Part:
    """One unit of a document: `items` yields what it holds, `total` counts its records.

    The other fields are those of `Unit`.
    """

    key: str
    sha256: str
    total: int
    first_time: float | None
    rank: int
    items: Callable[[Input], Iterable[Item]]


class Parts(Source):
    """A format of one JSON document whose records are units."""

    mutable = True
    continues = True

    @abstractmethod
    def split(self, document: Tolerated, session: str, sha256: str) -> Iterable[Part]:
        """Return the parts of a document; `session` is for records that name none, `sha256` the file's."""

    def units(self, given: Input) -> Iterator[Unit]:
        """Return one unit a part."""
        for part in self._parts(given).values():
            yield Unit(part.key, part.sha256, part.total, part.first_time, part.rank)

    def items(self, given: Input) -> Iterable[Item]:
        """Yield what the part `given.unit` holds; raise `DataError` TE207 if it is not as it was planned."""
        part = self._parts(given).get(given.unit)
        if part is None or part.sha256 != given.sha256:
            raise DataError("TE207", place=given.name)
        return part.items(given)

    def session(self, given: Input) -> str:
        """Return the session of records that name none."""
        return given.default_session

    def _parts(self, given: Input) -> dict[str, Part]:
        stat = given.path.stat()
        return _held(self, given.path, self.session(given), (stat.st_ino, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=2)
def _held(source: Parts, path: Path, session: str, stat: tuple[int, int, int]) -> dict[str, Part]:
    """Return the parts of a document by key; a key that another record bears already gets a number."""
    with reading(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        document = load(stream, size, os.fspath(path))
        stream.seek(0)
        sha256 = sha256_bytes(stream.read(size))
    found: dict[str, Part] = {}
    for part in source.split(document, session, sha256):
        key = fit(part.key, MAX_SESSION_ID)
        number = 1
        while key in found:
            number += 1
            key = fit(f"{part.key}~{number}", MAX_SESSION_ID)
        found[key] = replace(part, key=key)
    return found


def opening(probe: Probe, *, lists: bool = False) -> Any:
    """Return the object that a file begins with, as far as its head tells; None for anything else.

    With `lists` a list is returned too. A file that was cut short is recognised by it too: reading it then
    says what is wrong.
    """
    begins = (b"{", b"[", b"") if lists else (b"{", b"")
    if probe.head[:3].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in begins:
        return None
    return _opening(probe.head)


@lru_cache(maxsize=1)
def _opening(head: bytes) -> Any:
    data = head.removeprefix(b"\xef\xbb\xbf")
    mended = _SURROGATE.sub(rb"\\u003f", data.decode("utf-8", "replace").encode())
    for text in (data, mended):
        try:
            return jiter.from_json(text, partial_mode=True)
        except ValueError as error:
            deep = _TOO_DEEP.match(str(error))
            if deep:  # what stands before it tells the format, whose reading then refuses the depth
                lines = text.split(b"\n", int(deep[1]))[: int(deep[1])]
                lines[-1] = lines[-1][: int(deep[2]) - 1]
                with suppress(ValueError):
                    return jiter.from_json(b"\n".join(lines), partial_mode=True)
    return None


def is_whole(probe: Probe) -> bool:
    """Tell whether the head is the whole file."""
    return len(probe.head) < HEAD_BYTES


def inside(document: Tolerated, pointer: str, listed: list[Any]) -> list[Tolerated]:
    """Return each record of the list at `pointer` with what a tolerant read met in it, told from there."""
    start = len(pointer) + 1

    def by_record(pointers: Iterable[str]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for one in pointers:
            index = one[start:].partition("/")[0]
            if one.startswith(pointer + "/") and index.isdecimal() and len(index) < 10:
                found.setdefault(int(index), []).append(one)
        return found

    def below(pointers: list[str], index: int) -> list[str]:
        return [one[start + len(str(index)) :] for one in pointers]

    escaped, nonfinite = by_record(document.escaped), by_record(document.nonfinite)
    repeated = by_record(document.duplicates)
    return [
        Tolerated(
            value,
            below(escaped.get(index, []), index),
            below(nonfinite.get(index, []), index),
            {
                short: document.duplicates[one]
                for one in repeated.get(index, [])
                for short in below([one], index)
            },
        )
        for index, value in enumerate(listed)
    ]


def damaged(index: int, value: Any, session_id: str) -> Part:
    """Return the part of a record that is no object: its place in the list stands for a line number."""
    data = dumps(value)
    sha256 = sha256_bytes(data)
    item = Damaged(index + 1, 0, len(data), sha256, "not_object", data, session_id)
    return Part(
        f"damaged-{index + 1}", sha256_bytes(b"damaged:" + data), 1, None, index * 4, lambda _: [item]
    )
