"""Rows of foreign SQLite tables as values: nothing of a row is lost, whatever types it holds."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import tolerant

_OTHER: Final = re.compile(r"[\udc80-\udcff]")


@dataclass(slots=True)
class TableRow:
    """One row: the table, its values without nulls, and which columns had to be mended to be storable.

    `escaped` are columns whose text was no UTF-8, `nonfinite` those that held an infinity;
    `duplicates` are earlier values of keys that a row written as JSON repeats. `place` is
    its number among the rows it was read with.
    """

    table: str
    values: dict[str, Any]
    escaped: list[str] = field(default_factory=list)
    nonfinite: list[str] = field(default_factory=list)
    duplicates: dict[str, list[Any]] = field(default_factory=dict)
    place: int = 0
    _sha256: str = ""

    @property
    def sha256(self) -> str:
        """The digest of the row's canonical projection: the table's name and every value that is not null."""
        if not self._sha256:
            self._sha256 = hashlib.sha256(dumps([self.table, self.values])).hexdigest()
        return self._sha256


class _Mended(str):
    """Text whose bytes were no UTF-8."""

    __slots__ = ()


def rows(
    connection: sqlite3.Connection, table: str, query: str, given: Sequence[object] = ()
) -> Iterator[TableRow]:
    """Yield what a query of one table returns, in order."""
    connection.text_factory = _text
    cursor = connection.execute(query, [None if isinstance(one, dict) else one for one in given])
    names = [column[0] for column in cursor.description]
    for place, values in enumerate(cursor):
        row = TableRow(table, {}, place=place)
        for name, value in zip(names, values, strict=True):
            if value is not None:
                row.values[name] = _plain(name, value, row)
        yield row


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _Mended(_OTHER.sub(_escape(raw), raw.decode("utf-8", "surrogateescape")))


def _escape(raw: bytes) -> Callable[[re.Match[str]], str]:
    """Return how to write bytes that are no UTF-8: in JSON a backslash is one only when it is doubled."""
    slash = "\\"
    if raw.lstrip()[:1] in (b"{", b"["):
        with suppress(ValueError, RecursionError):
            tolerant(raw)
            slash = "\\\\"
    return lambda found: f"{slash}x{ord(found[0]) - 0xDC00:02x}"


def _plain(name: str, value: Any, row: TableRow) -> Any:
    if type(value) is _Mended:
        row.escaped.append(name)
        return str(value)
    if type(value) is float and not math.isfinite(value):
        row.nonfinite.append(name)
        return "inf" if value > 0 else "-inf"
    if type(value) is bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    return value


def digest(parts: Iterable[str]) -> str:
    """Return the identity of a unit: the digest of its rows' digests, in order (importer decision J5)."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
