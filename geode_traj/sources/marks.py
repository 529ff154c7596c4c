"""Marks on strings that were mended while reading, so that their places are known wherever they are put."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from geode_traj.codec.pointer import below, split
from geode_traj.codec.reading import Tolerated


class _Marked(str):
    __slots__ = ()


class _Escaped(_Marked):
    __slots__ = ()


class _Nonfinite(_Marked):
    __slots__ = ()


def put(read: Tolerated) -> Any:
    """Mark the mended strings of `read.value` in place; where a key was mended, the key. Return the value."""
    if isinstance(read.value, str):
        return _Escaped(read.value) if read.escaped else read.value
    for pointers, mark in ((read.escaped, _Escaped), (read.nonfinite, _Nonfinite)):
        for pointer in pointers:
            # A pointer may lead into an earlier value of a repeated key, which is kept aside.
            with suppress(KeyError, IndexError, TypeError, ValueError):
                _mark(read.value, pointer, mark)
    return read.value


def _mark(value: Any, pointer: str, mark: type[_Marked]) -> None:
    *steps, last = split(pointer)
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    if isinstance(value, list):
        value[int(last)] = mark(value[int(last)])
    elif isinstance(value[last], str):
        value[last] = mark(value[last])
    else:
        value[mark(last)] = value.pop(last)


def take(payload: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Return the payload without marks, and the pointers of escaped and of non-finite values in it."""
    escaped: list[str] = []
    nonfinite: list[str] = []
    return _taken(payload, "", escaped, nonfinite), tuple(escaped), tuple(nonfinite)


def _taken(value: Any, pointer: str, escaped: list[str], nonfinite: list[str]) -> Any:
    if isinstance(value, dict):
        bare: dict[str, Any] = {}
        for key, item in value.items():
            place = below(pointer, str(key))
            if isinstance(key, _Marked):
                escaped.append(place)
            bare[str(key)] = _taken(item, place, escaped, nonfinite)
        return bare
    if isinstance(value, list):
        return [_taken(item, f"{pointer}/{i}", escaped, nonfinite) for i, item in enumerate(value)]
    if isinstance(value, _Marked):
        (escaped if isinstance(value, _Escaped) else nonfinite).append(pointer)
        return str(value)
    return value
