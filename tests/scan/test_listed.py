"""What a value lists of its own redactions: believed where true, and moved along with the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import GITHUB, OPENAI, WORDS

from geode_traj.codec.pointer import split
from geode_traj.scan.engine import Scanner
from geode_traj.scan.listed import Listed, placeholder
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redaction, Redactor

MAIL = placeholder("email", 7)


def redactor() -> Redactor:
    return Redactor(Scanner("import"), Numbering(b"k" * 32).number)


def entry(pointer: object, text: str, shown: str = MAIL, **more: object) -> dict[str, object]:
    start = text.index(shown)
    cls, n = ("email", 7) if shown == MAIL else ("sensitive_field", 0)
    return {
        "pointer": pointer, "start": start, "end": start + len(shown), "rule": "gate_email", "class": cls,
        "n": n, **more,
    }  # fmt: skip


def shown(value: Any, one: Redaction) -> str:
    *above, last = split(one.pointer)
    for step in above:
        value = value[int(step)] if isinstance(value, list) else value[step]
    text = last if one.in_key else value[int(last)] if isinstance(value, list) else value[last]
    return text[one.start : one.end]


def test_earlier_redactions_move_with_the_text() -> None:
    text = f"{GITHUB} from {MAIL} and {OPENAI}"
    value = {"a": [text, {f"to {MAIL}": 1}], GITHUB: {"b": f"x {MAIL}"}, "token": "<REDACTED>"}
    entries = [
        entry("/a/0", text),
        entry(["a", "1", f"to {MAIL}"], f"to {MAIL}", in_key=True),
        entry(f"/{GITHUB}/b", f"x {MAIL}"),
        entry("/token", "<REDACTED>", "<REDACTED>"),
    ]
    listed = Listed(value, entries)
    assert listed.rest == []
    new, done = redactor().redact(value, listed)
    assert new["a"][0] == f"[REDACTED:github_token:1] from {MAIL} and [REDACTED:openai_key:1]"
    assert [(shown(new, one), one.cls, one.n) for one in done if one.earlier] == [
        ("<REDACTED>", "sensitive_field", 0),
        (MAIL, "email", 7),
        (MAIL, "email", 7),
        (MAIL, "email", 7),
    ]
    assert {shown(new, one) for one in done if not one.earlier} == {
        "[REDACTED:github_token:1]",
        "[REDACTED:openai_key:1]",
    }
    assert redactor().redact(new, Listed(new, [one.to_json() for one in done]))[0] == new


def test_a_new_number_stands_for_the_old_one() -> None:
    value = {"a": f"{MAIL} {MAIL} [REDACTED:email:8]", "typed": MAIL}
    entries = [entry("/a", value["a"]), {**entry("/a", value["a"]), "start": 19, "end": 37}]
    new, done = redactor().redact(value, Listed(value, entries), renumber=True)
    assert new == {"a": "[REDACTED:email:1] [REDACTED:email:1] [REDACTED:email:8]", "typed": MAIL}
    assert [(one.start, one.n, one.earlier) for one in done] == [(0, 1, True), (19, 1, True)]


def test_what_is_found_around_an_earlier_redaction_takes_its_place() -> None:
    value = {"signature": f"{MAIL}+{GITHUB}+"}
    new, (one,) = redactor().redact(value, Listed(value, [entry("/signature", value["signature"])]))
    assert new == {"signature": "[REDACTED:github_token:1]"} and not one.earlier


@pytest.mark.parametrize(
    "change",
    [
        {"start": 0},
        {"end": 17},
        {"n": 8},
        {"class": "jwt"},
        {"pointer": "/b"},
        {"pointer": "a"},
        {"pointer": ["a", 1]},
        {"pointer": None},
        {"in_key": True},
        {"rule": "a b"},
        {"start": True},
        {"end": 10**9},
    ],
)
def test_what_is_not_there_is_not_believed(change: dict[str, object]) -> None:
    value = {"a": f"x{MAIL}"}
    true = entry("/a", value["a"])
    listed = Listed(value, [{**true, **change}, "odd", None])
    assert listed.rest == [{**true, **change}, "odd", None]
    assert redactor().redact(value, listed) == (value, [])
    assert Listed(value, [true, true]).rest == [true]  # the same place twice


@given(st.lists(st.sampled_from([MAIL, GITHUB, "x", " ", "[REDACTED:email:7"]) | WORDS, max_size=6))
def test_every_earlier_redaction_is_found_again(parts: list[str]) -> None:
    text = " ".join(parts)
    value = {"a": text}
    entries, at = [], text.find(MAIL)
    while at >= 0:
        entries.append({**entry("/a", text), "start": at, "end": at + len(MAIL)})
        at = text.find(MAIL, at + 1)
    new, done = redactor().redact(value, Listed(value, entries))
    assert all(shown(new, one) == (MAIL if one.earlier else f"[REDACTED:{one.cls}:{one.n}]") for one in done)
    assert sum(one.earlier for one in done) == new["a"].count(MAIL)
