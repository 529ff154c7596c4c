"""Members of objects as a source wrote them: what is not of the type that is asked for is not there."""

from __future__ import annotations

from typing import Any, TypeGuard


def without(given: dict[str, Any], *placed: str) -> dict[str, Any]:
    """Return the members that are not `placed`."""
    return {key: value for key, value in given.items() if key not in placed}


def member(given: Any, *path: str) -> Any:
    """Return what stands at a path of object keys, None where there is nothing."""
    for key in path:
        given = given.get(key) if isinstance(given, dict) else None
    return given


def word(given: Any, *path: str) -> str:
    """Return the text at a path of object keys, "" where there is none."""
    found = member(given, *path)
    return found if isinstance(found, str) else ""


def number(given: Any, *path: str) -> int | float | None:
    """Return the number at a path of object keys, None where there is none."""
    found = member(given, *path)
    return found if is_number(found) else None


def is_number(value: Any) -> TypeGuard[int | float]:
    """Tell whether a value is a number: true and false are none."""
    return type(value) is int or type(value) is float


def id_text(value: Any) -> str:
    """Return an id as text: a string as it is, an integer in digits, anything else as none."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def text_of(given: dict[str, Any], key: str, rest: dict[str, Any]) -> str:
    """Return a text member; one that is none goes into `rest`."""
    value = given.get(key)
    if isinstance(value, str):
        return value
    if value is not None:
        rest[key] = value
    return ""


def objects(given: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, none for what is no list."""
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def listed(given: Any) -> list[Any]:
    """Return a list as it is, an empty one for what is none."""
    return given if isinstance(given, list) else []
