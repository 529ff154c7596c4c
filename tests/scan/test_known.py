from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import GITHUB, inside_json

from geode_traj.codec.canonical import dumps
from geode_traj.scan.engine import Scanner
from geode_traj.scan.known import Known, of_environment, of_lines
from geode_traj.scan.learn import Learner
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redactor

OWN = 'corr"ect\\horse/비밀 ' + "staple"
KNOWN = Known(frozenset({OWN, "tiny-word-7"}))
PUBLISH = Scanner("publish").knowing(KNOWN)
IMPORT = Scanner("import").knowing(KNOWN)


@pytest.mark.parametrize(
    "wrap",
    [
        str,
        inside_json,
        lambda text: inside_json(inside_json(text)),
        lambda text: json.dumps(text),
        quote,
        lambda text: base64.b64encode(f"x {text} y".encode()).decode(),
        lambda text: f"a{text}b",
    ],
)
def test_own_values_are_found_in_every_view(wrap: object) -> None:
    text = f"see {wrap(OWN)} there"  # type: ignore[operator]
    (span,) = PUBLISH.find(text)
    assert (span.rule, span.cls, span.band, span.value) == ("known_value", "known_value", "high", OWN)


def test_own_values_beat_every_pattern_and_keep_their_number() -> None:
    scanner = Scanner("publish").knowing(Known(frozenset({GITHUB})))
    text = f"{GITHUB} and https://demo:{GITHUB}@example.org/ and Bearer {GITHUB}xyz"
    new, done = Redactor(scanner, Numbering(b"k").number).redact_text(text)
    assert {(one.cls, one.n) for one in done} == {("known_value", 1)}
    assert GITHUB not in new


@given(st.text(min_size=6, max_size=24).filter(lambda text: len(set(text)) > 2), st.integers(0, 3))
def test_import_filter_lets_no_own_value_pass(value: str, levels: int) -> None:
    scanner = Scanner("import", known=Known(frozenset({value})))
    text = f"a {value} b"
    for _ in range(levels):
        text = json.dumps(text, ensure_ascii=levels == 2)
    if scanner.find(text):
        assert scanner.may_match(dumps({"x": text}))
    assert levels > 0 or scanner.find(text)


def test_import_knows_values_and_no_names() -> None:
    scanner = Scanner("import").knowing(Known(frozenset({"tiny-word-7"}), frozenset({"wanderer"})))
    assert [span.rule for span in scanner.find("wanderer says tiny-word-7")] == ["known_value"]


def test_values_come_from_environment_and_file() -> None:
    environment = {
        "DEMO_TOKEN": "s3cr3t-value",
        "DATABASE_URL": "postgres://demo:pa55-word@db.example.org/x",
        "SSH_AUTH_SOCK": "/run/agent.1",
        "HOME": "/home/demo",
        "API_KEY": "short",
        "LANG": "en_US.UTF-8",
    }
    assert of_environment(environment) == {"s3cr3t-value", "pa55-word"}
    lines = "# own\nDEMO_KEY='quoted value'\nplain-value-1\n\nabc\nexport X=tail=kept\n"
    assert of_lines(lines) == ({"quoted value", "plain-value-1", "tail=kept"}, 1)


def test_repr_shows_no_value() -> None:
    assert "staple" not in repr(KNOWN)
    assert "staple" not in repr(PUBLISH.find(OWN))


SEEN = {
    "cd /home/marvolo/src": "marvolo",
    "C:\\Users\\Zephyrin\\x": "zephyrin",
    "-Users-quillon-src-app": "quillon",
    "-rw-r--r--  1 ottoline staff  120 Apr  1 09:00 a.py": "ottoline",
    "Author: Ferelith Oakes <f@example.org>": "ferelith oakes",
    "USER=halcyone\n": "halcyone",
    "bramwell@foxglove:~/src$ ls": "bramwell",
}


@pytest.mark.parametrize("text", SEEN)
def test_names_are_learned_and_found_elsewhere(text: str) -> None:
    learner = Learner()
    learner.see(text)
    scanner = Scanner("publish").knowing(learner.known())
    name = SEEN[text]
    spans = scanner.find(f"ask {name.upper()}, or mail; not {name}ish")
    assert [(span.rule, span.band, span.value) for span in spans] == [("learned_user", "review", name)]


def test_common_names_and_placeholders_are_not_learned() -> None:
    learner = Learner()
    for text in (
        "/home/runner/work",
        "/Users/REDACTED/x",
        "root@localhost:~# id",
        "/home/ubuntu/",
        "/home/ab/",
    ):
        learner.see(text)
    assert not learner.known()


@pytest.mark.parametrize("name", ["runtime", "events", "session_id", "integrity", "container_id"])
def test_the_words_of_a_trajectory_itself_are_no_names(name: str) -> None:
    learner = Learner()
    learner.see(f"root@{name}:/work# ls\nHOSTNAME={name}\n/ho" + f"me/{name}/x")
    assert not learner.known()


def test_hosts_are_learned_from_prompts() -> None:
    learner = Learner()
    learner.see("bramwell@foxglove-mbp:~/src$ ls")
    scanner = Scanner("publish").knowing(learner.known())
    assert [span.rule for span in scanner.find("ssh foxglove-mbp now")] == ["learned_host"]


def test_home_directories_keep_their_form() -> None:
    learner = Learner()
    learner.see("cd /home/marvolo/src")
    redactor = Redactor(Scanner("publish").knowing(learner.known()), Numbering(b"k").number)
    assert redactor.redact_text("/home/marvolo/src of marvolo")[0] == (
        "/home/REDACTED/src of [REDACTED:user_name:1]"
    )
