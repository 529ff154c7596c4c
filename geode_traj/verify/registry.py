"""Checks: one decorated function each, whose docstring is its help page.

An event check sees well-formed events in order: all of them, those of some kinds, or those with a sign of
what it looks for (`verify.look`). A file check runs once, after the last event. Both get the facts counted so
far and yield hits; the decorator gives code, severity and the version of the ruleset that the check came
with. An engine check is only a page: the engine tells it, since it comes before there are facts. Checks are
found by scanning `verify.checks`: there is no list to edit.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

from geode_traj.model.finding import Place, Severity
from geode_traj.verify import checks
from geode_traj.verify.facts import EventView, Facts

NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True)
class Hit:
    """One violation: a message free of payload text, and where."""

    message: str
    place: Place = NOWHERE
    related: tuple[Place, ...] = ()


EventCheck = Callable[[Facts, EventView], Iterable[Hit]]
FileCheck = Callable[[Facts], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Check:
    """A registered check: its code, severity, title (first line), page (the docstring) and hint.

    `since` is the version of the ruleset it came with. `kinds` and `sign` say which events an event check
    has to see: None and 0 for all.
    """

    code: str
    severity: Severity
    title: str
    page: str
    hint: str
    since: str
    on_event: EventCheck | None = None
    on_file: FileCheck | None = None
    kinds: frozenset[str] | None = None
    sign: int = 0


_REGISTERED: dict[str, Check] = {}
_E = TypeVar("_E", bound=EventCheck)
_F = TypeVar("_F", bound=FileCheck)
_P = TypeVar("_P", bound=Callable[[], None])


def event_check(
    code: str,
    severity: Severity,
    hint: str = "",
    *,
    since: str = "1",
    kinds: frozenset[str] | None = None,
    sign: int = 0,
) -> Callable[[_E], _E]:
    """Register a check of single events: of `kinds`, with `sign`, or of all."""

    def register(function: _E) -> _E:
        _add(function, code, severity, hint, since, on_event=function, kinds=kinds, sign=sign)
        return function

    return register


def file_check(code: str, severity: Severity, hint: str = "", *, since: str = "1") -> Callable[[_F], _F]:
    """Register a check of the whole file."""

    def register(function: _F) -> _F:
        _add(function, code, severity, hint, since, on_file=function)
        return function

    return register


def engine_check(code: str, severity: Severity, hint: str = "", *, since: str = "1") -> Callable[[_P], _P]:
    """Register the page of what the engine itself tells."""

    def register(function: _P) -> _P:
        _add(function, code, severity, hint, since)
        return function

    return register


def _add(
    function: Callable[..., object], code: str, severity: Severity, hint: str, since: str, **how: Any
) -> None:
    page = (function.__doc__ or "").strip()
    if code in _REGISTERED or not page:
        raise RuntimeError(f"check {code} is registered twice or has no page")
    _REGISTERED[code] = Check(code, severity, page.split("\n", 1)[0], page, hint, since, **how)


@cache
def all_checks() -> dict[str, Check]:
    """Return every check by code, in order of code number."""
    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return dict(sorted(_REGISTERED.items(), key=lambda item: int(item[0][2:])))
