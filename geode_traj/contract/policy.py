"""Review policies (`geode-traj.policy@1`): what becomes of a finding, what a release must say of itself.

A policy is a TOML file. Each setting has an order from loose to strict, so that of two policies it can be
told whether one is anywhere looser than the other: that is how a project's configuration can only tighten,
and how a release refuses a review made under less than what holds now.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

from geode_traj.codec import schema
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.gates import GATE_CLASSES
from geode_traj.errors import WorldError

SCHEMA: Final = "geode-traj.policy@1"
STRICT: Final = "strict"
MAX_FILE: Final = 1 << 20

Treatment = Literal["keep", "person", "two", "redact"]

TREATMENTS: Final[tuple[Treatment, ...]] = ("keep", "person", "two", "redact")
BANDS: Final = ("high", "review", "note")
REASONS: Final = (
    "false-positive",
    "synthetic",
    "already-public",
    "consent",
    "revoked",
)
"""Why something found may be published as it is; a closed list."""

# Table -> setting -> its values from loose to strict; a number is the stricter the higher it is.
_SETTINGS: Final[dict[str, dict[str, tuple[Any, ...] | None]]] = {
    "decisions": {"unattended": ("redact", "ask")},
    "coverage": {"clean_percent": None, "percent": None},
    "release": {"roles": None, "digests": ("plain", "keyed"), "replay_complete": (False, True)},
    "content": {
        "timestamps": ("keep", "shift"),
        "session_ids": ("keep", "pseudonym"),
        "reasoning": ("keep", "drop"),
        "images": ("keep", "drop"),
        "bodies": ("keep", "digest"),
    },
}
# The gate classes of a release, and the values of sensitive keys (record contract §4, §8).
_ALWAYS: Final = frozenset({*GATE_CLASSES, "sensitive_field"})
_KEY: Final = re.compile(r"[a-z0-9_-]{1,128}")
_FOLDER: Final = Path(__file__).parent / "policies"


@dataclass(frozen=True, slots=True)
class Allowed:
    """A finding known to be harmless: its rule, and its pointer inside the event or its keyed digest."""

    rule: str
    reason: str
    pointer: str | None = None
    value: str | None = None

    def to_toml(self) -> bytes:
        """Return the finding's table in a policy file."""
        members = {"rule": self.rule, "pointer": self.pointer, "value": self.value, "reason": self.reason}
        lines = [f"{key} = {_written(value)}" for key, value in members.items() if value is not None]
        return "\n".join(["", "[[allow]]", *lines, ""]).encode()


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy; what a file leaves out is as in the strict one."""

    name: str
    treatments: Mapping[str, Treatment]
    classes: Mapping[str, Treatment] = field(default_factory=dict)
    rules: Mapping[str, Treatment] = field(default_factory=dict)
    allow: tuple[Allowed, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def treatment(self, rule: str, cls: str, band: str) -> Treatment:
        """Return what becomes of a finding; what `_ALWAYS` names is replaced under every policy."""
        if cls in _ALWAYS:
            return "redact"
        return self.rules.get(rule) or self.classes.get(cls) or self.treatments[band]

    def allowed(self, rule: str, cls: str, pointer: str, value: str) -> str | None:
        """Return the reason for which a finding is known to be harmless, None if it is not.

        `pointer` is that inside the event, `value` the keyed digest of what was found.
        """
        if cls in _ALWAYS:
            return None
        for one in self.allow:
            if one.rule == rule and (pointer == one.pointer or value == one.value):
                return one.reason
        return None

    def setting(self, table: str, name: str) -> Any:
        """Return one setting of the tables decisions, coverage, release and content."""
        return self.settings[table][name]

    @property
    def roles(self) -> int:
        """Return how many people sign a release: 2, or 1."""
        return int(self.setting("release", "roles"))

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the policy as written by `to_toml`: equal for policies that say the same."""
        return sha256_bytes(self.to_toml())

    def to_toml(self) -> bytes:
        """Return the whole policy as a TOML file: nothing is left to defaults that may change."""
        tables: dict[str, Mapping[str, Any]] = {
            "bands": self.treatments,
            "classes": self.classes,
            "rules": self.rules,
            **self.settings,
        }
        lines = [f"schema_id = {json.dumps(SCHEMA)}", f"name = {_written(self.name)}"]
        for name, table in tables.items():
            lines += ["", f"[{name}]"]
            lines += [f"{key} = {_written(value)}" for key, value in sorted(table.items())]
        return "\n".join([*lines, ""]).encode() + b"".join(one.to_toml() for one in self.allow)


