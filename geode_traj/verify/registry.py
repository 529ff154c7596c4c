"""Checks: one decorated function each, whose docstring is its help page.

An event check sees every well-formed event in order; a file check runs once, after the last event. Both get
the facts counted so far and yield hits; the decorator gives code and severity. Checks are found by scanning
`verify.checks`: there is no list to edit.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeVar

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
    """A registered check: its code, severity, title (first line) and page (the docstring)."""

    code: str
    severity: Severity
    title: str
    page: str
    hint: str
    on_event: EventCheck | None = None
    on_file: FileCheck | None = None


_REGISTERED: dict[str, Check] = {}
_E = TypeVar("_E", bound=EventCheck)
_F = TypeVar("_F", bound=FileCheck)


def event_check(code: str, severity: Severity, hint: str = "") -> Callable[[_E], _E]:
    """Register a check of single events."""

    def register(function: _E) -> _E:
        _add(Check(code, severity, *_page(function), hint, on_event=function))
        return function

    return register


def file_check(code: str, severity: Severity, hint: str = "") -> Callable[[_F], _F]:
    """Register a check of the whole file."""

    def register(function: _F) -> _F:
        _add(Check(code, severity, *_page(function), hint, on_file=function))
        return function

    return register


def _page(function: Callable[..., object]) -> tuple[str, str]:
    page = (function.__doc__ or "").strip()
    return page.split("\n", 1)[0], page


def _add(check: Check) -> None:
    if check.code in _REGISTERED or not check.page:
        raise RuntimeError(f"check {check.code} is registered twice or has no page")
    _REGISTERED[check.code] = check


@cache
def all_checks() -> dict[str, Check]:
    """Return every check by code, in order of code number."""
    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return dict(sorted(_REGISTERED.items(), key=lambda item: int(item[0][2:])))
