"""Checks of a release: one decorated function each, whose docstring is its help page.

A check sees all facts and yields hits. Each judges one thing, and stays silent where what it needs is missing
or another check's matter: so one fault gives one code. Checks are found by scanning `release.check.rules`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from geode_traj.codec.text import neutralise
from geode_traj.errors import EXIT_INTEGRITY
from geode_traj.model.finding import Finding, Place, Severity
from geode_traj.release.check import rules
from geode_traj.release.check.facts import Facts

PER_CODE = 100
"""Findings of one code that are listed; a note says how many more there were."""


class Hit(NamedTuple):
    """One thing that is not as it should be: what, in which file, where in it."""

    message: str
    file: str | None = None
    pointer: str | None = None


Judge = Callable[[Facts], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Check:
    """A registered check; `geode` says that it also holds for a bare GEODE folder."""

    code: str
    severity: Severity
    exit_code: int
    geode: bool
    title: str
    page: str
    hint: str
    judge: Judge

    def findings(self, facts: Facts) -> list[Finding]:
        """Return what the check has to say, at most `PER_CODE` findings and a note."""
        found: list[Finding] = []
        more = 0
        for hit in self.judge(facts):
            if len(found) == PER_CODE:
                more += 1
                continue
            # Names on disk and in lists are hostile text, and may not even be writable as UTF-8.
            place = Place(
                neutralise(hit.file) if hit.file else None,
                pointer=neutralise(hit.pointer) if hit.pointer else None,
            )
            found.append(Finding(self.code, self.severity, neutralise(hit.message), place, hint=self.hint))
        if more:
            found.append(Finding(self.code, "note", f"{more} more finding(s) of {self.code} are not listed"))
        return found


_REGISTERED: dict[str, Check] = {}


def release_check(
    code: str,
    hint: str,
    *,
    severity: Severity = "error",
    exit_code: int = EXIT_INTEGRITY,
    geode: bool = False,
) -> Callable[[Judge], Judge]:
    """Register a check under its code."""

    def register(judge: Judge) -> Judge:
        page = (judge.__doc__ or "").strip()
        if code in _REGISTERED or not page:
            raise RuntimeError(f"check {code} is registered twice or has no page")
        _REGISTERED[code] = Check(code, severity, exit_code, geode, page.split("\n", 1)[0], page, hint, judge)
        return judge

    return register


@cache
def all_checks() -> dict[str, Check]:
    """Return every check by code, in order of codes."""
    for module in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"{rules.__name__}.{module.name}")
    return dict(sorted(_REGISTERED.items()))
