"""Value numbers: equal values of a class share one number, and no value is kept.

A value is remembered as a keyed HMAC only. Without the key the rows say nothing: a plain digest of a
telephone number is undone in seconds.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple


class NumberRow(NamedTuple):
    """One remembered value: its class, the hex HMAC-SHA-256 of class and value, its number from 1."""

    cls: str
    mac: str
    n: int


class Numbering:
    """Numbers values by first appearance within their class.

    `key` is private to a store, a review or a run; `rows` is the state of an earlier numbering with that key.
    """

    def __init__(self, key: bytes, rows: Iterable[NumberRow | tuple[str, str, int]] = ()) -> None:
        self._key = key
        self._numbers: dict[tuple[str, str], int] = {}
        self._last: dict[str, int] = {}
        self.add(rows)

    def number(self, cls: str, value: str) -> int:
        """Return the number of `value` in its class, a new one at its first appearance."""
        message = cls.encode() + b"\0" + value.encode("utf-8", "surrogatepass")
        mac = hmac.digest(self._key, message, hashlib.sha256).hex()
        n = self._numbers.get((cls, mac))
        if n is None:
            n = self._numbers[cls, mac] = self._last[cls] = self._last.get(cls, 0) + 1
        return n

    def __len__(self) -> int:
        return len(self._numbers)

    def rows(self) -> Iterator[NumberRow]:
        """Yield the state, in order of first appearance; given to a new `Numbering` it goes on from there."""
        for (cls, mac), n in self._numbers.items():
            yield NumberRow(cls, mac, n)

    def since(self, known: int) -> list[NumberRow]:
        """Return the values numbered after the first `known`."""
        return list(islice(self.rows(), known, None))

    def add(self, rows: Iterable[NumberRow | tuple[str, str, int]]) -> None:
        """Take over values that a numbering of the same key and state has numbered."""
        for cls, mac, n in rows:
            self._numbers[cls, mac] = n
            self._last[cls] = max(n, self._last.get(cls, 0))

    def forget_since(self, known: int) -> None:
        """Forget the values numbered after the first `known`."""
        while len(self._numbers) > known:
            (cls, _), n = self._numbers.popitem()
            self._last[cls] = n - 1
