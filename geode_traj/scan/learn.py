"""Who is met in a transcript: names of users and hosts from paths, prompts, listings and commits.

A name that stands once in a home path stands elsewhere without one: in a prompt, in a listing, in prose.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any, Final

from geode_traj.codec import schema
from geode_traj.contract.kinds import TRAJECTORY
from geode_traj.scan.known import Known
from geode_traj.scan.leaves import texts

_NAME: Final = r"[A-Za-z][A-Za-z0-9._-]{2,31}"
_PATHS = re.compile(
    rf"(?:/Users/|/home/|[A-Za-z]:[\\/]{{1,4}}Users[\\/]{{1,4}})({_NAME})(?=[\\/\s\"'`:,;)\]}}]|$)",
    re.IGNORECASE,
)
_DASHED = re.compile(r"(?<![A-Za-z0-9])-(?:Users|home)-([A-Za-z][A-Za-z0-9._]{2,31})(?![A-Za-z0-9])")
_PROMPT = re.compile(rf"(?m)^(?:\(\S{{1,40}}\) )?\[?({_NAME})@({_NAME})[: ][^\r\n$#%]{{0,120}}[$#%](?: |$)")
_LISTING = re.compile(rf"(?m)^[bcdlps-][rwxsStT-]{{9}}[.+@]?\s+\d{{1,6}}\s+({_NAME})\s+{_NAME}\s+[\d,]+\s")
_AUTHOR = re.compile(
    r"(?m)^(?:Author|Commit|AuthorDate|Signed-off-by|Co-authored-by):\s+([^<\r\n]{3,64}?)\s+<[^>\r\n]{3,128}>"
)
_SETTINGS = re.compile(rf"(?m)\b(?:USER|LOGNAME|USERNAME|SUDO_USER)=\"?({_NAME})\"?\s*$")
_HOSTS = re.compile(rf"(?m)\b(?:HOSTNAME|HOST|COMPUTERNAME)=\"?({_NAME})\"?\s*$")
_MARKS: Final = (
    "home", "Users", "users", "@", "rw", "Author:", "-by:", "USER", "LOGNAME", "HOST", "COMPUTERNAME"
)  # fmt: skip


_NOBODY: Final = frozenset(
    "redacted root user users admin administrator home shared public default guest runner node app "
    "ubuntu debian centos fedora alpine vagrant docker jenkins circleci travis build builder coder "
    "codespace vscode postgres mysql redis nginx www-data nobody daemon system service staff wheel "
    "sudo games mail news backup git github gitpod openhands sandbox agent assistant claude codex "
    "workspace project projects demo example test tests tester testuser name username your yourname "
    "someone localhost local host server client dev prod staging main master total bot dependabot "
    "runneradmin appuser ec2-user azureuser opc pi runtime container container_id hostname ".split()
)
_WORD = re.compile(r"[a-z]{1,3}|[0-9._-]+")


MAX_NAMES: Final = 4096
"""Names of a kind that are told, the most common ones: where more people are met, it is no transcript."""


class Learner:
    """Collects names while the texts of a transcript go by; memory is one entry a name."""

    def __init__(self) -> None:
        self._users: Counter[str] = Counter()
        self._hosts: Counter[str] = Counter()

    def add(self, other: Learner) -> None:
        """Learn what another one did."""
        self._users.update(other._users)
        self._hosts.update(other._hosts)

    def see(self, text: str) -> None:
        """Learn from one text."""
        if not any(mark in text for mark in _MARKS):
            return
        for pattern in (_PATHS, _DASHED, _LISTING, _AUTHOR, _SETTINGS):
            self._users.update(found.group(1) for found in pattern.finditer(text))
        for found in _PROMPT.finditer(text):
            self._users[found.group(1)] += 1
            self._hosts[found.group(2)] += 1
        self._hosts.update(found.group(1) for found in _HOSTS.finditer(text))

    def read(self, value: object) -> None:
        """Learn from every string and key of a value."""
        for text in texts(value):
            self.see(text)

    def known(self, values: frozenset[str] = frozenset()) -> Known:
        """Return the names that can be told from common words, and `values` beside them."""
        users, hosts = _names(self._users), _names(self._hosts)
        return Known(values, users, hosts - users)


def _names(counted: Counter[str]) -> frozenset[str]:
    names: Counter[str] = Counter()
    for name, count in counted.items():
        names[name.lower().strip(".-_")] += count
    telling = sorted(filter(_telling, names), key=lambda name: (-names[name], name))
    return frozenset(telling[:MAX_NAMES])


def _telling(name: str) -> bool:
    common = name in _NOBODY or name in _own_words()
    return len(name) >= 3 and not common and not _WORD.fullmatch(name)


@cache
def _own_words() -> frozenset[str]:
    """Return the words of which the names of a trajectory's members are made: they stand in every file."""
    names: set[str] = set()
    stack: list[Any] = [schema.load(name) for name in (TRAJECTORY, "geode.session-event@1")]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            names |= item.get("properties", {}).keys()
            stack += item.values()
        elif isinstance(item, list):
            stack += item
    return frozenset(word for name in names for word in (name, *name.split("_")))
