from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import AWS, EVERY_PLACE, GITHUB, OPENAI, TEXTS, VALUES, WORDS, inside_json, leaves

from geode_traj.codec.canonical import dumps
from geode_traj.codec.pointer import MAX_SHOWN, split
from geode_traj.contract.gates import find_hits
from geode_traj.errors import DataError
from geode_traj.scan.engine import Scanner
from geode_traj.scan.fields import SENSITIVE
from geode_traj.scan.finding import scan_value
from geode_traj.scan.matching import Span
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redaction, Redactor
from geode_traj.scan.rules import Profile

PROFILES: tuple[Profile, ...] = ("import", "publish")
GH1, GH2 = "[REDACTED:github_token:1]", "[REDACTED:github_token:2]"


def redactor(profile: Profile = "import", *keys: str) -> Redactor:
    return Redactor(Scanner(profile, keys), Numbering(b"k" * 32).number)


def at(value: Any, redaction: Redaction) -> str:
    """The characters a redaction names in the redacted value."""
    tokens = split(redaction.pointer)
    for token in tokens[:-1] if redaction.in_key else tokens:
        value = value[int(token)] if isinstance(value, list) else value[token]
    text = tokens[-1] if redaction.in_key else value
    assert isinstance(text, str)
    return text[redaction.start : redaction.end]


@pytest.mark.parametrize("place", EVERY_PLACE)
@pytest.mark.parametrize("secret", [GITHUB, OPENAI, AWS])
def test_secret_goes_from_every_place(place: Any, secret: str) -> None:
    new, redactions = redactor().redact(place(secret))
    assert secret.encode() not in dumps(new)
    assert redactions
    assert all(at(new, one) == f"[REDACTED:{one.cls}:1]" for one in redactions)


@pytest.mark.parametrize("key", ["token", "TOKEN", "Headers", "to\u212aen", "pin", "PIN"])
@pytest.mark.parametrize("value", [None, 5, "x", "", [], {"a": {"b": 1}}])
def test_sensitive_keys_lose_their_value(key: str, value: object) -> None:
    new, redactions = redactor("import", "Pin").redact({"a": {key: value, "other": value}})
    assert new == {"a": {key: "<REDACTED>", "other": value}}
    assert redactions == [Redaction(f"/a/{key}", 0, 10, "sensitive_key", "sensitive_field", 0)]


def test_markers_of_others_stay_and_are_not_ours() -> None:
    value = {"token": "<REDACTED>", "secret": "[REDACTED]", "text": f"[REDACTED] {GH1} {GITHUB}"}
    new, redactions = redactor().redact(value)
    assert new == {**value, "text": f"[REDACTED] {GH1} {GH1}"}
    assert [(one.pointer, one.start, one.n) for one in redactions] == [("/text", 37, 1)]


def test_numbers_follow_the_document_and_last() -> None:
    numbering = Numbering(b"k" * 32)
    other = GITHUB[:-1] + "Z"
    for _ in range(2):
        engine = Redactor(Scanner("import"), numbering.number)
        new, _ = engine.redact({"b": [f"{other} {GITHUB}", {"c": other}], "a": GITHUB})
        assert new == {"b": [f"{GH1} {GH2}", {"c": GH1}], "a": GH2}
        numbering = Numbering(b"k" * 32, numbering.rows())


def test_same_value_has_one_number_in_every_encoding() -> None:
    new, _ = redactor().redact([GITHUB, inside_json(inside_json("\n" + GITHUB)), f'"{GITHUB}"'])
    assert all(GH1 in text for text in new)
    assert json.loads(json.loads(new[1])["note"]) == {"note": f"\n{GH1}"}


def test_keys_that_meet_lose_nothing() -> None:
    other = GITHUB[:-1] + "Z"
    value = {GITHUB: 1, GH1: 2, f"{GH1}#2": 3, other: 4}
    new, redactions = redactor().redact(value)
    assert sorted(new.values()) == [1, 2, 3, 4]
    assert new[GH1] == 2
    assert new[f"{GH1}#2"] == 3
    assert [at(new, one) for one in redactions] == [GH1, GH2]
    assert all(one.in_key and one.to_json()["in_key"] for one in redactions)


HOMES = {
    "cd /home/demo_user/src": "cd /home/REDACTED/src",
    "HOME=/home/demo_user\n": "HOME=/home/REDACTED/\n",
    '{"cwd":"/Users/demo"}': '{"cwd":"/Users/REDACTED/"}',
    "/home/비밀/x": "/home/REDACTED/x",
    "demo:x:1000::/home/demo:/bin/sh": "demo:x:1000::/home/REDACTED/:/bin/sh",
    "ls /home/${USER}/a": "ls /home/REDACTED/a",
    'say "/home/REDACTED" twice': 'say "/home/REDACTED/" twice',
    "C:\\Users\\demo\\src": "C:\\Users\\REDACTED\\src",
    "C:\\Users\\demo": "C:\\Users\\REDACTED\\",
    '{"cwd":"c:\\\\users\\\\demo"}': '{"cwd":"c:\\\\users\\\\REDACTED\\\\"}',
    "C:/Users/demo/src": "C:/Users/REDACTED/src",
    "/mnt/c/Users/demo/src": "/mnt/c/Users/REDACTED/src",
    "\\\\wsl$\\Debian\\home\\demo\\x": "\\\\wsl$\\Debian\\home\\REDACTED\\x",
    "/tmp/-Users-demo-src/x": "/tmp/-Users-REDACTED-src/x",
    "\\/home\\/demo\\/src": "\\/home\\/REDACTED\\/src",
    "q=%2Fhome%2Fdemo%2Fsrc": "q=%2Fhome%2FREDACTED%2Fsrc",
}


