"""JSON pointers (RFC 6901): joined from steps and split into them, the one place that escapes them.

Whoever walks a value carries a `Trail`, a link to the step before, and joins it only where something is told:
a pointer for each item of a list costs the length of the keys above it each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

MAX_SHOWN: Final = 1000

Step = str | int
Trail = tuple["Trail", Step] | None
"""The steps from the root to a value, the last one first; None is the root."""


def escape(step: str) -> str:
    """Return a key as one reference token."""
    return step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step


def join(steps: Iterable[Step]) -> str:
    """Return the pointer of keys and indices."""
    return "".join(f"/{step}" if isinstance(step, int) else f"/{escape(step)}" for step in steps)


def below(pointer: str, key: str) -> str:
    """Return the pointer of `key` below `pointer`."""
    return f"{pointer}/{escape(key)}"


def split(pointer: str) -> list[str]:
    """Return the steps of a pointer, unescaped; an index is its digits."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def put(value: Any, pointer: str, body: Any) -> None:
    """Replace what stands at `pointer` in place; a pointer that leads nowhere changes nothing."""
    *parents, last = split(pointer)
    for step in parents:
        value = step_into(value, step)
    if isinstance(value, dict) and last in value:
        value[last] = body
    elif isinstance(value, list) and last.isdigit() and int(last) < len(value):
        value[int(last)] = body


def step_into(value: Any, step: str) -> Any:
    """Return what stands one step below a value, None where nothing does."""
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return None


def of(trail: Trail) -> str:
    """Return the pointer of a trail."""
    return join(reversed(list(_upward(trail))))


def shown(trail: Trail) -> str:
    """Return the pointer of a trail for a person to read: cut to `MAX_SHOWN` characters, with an ellipsis."""
    whole = of(trail)
    return whole if len(whole) <= MAX_SHOWN else whole[: MAX_SHOWN - 1] + "…"


def _upward(trail: Trail) -> Iterator[Step]:
    while trail is not None:
        trail, step = trail
        yield step
