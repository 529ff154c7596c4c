"""The packaged JSON schemas: the verdict from one engine, the explanation from another.

`jsonschema-rs` says whether a value fits, fast enough to ask about every event; `jsonschema` says what is
wrong, in messages that never quote the value. A property test holds the two to one verdict. `format` is an
annotation for both: times are judged by checks that parse them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from geode_traj.codec import pointer
from geode_traj.errors import WorldError

_SUFFIX: Final = ".schema.json"
_FOLDER: Final = Path(__file__).parents[1] / "schemas"
_MAX_WANT: Final = 200

Verdict = Callable[[object], bool]


@cache
def names() -> tuple[str, ...]:
    """Return the ids of all packaged schemas, sorted: `geode.trajectory@1` and so on."""
    found = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


def load(name: str) -> dict[str, Any]:
    """Return a fresh copy of one schema document; raise `WorldError` TE105 for a name not packaged."""
    if name not in names():
        raise WorldError("TE105", name=name)
    document: dict[str, Any] = json.loads(_FOLDER.joinpath(name + _SUFFIX).read_text(encoding="utf-8"))
    return document


@cache
def validator(name: str, part: str | None = None) -> Verdict:
    """Return the compiled yes-or-no of one schema, or of its `$defs` entry `part`: for asking many times.

    Raises `WorldError` TE105 for an unknown name or part.
    """
    import jsonschema_rs

    fits: Verdict = jsonschema_rs.Draft202012Validator(_schema(name, part), validate_formats=False).is_valid

    def verdict(value: object) -> bool:
        try:
            return fits(value)
        except (ValueError, OverflowError):  # lone surrogates, or numbers past what the engine holds
            return next(_explain(name, part, value), None) is None

    return verdict


def is_valid(name: str, value: object, *, part: str | None = None) -> bool:
    """Whether a JSON value fits a schema, or its `$defs` entry `part`; raise `WorldError` TE105 as `load`."""
    return validator(name, part)(value)


def problems(name: str, value: object, *, part: str | None = None, limit: int = 50) -> list[tuple[str, str]]:
    """Return the first `limit` violations as (JSON pointer, message), in the order of their places.

    Messages are short and speak of the schema alone, never of the value; a pointer holds the value's own
    keys. Empty exactly where `is_valid` is true.
    """
    found = sorted(islice(_explain(name, part, value), limit), key=lambda error: _order(error[0]))
    return [(pointer.join(path), message) for path, message in found]


def _schema(name: str, part: str | None) -> dict[str, Any]:
    schema = load(name)
    if part is None:
        return schema
    if part not in schema.get("$defs", {}):
        raise WorldError("TE105", name=f"{name}#{part}")
    return {"$schema": schema["$schema"], "$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}


def _explain(name: str, part: str | None, value: object) -> Iterator[tuple[list[str | int], str]]:
    for error in _explainer(name, part).iter_errors(value):
        yield list(error.absolute_path), error.message


def _order(path: list[str | int]) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


@cache
def _explainer(name: str, part: str | None) -> Any:
    """Return a `jsonschema` validator whose keywords are ours where its own would quote the value."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # Tuples and numbers as the other engine has them.
    types = Draft202012Validator.TYPE_CHECKER.redefine_many({"array": _is_array, "number": _is_number})
    keywords = {
        "type": _type,
        "required": _required,
        "additionalProperties": _additional,
        **{keyword: _leaf(*row) for keyword, row in _LEAVES.items()},
    }
    explaining: Any = extend(Draft202012Validator, keywords, type_checker=types)  # type: ignore[no-untyped-call]
    return explaining(_schema(name, part))


def _is_array(_: object, value: object) -> bool:
    return isinstance(value, list | tuple)


def _is_number(_: object, value: object) -> bool:
    return math.isfinite(value) if isinstance(value, float) else type(value) is int


def _same(want: object, value: object) -> bool:
    """JSON equality for the scalars that our schemas name: 1 is 1.0, but it is not true."""
    return isinstance(want, bool) == isinstance(value, bool) and want == value


def _matches(want: str, value: str) -> bool:
    # In the schema language `$` is the end of the text; Python's also stands before a last line end.
    return re.search(want.replace("$", r"\Z"), value) is not None


def _unique(_: object, value: list[object]) -> bool:
    # Texts only, in linear time: what is no text is refused by the `items` beside it.
    texts = [item for item in value if isinstance(item, str)]
    return len(set(texts)) == len(texts)


_Holds = Callable[[Any, Any], bool]
_Rule = Callable[[Any, Any, Any, Any], Iterator[Any]]

# keyword -> the JSON type it concerns ("" for all), whether it holds, the message.
_LEAVES: Final[dict[str, tuple[str, _Holds, str]]] = {
    "const": ("", _same, "is not {}"),
    "enum": ("", lambda want, value: any(_same(each, value) for each in want), "is none of {}"),
    "minLength": ("string", lambda want, value: len(value) >= want, "is shorter than {} character(s)"),
    "maxLength": ("string", lambda want, value: len(value) <= want, "is longer than {} characters"),
    "pattern": ("string", _matches, "does not match {}"),
    "minimum": ("number", lambda want, value: value >= want, "is less than {}"),
    "maximum": ("number", lambda want, value: value <= want, "is more than {}"),
    "minItems": ("array", lambda want, value: len(value) >= want, "has fewer than {} item(s)"),
    "maxItems": ("array", lambda want, value: len(value) <= want, "has more than {} item(s)"),
    "uniqueItems": ("array", _unique, "holds an item twice"),
}


def _leaf(concerns: str, holds: _Holds, template: str) -> _Rule:
    def rule(validator: Any, want: Any, value: Any, _schema: Any) -> Iterator[Any]:
        if (not concerns or validator.is_type(value, concerns)) and not holds(want, value):
            yield _violation(template.format(_shown(want)))

    return rule


def _type(validator: Any, want: Any, value: Any, _schema: Any) -> Iterator[Any]:
    kinds = [want] if isinstance(want, str) else want
    if not any(validator.is_type(value, kind) for kind in kinds):
        yield _violation(f"is not of type {' or '.join(kinds)}")


def _required(validator: Any, want: Any, value: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(value, "object"):
        for key in want:
            if key not in value:
                yield _violation(f"lacks the required key '{key}'")


def _additional(validator: Any, want: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    extras = [key for key in value if key not in schema.get("properties", {})]
    if want is False:
        if extras:
            yield _violation(f"has {len(extras)} key(s) that are not allowed")
        return
    for key in sorted(extras, key=str):  # so that a limit keeps the same ones, however the keys stood
        yield from validator.descend(value[key], want, path=key)


def _violation(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


def _shown(want: object) -> str:
    text = want if isinstance(want, str) else json.dumps(want)
    return text if len(text) <= _MAX_WANT else text[:_MAX_WANT] + "…"
