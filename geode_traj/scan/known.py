"""Values and names known beforehand: the exporting user's own secrets, and who is met in a transcript.

They are matched exactly, in every view, and are never stored. A known secret beats every pattern. Names are
whole words only, and short or common words are none: replacing them everywhere would ruin a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import re2

from geode_traj.scan import plausible
from geode_traj.scan.matching import Span
from geode_traj.scan.rules import options

VALUE: Final = "known_value"
USER: Final = "user_name"
HOST: Final = "host_name"
LEAST: Final = 6
"""A shorter value is refused: it would stand in too many words by chance."""

MAX_VALUES: Final = 1000
MAX_CHARACTERS: Final = 1 << 18
"""More values, or longer ones together, are no list of one person's secrets."""

_LINE = re.compile(r"(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_.-]*[ \t]*=[ \t]*(.*)", re.DOTALL)
_SECRET_NAME = re.compile(
    r"pass|pwd|secret|token|key|credential|auth|cookie|dsn|(?:^|_)(?:pat|pin)(?:$|_)|connection|webhook|private",
    re.IGNORECASE,
)
_COMMON: Final = frozenset("true false none null production development localhost default enabled".split())


@dataclass(frozen=True)
class Known:
    """What is looked for by itself: secrets, and the names of users and hosts."""

    values: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    _matchers: tuple[tuple[str, Any], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        matchers = (
            (cls, _compiled(some, whole=cls != VALUE))
            for cls, some in ((VALUE, self.values), (USER, self.users), (HOST, self.hosts))
            if some
        )
        object.__setattr__(self, "_matchers", tuple(matchers))

    def __bool__(self) -> bool:
        return bool(self._matchers)

    def __repr__(self) -> str:
        return f"Known({len(self.values)} values, {len(self.users)} users, {len(self.hosts)} hosts)"

    def find(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Yield the byte spans of what is known in the UTF-8 of a text, with their class."""
        for cls, matcher in self._matchers:
            for match in matcher.finditer(data):
                yield *match.span(1), cls

    def triggers(self) -> Iterator[bytes]:
        """Yield filter patterns for the values, as they stand in JSON at any level of escaping."""
        for value in sorted(self.values):
            yield b"".join(map(_escaped, value))


def span(start: int, end: int, cls: str, text: str) -> Span:
    """Return the finding of a known value or name."""
    if cls == VALUE:
        return Span(start, end, cls, cls, "high", text[start:end], vague=-1)
    return Span(
        start, end, f"learned_{cls.partition('_')[0]}", cls, "review", text[start:end].lower(), vague=1
    )


def usable(value: str) -> bool:
    """Tell whether a value can be looked for without being found everywhere."""
    return len(value) >= LEAST and value.lower() not in _COMMON and len(set(value)) > 2


def of_environment(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the secrets of an environment: values whose name says so, and credentials inside addresses."""
    found = set()
    for name, value in environment.items():
        if "://" in value and "@" in value:
            found.add(value.partition("://")[2].rpartition("@")[0].partition(":")[2])
        elif _SECRET_NAME.search(name) and not value.startswith(("/", "~", ".")):
            found.add(value)
    return frozenset(value for value in found if usable(value) and not plausible.placeholder(value))


def of_lines(text: str) -> tuple[frozenset[str], int]:
    """Return the secrets in a file, one a line, alone or as `NAME=value`; how many can not be used."""
    values = set()
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            continue
        named = _LINE.fullmatch(line)
        value = (named.group(1) if named else line).strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values.add(value)
    good = frozenset(filter(usable, values))
    return good, len(values) - len(good)


def _compiled(values: Iterable[str], *, whole: bool) -> Any:
    # Longest first: where one value begins another, the longer is meant.
    ordered = sorted(values, key=lambda value: (-len(value), value))
    joined = b"|".join(re.escape(value.encode("utf-8", "surrogatepass")) for value in ordered)
    if not whole:
        return re2.compile(b"(" + joined + b")", options(captures=True))
    return re2.compile(
        rb"(?i)(?:^|[^A-Za-z0-9\x80-\xff])(" + joined + rb")(?:[^A-Za-z0-9\x80-\xff]|$)",
        options(captures=True),
    )


def _escaped(char: str) -> bytes:
    if char in '"\\/':
        return rb"\\*" + re.escape(char.encode())
    if char < " ":
        return rb"(?:[\x00-\x1f]|\\+(?:[bfnrt]|u00[01][0-9A-Fa-f]))"
    plain = re.escape(char.encode("utf-8", "surrogatepass"))
    if char.isascii():
        return plain
    units = re.findall(r"\\u(....)", json.dumps(char))
    return rb"(?:" + plain + rb"|" + b"".join(rb"\\+u(?i:%s)" % unit.encode() for unit in units) + rb")"
