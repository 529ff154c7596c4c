"""Secrets made at run time, and ways to hide them in text and JSON; no literal here looks like a secret."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st

from geode_traj.scan.engine import Scanner
from geode_traj.scan.leaves import child_name
from geode_traj.scan.matching import Span
from geode_traj.scan.rules import Profile, Rule, packaged

GITHUB = "gh" + "p_" + "a1B2" * 9
OPENAI = "sk-" + "proj-" + "a1B2" * 12
SUPABASE = "sb_" + "secret_" + "a1B2" * 8
AWS = "AK" + "IA" + "A1B2" * 4


@cache
def scanner(profile: Profile) -> Scanner:
    return Scanner(profile)


def find(text: str, profile: Profile) -> list[Span]:
    return scanner(profile).find(text)


def may_match(encoded: bytes) -> bool:
    return scanner("import").may_match(encoded)


def leaves(value: object, name: str = "") -> Iterator[tuple[str, str, bool]]:
    """Every string with the name it goes by, and whether it is a key (which goes by none)."""
    if isinstance(value, str):
        yield name, value, False
    elif isinstance(value, dict):
        for key, child in value.items():
            yield "", key, True
            yield from leaves(child, child_name(key, name))
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, name)


def joined(parts: tuple[str, ...]) -> str:
    return "".join(parts)


def secret_of(parts: tuple[str, ...]) -> str:
    return "".join(parts[1:-1])


def span_of(parts: tuple[str, ...]) -> tuple[int, int]:
    return len(parts[0]), len(parts[0]) + len(secret_of(parts))


IMPORT_EXAMPLES: list[tuple[Rule, tuple[str, ...]]] = [
    (rule, parts) for rule in packaged().of("import") for parts in rule.examples
]


def inside_json(text: str) -> str:
    return json.dumps({"note": text}, ensure_ascii=False)


def escaped(text: str) -> str:
    """Every character as a JSON escape."""
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in text)


WORDS = st.text(
    alphabet=string.ascii_letters + string.digits + " \n\t\"\\/'=:-_.@{}[]<>é비😀\x1b", max_size=40
)
WRAPPINGS = st.sampled_from([str, str, inside_json, lambda text: inside_json(inside_json(text)), escaped])


@st.composite
def planted_text(draw: st.DrawFn) -> str:
    _, parts = draw(st.sampled_from(IMPORT_EXAMPLES))
    wrap = draw(WRAPPINGS)
    return draw(WORDS) + draw(st.sampled_from(["", " ", "\n", '"'])) + wrap(joined(parts)) + draw(WORDS)


PIECES = st.sampled_from(
    [
        "[REDACTED]", "<REDACTED>", "[REDACTED:github_token:1]", "[REDACTED:password_value:12]",
        "/home/REDACTED", "/home/",
        "/home/demo", "C:\\Users\\demo", "c:\\\\users\\\\", "-Users-demo-", "%2Fhome%2Fdemo",
        "demo@example.org", "@",
        "?token=", "&secret=", "password: ", '"token": "', 'password="', "Cookie: a=",
        "Authorization: Bearer ",
        "https://demo:", "sk-", "eyJ", "-----BEGIN RSA PRIV" + "ATE KEY-----\n", "a1B2c3D4" * 3, " ",
        "\n", "\\n", '"', "/",
        "93.184" + ".216.34",
    ]
)  # fmt: skip
TEXTS = st.one_of(
    WORDS, planted_text(), st.lists(st.one_of(PIECES, planted_text(), WORDS), max_size=6).map("".join)
)
KEYS = st.one_of(
    WORDS,
    st.sampled_from(
        ["token", "Headers", "API_KEY", "to\u212aen", "db_password", "clientSecret", "Set-Cookie", "x"]
    ),
    planted_text(),
)
VALUES = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers(-9, 10**9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)

EVERY_PLACE = [
    lambda s: {"summary": f"used {s} here"},
    lambda s: {"title": s},
    lambda s: {"message": {"content": [{"type": "thinking", "thinking": f"I see {s}"}]}},
    lambda s: {"input": {s: 1}},
    lambda s: {"toolUseResult": {"stdout": f"A\n{s}\nB", "files": [f"/srv/{s}/x"]}},
    lambda s: {"gitBranch": f"fix/{s}", "hostname": f"{s}.example.org"},
    lambda s: {"arguments": '{"command": "echo ' + s + '"}'},
    lambda s: ["\n" + s, None],
    lambda s: f"\t{s}\n",
]
