from __future__ import annotations

import base64
import time
from collections.abc import Callable
from itertools import count, pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import (
    AWS,
    EVERY_PLACE,
    GITHUB,
    OPENAI,
    SUPABASE,
    VALUES,
    WORDS,
    find,
    inside_json,
    leaves,
    may_match,
    scanner,
)  # fmt: skip

from geode_traj.codec.canonical import dumps
from geode_traj.contract.gates import GATE_CLASSES, find_hits
from geode_traj.scan.engine import Scanner
from geode_traj.scan.known import Known
from geode_traj.scan.rules import packaged

UNTOUCHED = [
    'if (apiKey == "") { throw new Error("no key"); }',
    'apiKey === "<your-key>"',
    'const apiKey = process.env.API_KEY || "";',
    "api_key: <your-key>",
    "export TOKEN=${TOKEN}",
    "password: xxxxxxxx",
    "password = [REDACTED]",
    "token = [REDACTED:github_token:3]",
    '{"password": "[REDACTED:password_value:1]"}',
    "getUserAccessTokenProviderFactory",
    "accessToken: accessTokenFromRequestContext",
    "word " * 24,
    "550e8400-e29b-41d4-a716-446655440000",
    "token_id 550e8400-e29b-41d4-a716-446655440000",
    "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
    "commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3 (HEAD -> main)",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8).decode(),
    "toolu_01A09q90qw90lq917835lq9",
    "max_tokens=4096, input_tokens: 128000, token_count: 12345678",
    "Authorization: Bearer <token>",
    "the basic authentication and the bearer of this token: see below",
    "sk-" + "learn and task-runner",
    "def login(password: str, token: Optional[str] = None) -> Session:",
    "secret: my-app-secret",
    "@pytest.mark.parametrize('token', [1, 2])",
    "ssh://example.org:22/demo/repo.git",
    "-----BEGIN PUBLIC KEY-----\n" + "A1b2" * 16 + "\n-----END PUBLIC KEY-----",
]


@pytest.mark.parametrize("text", UNTOUCHED)
@pytest.mark.parametrize("profile", ["import", "publish"])
def test_look_alikes_are_left_alone(text: str, profile: str) -> None:
    assert find(text, profile) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", [GITHUB, OPENAI, SUPABASE, AWS])
@pytest.mark.parametrize("place", EVERY_PLACE)
def test_token_is_found_in_every_place(place: object, secret: str) -> None:
    value = place(secret)  # type: ignore[operator]
    assert may_match(dumps(value))
    found = [
        text[s.start : s.end] for name, text, _ in leaves(value) for s in scanner("import").find(text, name)
    ]
    assert secret in found


