"""Renderers of reports, one a file; each is found by scanning this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

from geode_traj.errors import WorldError
from geode_traj.model.report import Report

Renderer = Callable[[Report], Iterator[str]]


@cache
def names() -> tuple[str, ...]:
    """Return the report formats, sorted."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


def render(report: Report, name: str) -> Iterator[str]:
    """Yield the report's lines in a format; raise `WorldError` TE105 for an unknown one."""
    if name not in names():
        raise WorldError("TE105", name=name)
    renderer: Renderer = importlib.import_module(f"{__name__}.{name}").render
    return renderer(report)