@pytest.mark.parametrize("text", HOMES)
def test_home_names_go_and_the_rest_stays(text: str) -> None:
    new, redactions = redactor("publish").redact_text(text)
    assert new == HOMES[text]
    assert [(one.cls, one.n, new[one.start : one.end]) for one in redactions] == [
        ("absolute_home", 0, "REDACTED")
    ]
    assert redactor("import").redact_text(text) == (text, [])


def test_text_beside_a_secret_stays() -> None:
    text = f"curl \"https://example.org/a?x=1&token=a1B2c3D4&y=2\" -H 'Authorization: Token {GITHUB}' | head"
    new, _ = redactor("publish").redact_text(text)
    assert new == (
        'curl "https://example.org/a?x=1&[REDACTED:url_query_secret:1]&y=2" '
        f"-H 'Authorization: Token {GH1}' | head"
    )


def test_opaque_members_are_whole_or_gone() -> None:
    blob = "Eq" + "w5" * 40
    value = {"thinking": {"signature": blob}, "encrypted_content": f"{blob}+{GITHUB}+{blob}"}
    new, redactions = redactor("publish").redact(value)
    assert new == {"thinking": {"signature": blob}, "encrypted_content": GH1}
    assert len(redactions) == 1


def test_json_in_text_keeps_its_shape() -> None:
    inner = {"headers": {"x": 1}, "pin": "0417", "password": "hunter2x", "n": 'a "b" \\', "token": 'a"b\\'}
    text = json.dumps({"arguments": json.dumps(inner)})
    new, _ = redactor("import", "pin").redact({"call": text})
    arguments = json.loads(json.loads(new["call"])["arguments"])
    assert arguments == {**inner, "pin": "<REDACTED>", "password": "<REDACTED>", "token": "<REDACTED>"}


DAMAGED = {
    '{"a":1,"headers":{"X-Key":"v","n":[1,{"b":"}"}]},"z":2': '{"a":1,"headers":"<REDACTED>","z":2',
    '{"token":12345,"x":"unfini': '{"token":"<REDACTED>","x":"unfini',
    '{"password":"ab\\"c\\\\","x':  '{"password":"<REDACTED>","x',
    '{"a":"{\\"secret\\":[1,2': '{"a":"{\\"secret\\":\\"<REDACTED>\\"',
    '{"cookie":"cut off': '{"cookie":"<REDACTED>',
    '"token":"<REDACTED>","secret":null}': '"token":"<REDACTED>","secret":"<REDACTED>"}',
}  # fmt: skip


@pytest.mark.parametrize("line", DAMAGED)
def test_damaged_lines_lose_sensitive_fields(line: str) -> None:
    new, redactions = redactor().redact_text(line, damaged=True)
    assert new == DAMAGED[line]
    assert all("<REDACTED>" in new[one.start : one.end] for one in redactions)
    assert redactor().redact_text(new, damaged=True) == (new, [])


def test_what_cannot_be_removed_is_refused() -> None:
    engine = redactor()
    engine.scanner.find = (
        lambda text, key="", *, damaged=False: [  # type: ignore[method-assign]
            Span(0, 1, "never", "never", "high", text[:1])
        ]
    )
    with pytest.raises(DataError) as caught:
        engine.redact({"a": GITHUB})
    assert caught.value.code == "TE308"
    assert GITHUB not in str(caught.value)


def test_depth_is_no_matter() -> None:
    value: Any = GITHUB
    for _ in range(5000):
        value = [value]
    new, (redaction,) = redactor().redact(value)
    assert at(new, redaction) == GH1


def test_a_long_key_costs_nothing_for_each_item_below_it() -> None:
    value = {"k" * 40_000: ["x"] * 20_000 + [GITHUB]}
    tracemalloc.start()
    try:
        _, (redaction,) = redactor().redact(value)
        (finding,) = scan_value(value, Scanner("publish"), Numbering(b"k").number)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert redaction.pointer == f"/{'k' * 40_000}/20000"
    assert len(finding.pointer) == MAX_SHOWN and finding.pointer.endswith("…")
    assert peak < 40 << 20


def test_pointers_told_have_a_bound() -> None:
    with pytest.raises(DataError) as caught:
        redactor().redact({"k" * (1 << 20): [GITHUB] * 20})
    assert caught.value.code == "TE203"


def members(value: Any) -> int:
    if isinstance(value, dict):
        return sum(1 if key.lower() in SENSITIVE else 1 + members(value[key]) for key in value)
    return sum(map(members, value)) if isinstance(value, list) else 0


@given(VALUES, st.sampled_from(PROFILES))
def test_nothing_is_found_again(value: object, profile: Profile) -> None:
    before = dumps(value)
    new, redactions = redactor(profile).redact(value)
    assert dumps(value) == before
    assert members(new) == members(value)
    for one in redactions:
        assert at(new, one).strip('"\\') in ("REDACTED", "<REDACTED>", f"[REDACTED:{one.cls}:{one.n}]")
    engine = redactor(profile)
    for name, text, _ in leaves(new):
        assert engine.scanner.find(text, name) == []
        assert profile == "import" or not find_hits(text)
    assert engine.redact(new) == (new, [])


@given(TEXTS, WORDS, st.sampled_from(PROFILES))
def test_planted_secret_is_gone(before: str, after: str, profile: Profile) -> None:
    text = f"{before} {OPENAI} {after}"
    for damaged in (False, True):
        new, _ = redactor(profile).redact_text(text, damaged=damaged)
        assert OPENAI not in new
        assert redactor(profile).redact_text(new, damaged=damaged) == (new, [])
