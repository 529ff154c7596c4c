"""The compact JSON of the record contract, as bytes.

It equals `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`, the form over which
GEODE computes every digest. orjson writes it several times faster but formats exponents differently, writes
NaN as null and knows no integers beyond 64 bits; its output is used only where the two must agree.
"""

from __future__ import annotations

import json
from typing import Any, Final

import orjson

_SCALARS: Final = (int, float, str, type(None))


def dumps(value: object, *, plain: bool = False) -> bytes:
    """Return the canonical bytes of a JSON value; NaN and lone surrogates must not be in it.

    `plain` spares the look at its floats, where the caller has found all of them plain (`is_plain`).
    """
    if isinstance(value, _SCALARS) or (not plain and _floats_differ(value)):
        return _slow(value)
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer beyond 64 bits, or nesting beyond orjson's limit
        return _slow(value)


def _slow(value: object) -> bytes:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def is_plain(number: float) -> bool:
    """Tell whether both writers write a float alike: it is finite and needs no exponent."""
    return 1e-4 <= number < 1e16 or -1e16 < number <= -1e-4 or number == 0


def _floats_differ(value: Any) -> bool:
    """Tell whether a float is written with an exponent by one writer, or is not finite."""
    containers: list[Any] = [[value]]
    for container in containers:  # it grows while it is walked
        for item in container.values() if type(container) is dict else container:
            kind = type(item)  # exact types only, several times as fast as isinstance; this runs per event
            if kind is str:
                continue
            if kind is dict or kind is list:
                containers.append(item)
            elif kind is float and not is_plain(item):
                return True
    return False
