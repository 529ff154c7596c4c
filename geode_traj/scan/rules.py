"""What a rule is, and the table of all of them.

A rule is a row: a pattern with a group around the secret, and a *trigger*, a weaker pattern without left
bounds that also matches wherever the text stands inside JSON, however often escaped. The triggers of all
rules form the one filter that lets clean text pass at the speed of memory.

Patterns run on the UTF-8 bytes of a text, one byte a character for re2 (its Latin-1 mode): so lone surrogates
and broken sequences are matched like anything else. re2 keeps every rule linear.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

import re2

from geode_traj.scan import plausible, table

Band = Literal["high", "review", "note"]
Profile = Literal["import", "publish"]
Parts = tuple[str, ...]

VERSION: Final = "4"
"""Raised whenever a row, a check or a view changes what is found; reports name it with the digest."""

EDGE: Final = rb"(?:^|[^A-Za-z0-9])"
"""Before a token: not in the middle of a word. Looser than `\\b`, for which `_` is part of a word."""

GAP: Final = rb"(?:[ \t\r\n]|\\+[nrt]|\\+u00[01][0-9A-Fa-f])"
"""In a trigger: white space, or what JSON makes of it, any number of times over."""

CLOSERS: Final = rb"""(?:[\\"'`\]) \tt]|\\u00[012][0-9A-Fa-f])*"""
"""In a trigger: what may stand between a name and its `=` or `:`, escaped or not (`t` is a tab's)."""

_TRIGGER_BODY: Final = 10


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table.

    `pattern` has one group or several, of which the one that took part is the secret. `accept(secret,
    match)` refuses what only looks like one. `nested`: refused prose is searched again from its start,
    since quotes may hold another match; what holds no white space is not, or `a=a=a=…` would take quadratic
    time. `within`: gives the secrets in what the pattern matches, which is ASCII. `until`: the secret goes
    on to the end of that pattern's next match, or of the text. `vague`: how little the rule knows of what it
    finds (0 a vendor's token, 1 a known place, 2 only a name); where several rules find the same characters
    the least vague one names them. Examples are tuples of parts, joined only by tests, so that nothing that
    looks like a secret is stored: (before, *secret, after).
    """

    id: str
    cls: str
    pattern: bytes
    trigger: bytes
    examples: tuple[Parts, ...]
    misses: tuple[Parts, ...] = ()
    band: Band = "high"
    profiles: tuple[Profile, ...] = ("import", "publish")
    accept: Callable[[str, str], bool] | None = None
    sure: Callable[[str], bool] | None = None
    within: Callable[[str], Iterator[tuple[int, int]]] | None = None
    nested: bool = False
    until: bytes = b""
    vague: int = 0

    def matcher(self) -> Any:
        """Return the compiled pattern."""
        return _compile(self.pattern)

    def groups(self) -> int:
        """Return how many groups the pattern has."""
        return _groups(self.pattern)

    def closer(self) -> Any:
        """Return the compiled `until`, None without one."""
        return _compile(self.until) if self.until else None

    def to_json(self) -> dict[str, object]:
        """Return what decides about findings: the part of the row that the digest covers."""
        return {
            "id": self.id,
            "class": self.cls,
            "pattern": self.pattern.decode("latin-1"),
            "trigger": self.trigger.decode("latin-1"),
            "band": self.band,
            "profiles": list(self.profiles),
            "accept": self.accept.__name__ if self.accept else None,
            "sure": self.sure.__name__ if self.sure else None,
            "within": self.within.__name__ if self.within else None,
            "nested": self.nested,
            "until": self.until.decode("latin-1"),
            "vague": self.vague,
        }


def token(
    name: str,
    prefix: bytes,
    body: bytes,
    least: int,
    *sample: str,
    cls: str = "",
    edge: bytes = EDGE,
    trigger: bytes = b"",
    accept: Callable[[str, str], bool] | None = None,
    sure: Callable[[str], bool] | None = None,
    misses: tuple[Parts, ...] = (),
) -> Rule:
    """Return the row of a token: `prefix`, then at least `least` characters of the class `body`, greedily.

    A prefix that begins with a class needs a `trigger` that does not: counting it through all text is slow.
    Unless told otherwise, one with a left `edge` must look issued; of the others the gate classes find as
    much. `sample` is the parts of one whole token. There is no right bound: a token is taken as far as it
    goes.
    """
    escaped = rb"[\\" + body[1:] if b"/" in body else body  # JSON may write / as \/
    return Rule(
        id=name,
        cls=cls or name,
        pattern=edge + b"(" + prefix + body + b"{%d,})" % least,
        trigger=trigger or prefix + escaped + b"{%d}" % min(least, _TRIGGER_BODY),
        examples=(("", *sample, ""), ("see ", *sample, " there")),
        misses=misses,
        accept=accept or (plausible.issued if edge else None),
        sure=sure,
    )


@dataclass(frozen=True)
class Ruleset:
    """An ordered set of rules with a version and a digest that names exactly these rows."""

    rules: tuple[Rule, ...]
    version: str = VERSION
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        rows = [self.version, *(rule.to_json() for rule in self.rules)]
        text = json.dumps(rows, sort_keys=True, separators=(",", ":"))
        object.__setattr__(self, "digest", hashlib.sha256(text.encode()).hexdigest())

    @property
    def name(self) -> str:
        """The version and the head of the digest, as reports name a ruleset."""
        return f"{self.version}+{self.digest[:12]}"

    def of(self, profile: Profile) -> tuple[Rule, ...]:
        """Return the rules of one profile, in table order."""
        return tuple(rule for rule in self.rules if profile in rule.profiles)


@cache
def packaged() -> Ruleset:
    """Return the rules of every module under `scan.table`, ordered by id."""
    rows: list[Rule] = []
    for module in pkgutil.iter_modules(table.__path__):
        rows.extend(importlib.import_module(f"{table.__name__}.{module.name}").RULES)
    return Ruleset(tuple(sorted(rows, key=lambda rule: rule.id)))


def options(*, captures: bool) -> Any:
    """Return the re2 options of this room: bytes, quiet, with room for the automaton of the whole filter."""
    chosen = re2.Options()
    chosen.encoding = re2.Options.Encoding.LATIN1
    chosen.log_errors = False
    chosen.never_capture = not captures
    chosen.max_mem = (8 if captures else 64) << 20
    return chosen


@cache
def _compile(pattern: bytes) -> Any:
    return re2.compile(pattern, options(captures=True))


@cache
def _groups(pattern: bytes) -> int:
    return int(_compile(pattern).groups)
