"""What a rule of the contract finds wrong in one record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeGuard

SHAPE: Final = "GT160"
NEVER_KEPT: Final = "GT161"
OVER_BOUND: Final = "GT162"
CONTRADICTION: Final = "GT163"
HASH: Final = "GT550"


class Fault(NamedTuple):
    """One fault: the code of its check, a message free of the record's text, a JSON pointer in the record."""

    code: str
    message: str
    pointer: str = ""


def typed(row: Mapping[str, Any], texts: tuple[str, ...], numbers: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the members of a record that must be texts, or finite numbers, and are not there or are none."""
    for key in texts:
        if not isinstance(row.get(key), str):
            yield Fault(SHAPE, "is not a text" if key in row else "is missing", f"/{key}")
    for key in numbers:
        if not is_number(row.get(key)):
            yield Fault(SHAPE, "is not a finite number" if key in row else "is missing", f"/{key}")


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value: object) -> TypeGuard[int]:
    """Tell whether a value is a whole number from 0."""
    return type(value) is int and value >= 0