WRAPPED = {
    "json": inside_json("see\n" + GITHUB),
    "json*2": inside_json(inside_json("see\n" + GITHUB)),
    "escapes": "x" + "".join(f"\\u{ord(c):04x}" for c in GITHUB) + " y",
    "slashes": "https:\\/\\/demo:" + "k1m2n3p4" + "@db.example.org\\/app",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_import_undoes_json_escapes(name: str) -> None:
    text = WRAPPED[name]
    assert may_match(dumps({"arguments": text}))
    (span,) = find(text, "import")
    assert span.value in (GITHUB, "k1m2n3p4")
    encoded = text[span.start : span.end]
    assert encoded in (GITHUB, "k1m2n3p4") or encoded.startswith("\\u0067")


ENCODED = {
    "base64": (base64.b64encode(f"token={GITHUB}".encode()).decode(), True),
    "base64url": (base64.urlsafe_b64encode(f"??>> {GITHUB} ~~".encode()).decode(), True),
    "percent": (quote("key " + AWS, safe="").replace("A", "%41"), False),
    "torn": (GITHUB[:20] + "\n" + GITHUB[20:], False),
    "indented": (OPENAI[:25] + "\r\n    " + OPENAI[25:], False),
}


@pytest.mark.parametrize("name", ENCODED)
def test_publish_decodes(name: str) -> None:
    encoded, whole = ENCODED[name]
    text = f"before {encoded} after"
    spans = find(text, "publish")
    assert len(spans) == 1
    covered = text[spans[0].start : spans[0].end]
    assert covered == encoded.rstrip("=") or (covered == encoded if whole else covered in encoded)
    assert spans[0].value in (GITHUB, AWS, OPENAI)


def test_long_clean_text_hides_nothing() -> None:
    text = "word " * 2000 + GITHUB
    assert [(s.start, s.cls) for s in find(text, "import")] == [(10000, "github_token")]


def test_private_key_runs_to_its_end_or_the_leafs() -> None:
    head, body = "-----BEGIN RSA PRIV" + "ATE KEY-----\n", ("a1B2" * 16 + "\n") * 4
    tail = "-----END RSA PRIV" + "ATE KEY-----"
    (closed,) = find(f"x {head}{body}{tail} y", "import")
    assert (closed.start, closed.end) == (2, 2 + len(head + body + tail))
    text = f"x {head}{body}12 | cut off ("
    (opened,) = find(text, "import")
    assert (opened.start, opened.end) == (2, len(text))


@pytest.mark.parametrize("mark", ["+", "- ", "> "])
def test_private_key_in_a_list_ends_where_it_ends(mark: str) -> None:
    body = ["A1b2" * 16, "C3d4" * 16, "E5f6" * 7]
    key = ["-----BEGIN " + "PRIVATE KEY-----", *body, "-----END " + "PRIVATE KEY-----"]
    text = "\n".join(mark + line for line in ["before 1", *key, "after", "that 2"])
    (span,) = find(text, "publish")
    assert text[: span.start].endswith(mark)
    assert text[span.end :] == f"\n{mark}after\n{mark}that 2"


def test_key_makes_its_value_a_secret() -> None:
    engine = scanner("import")
    assert [s.rule for s in engine.find("s3cr3t-pw9", "db_password")] == ["named_value"]
    assert [s.rule for s in engine.find("sid=12345; a=b", "Set-Cookie")] == ["named_value"]
    assert engine.find("s3cr3t-pw9", "comment") == []
    assert engine.find("<password>", "db_password") == []
    assert engine.find("4096", "max_tokens") == []


def test_configured_keys_add_to_the_seven() -> None:
    engine = Scanner("import", ["Pin_Code", "계좌"])
    assert engine.is_sensitive("PIN_CODE")
    assert engine.is_sensitive("to\u212aen")
    assert not engine.is_sensitive("tokens")
    for key in ("pin_code", "PIN_CODE", "계좌", "Token", "to\u212aen", "headers"):
        assert engine.may_match(dumps({"a": [{key: None}]})), key
    assert not engine.may_match(dumps({"pin": 1, "tokens": 2, "header": 3}))
    text = '{"pin_code": "0417x", "n": 1}'
    (span,) = engine.find(text)
    assert text[span.start : span.end] == "0417x"


def test_most_telling_rule_names_the_finding() -> None:
    (span,) = find(f'token = "{GITHUB}"', "import")
    assert (span.rule, span.cls) == ("github_token", "github_token")
    (span,) = find(f"Cookie: a=1; session={GITHUB}; b=2", "import")
    assert span.cls == "cookie_value"


def test_gate_classes_are_findings_of_publish() -> None:
    samples = {
        "absolute_home": "cd /home/demo_user/src",
        "email": "write to demo@example.org now",
        "github_token": "gh" + "p_" + "a" * 20,
        "openai_key": "sk-" + "_" * 20,
        "bearer": "Bearer " + "abcdefghijkl",
        "aws_access_key": AWS,
        "url_query_secret": "?token=" + "(aaaaaaa",
        "known_secret": "xo" + "xb-1",
    }
    assert set(samples) == set(GATE_CLASSES)
    for text in samples.values():
        assert find_hits(text)
        assert find(text, "publish"), text


@pytest.mark.parametrize("length", [0, 100, 20_000])
def test_what_was_found_before_is_found_again(length: int) -> None:
    text = GITHUB + " " * length
    find(text, "publish").clear()
    assert [span.value for span in find(text, "publish")] == [GITHUB]


def test_repr_shows_no_secret() -> None:
    (span,) = find(GITHUB, "import")
    assert GITHUB[4:] not in repr(span)
    assert span.value == GITHUB


@given(VALUES)
def test_filter_has_no_false_negative(value: object) -> None:
    engine = scanner("import")
    found = any(
        engine.find(text, name) or (is_key and engine.is_sensitive(text))
        for name, text, is_key in leaves(value)
    )
    if found:
        assert engine.may_match(dumps(value))


@given(st.text(max_size=60), WORDS)
def test_spans_are_ordered_and_inside(left: str, right: str) -> None:
    text = left + GITHUB + right
    for profile in ("import", "publish"):
        end = 0
        for span in scanner(profile).find(text):  # type: ignore[arg-type]
            assert end <= span.start < span.end <= len(text)
            end = span.end


HOSTILE = [
    "a", "0", "%41", "\\u0041", '\\"', "a@", "a@b.", "=", "token=token=", "password=", 'token="', "?token=",
    "token='token=\"", '"token":', "cookie: a", "://a:", "curl -u ", "eyJaaaaaaaa.", "/home/a", "[REDACTED]",
    "-----BEGIN RSA PRIV" + "ATE KEY-----\n", "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + "A1b2" * 16 + "\n",
    "\ud800", "é", "😀", '{"token":"a', '"authorization":{', "bearer ", "machine a login b ", "YWJj",
    "a1\n", "\\\\",
    "A_KEY=", "aws_secret", "<", "C:\\Users\\a ", "%2Fhome%2Fa", '"Cookie":"a=1;',
]  # fmt: skip
HEADS = ["", 'password="', '"token":', '"token":"a"', "api_key: "]


@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_text_takes_linear_time(shape: str) -> None:
    def seconds(size: int) -> float:
        run = next(runs)  # no text may be one of the last, which are remembered
        texts = [f"{run} {head}" + (shape * (size // len(shape) + 1))[:size] for head in HEADS]
        start = time.process_time()
        for text in texts:
            find(text, "publish")
        return time.process_time() - start

    runs = count()
    seconds(1 << 10)
    small = min(seconds(1 << 13) for _ in range(2))
    assert seconds(1 << 16) < 30 * small + 0.2  # eight times the text; a square would be sixty-four


CROWDS = {rule.id: "".join(rule.examples[0]) for rule in packaged().rules}


@pytest.mark.parametrize("wrap", [str, inside_json], ids=["plain", "json"])
def test_a_line_full_of_secrets_costs_little_more_than_another(wrap: Callable[[str], str]) -> None:
    slow = {}
    for rule, example in CROWDS.items():
        piece = wrap(f"\n{example}\n")
        text = (piece * (65536 // len(piece) + 1))[:65536]
        start = time.process_time()
        assert find(text, "publish")
        slow[rule] = time.process_time() - start
    assert sorted(slow.values())[len(slow) // 2] < 0.15
    assert max(slow.values()) < 0.6, max(slow, key=slow.__getitem__)


def test_a_crowd_is_one_finding_and_what_follows_it_is_looked_at() -> None:
    crowd = "password=hunter2x9\n" * 3000
    spans = find(crowd + "word " * 20_000 + GITHUB, "import")
    assert 700 < len(spans) < 1600
    assert spans[-1].value == GITHUB
    assert "hunter2x9" not in "".join(
        (crowd + " ")[a.end : b.start] for a, b in pairwise(spans) if b.start < len(crowd)
    )


DIGITS = st.text("0123456789abcdef", min_size=32, max_size=32) | st.text(
    "0123456789", min_size=32, max_size=32
)


@given(
    DIGITS.map(lambda h: f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}")
    | st.datetimes().map(lambda t: t.isoformat(timespec="milliseconds") + "Z")
    | st.datetimes().map(lambda t: t.isoformat(timespec="seconds") + "+09:00")
)
def test_ids_and_times_hold_nothing_but_by_their_key(text: str) -> None:
    thorough = scanner("publish").knowing(Known(["something-else-1"]))
    assert find(text, "publish") == thorough.find(text) == []
    assert bool(scanner("publish").find(text, "password")) == bool(thorough.find(text, "password"))
    assert scanner("publish").knowing(Known([text])).find(text)