def packaged(name: str = STRICT) -> Policy:
    """Return a policy that comes with the program; `WorldError` TE105 for a name that none has."""
    return read(source(name), place=f"{name}.toml")


def names() -> tuple[str, ...]:
    """Return the names of the packaged policies, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def source(name: str) -> bytes:
    """Return the file of a packaged policy, comments included; `WorldError` TE105 for no such name."""
    if name not in names():
        raise WorldError("TE105", name=name)
    return _FOLDER.joinpath(f"{name}.toml").read_bytes()


def read(data: bytes, *, place: str) -> Policy:
    """Read a policy file; raise `WorldError` TE103 for what is no policy, saying where.

    What it leaves out is as in the strict one; what it names and nobody knows is refused.
    """
    value = _table(data, place)
    problems = schema.problems(SCHEMA, value)
    if problems:
        pointer, message = problems[0]
        raise WorldError("TE103", path=place, why=f"{pointer or '/'} {message}", place=place)
    base = _strict()
    settings = {table: {**base[table], **value.get(table, {})} for table in _SETTINGS}
    for key in (*value.get("classes", ()), *value.get("rules", ())):
        if not _KEY.fullmatch(key):
            why = "a class or rule is named in lower-case letters, digits, _ and -"
            raise WorldError("TE103", path=place, why=why, place=place)
    for one in value.get("allow", ()):
        if ("pointer" in one) == ("value" in one):
            why = "an allow table needs a pointer or a value, and not both"
            raise WorldError("TE103", path=place, why=why, place=place)
    return Policy(
        value["name"],
        {**base["bands"], **value.get("bands", {})},
        value.get("classes", {}),
        value.get("rules", {}),
        tuple(Allowed(**one) for one in value.get("allow", ())),
        settings,
    )


def looser(policy: Policy, than: Policy) -> list[str]:
    """Return in what a policy is looser than another, in words; empty where it is nowhere."""
    found = [*_looser_treatments(policy, than)]
    found += [f"an allowed finding of the rule {one.rule}" for one in policy.allow if one not in than.allow]
    for table, settings in _SETTINGS.items():
        for name, order in settings.items():
            mine, other = policy.setting(table, name), than.setting(table, name)
            if (order.index(mine) < order.index(other)) if order else mine < other:
                found.append(f"{table}.{name} is {_written(mine)}, not {_written(other)}")
    return found


def _looser_treatments(policy: Policy, than: Policy) -> Iterator[str]:
    rules = ["", *sorted({*policy.rules, *than.rules})]
    classes = ["", *sorted({*policy.classes, *than.classes})]
    for rule, cls, band in product(rules, classes, BANDS):
        mine, other = policy.treatment(rule, cls, band), than.treatment(rule, cls, band)
        if TREATMENTS.index(mine) < TREATMENTS.index(other):
            what = " ".join(part for part in (rule and f"rule {rule}", cls and f"class {cls}") if part)
            yield f"{what or f'band {band}'}: {mine}, not {other}"


@cache
def _strict() -> dict[str, Any]:
    return tomllib.loads(source(STRICT).decode())


def _table(data: bytes, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise WorldError("TE103", path=place, why=str(error), place=place) from None


def _written(value: object) -> str:
    # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
    return json.dumps(value).replace("\x7f", "\\u007f")
