from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import GITHUB, IMPORT_EXAMPLES, TEXTS, joined

from geode_traj.scan.engine import Scanner
from geode_traj.scan.engines import DetectSecrets, available, engine

FILTERED, PLAIN = DetectSecrets(), DetectSecrets(prefilter=False)
STARTS = [
    "AKIA", "xoxb-", "sk_live_", "ghp_", "npm_", "//:_authToken=", "SG.", "AKC", "sq0csp-",
    "secret", "password", "api_key", "Pwd", "db-pass", "softlayer", "cloudant", "ibm", "hmac",
    "us1", "T3BlbkFJ", "https://a:", "@b.example", "AccountKey=", "SK", "glpat-",
    "hooks.slack.com/services/T", "=", ":=", "=>", ":", "'", '"', " ", "\t", "İ", "ı", "ſ", "K",
    "٣", "==", "-u", "pypi-AgEIcHlwaS5vcmc"
]  # fmt: skip


def line_of(rng: random.Random) -> str:
    pieces = []
    for _ in range(rng.randrange(1, 9)):
        kind = rng.random()
        if kind < 0.5:
            pieces.append(rng.choice(STARTS))
        elif kind < 0.6:
            pieces.append(joined(rng.choice(IMPORT_EXAMPLES)[1]).replace("\n", " ")[:120])
        else:
            alphabet = rng.choice(
                [string.ascii_letters + string.digits, string.hexdigits, string.printable[:95]]
            )
            pieces.append("".join(rng.choices(alphabet, k=rng.choice([3, 8, 20, 32, 36, 40, 68]))))
    return "".join(pieces)[:400]


def same(line: str) -> None:
    assert FILTERED.values(line) == PLAIN.values(line)


@given(TEXTS)
def test_prefilter_changes_nothing(text: str) -> None:
    for line in text[:800].splitlines():
        same(line)


@pytest.mark.parametrize("count", [1500, pytest.param(100_000, marks=pytest.mark.slow)])
def test_prefilter_changes_nothing_on_many_lines(count: int) -> None:
    rng = random.Random(7)
    found = 0
    for _ in range(count):
        line = line_of(rng)
        same(line)
        found += bool(PLAIN.values(line))
    assert found > count // 20


@pytest.mark.parametrize("name", available())
def test_nothing_in_a_text_steers_an_engine(name: str) -> None:
    token = "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=24))
    key = "sk" + "_live_" + token
    for text in (
        f'x = read("{key}")',
        f'key = "{key}"  # pragma: allowlist secret',
        f'{{"_id": "{key}"}}',
        f"// kingfisher:ignore\nvalue {key}",
    ):
        assert any(key in text[span.start : span.end] for span in engine(name).find(text)), text


def test_spans_are_whole_tokens_and_places() -> None:
    text = f"é비 {GITHUB}{'a1B2' * 4} and\n{' ' * 4000}{GITHUB}\n"
    spans = {text[span.start : span.end] for span in engine("detect_secrets").find(text)}
    assert spans == {GITHUB + "a1B2" * 4, GITHUB}


def test_scanner_asks_its_engines() -> None:
    text = 'if config.secretary_pwd == "k1m2-n3p4":'
    assert Scanner("publish").find(text) == []
    (span,) = Scanner("publish", engines=[engine("detect_secrets")]).find(text)
    assert (span.rule, span.cls, span.band, span.value) == (
        "detect_secrets",
        "other_secret",
        "review",
        "k1m2-n3p4",
    )


@given(st.text(max_size=200))
def test_engines_stay_inside_the_text(text: str) -> None:
    for span in FILTERED.find(text):
        assert 0 <= span.start < span.end <= len(text)
