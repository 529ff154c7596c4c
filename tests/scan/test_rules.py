from __future__ import annotations

import re

import phonenumbers
import pytest
import re2
from planted import IMPORT_EXAMPLES, find, inside_json, joined, may_match, secret_of, span_of

from geode_traj.codec.canonical import dumps
from geode_traj.contract.gates import find_hits
from geode_traj.scan.matching import run
from geode_traj.scan.rules import Rule, Ruleset, options, packaged

EVERY = [(rule, parts) for rule in packaged().rules for parts in rule.examples]
MISSES = [(rule, parts) for rule in packaged().rules for parts in rule.misses]


def name(value: object) -> str:
    return value.id if isinstance(value, Rule) else ""


@pytest.mark.parametrize(("rule", "parts"), EVERY, ids=name)
def test_example_is_found_whole(rule: Rule, parts: tuple[str, ...]) -> None:
    for profile in rule.profiles:
        found = [
            (s.start, s.end, s.cls) for s in find(joined(parts), profile) if s.band == rule.band or rule.sure
        ]
        assert (*span_of(parts), rule.cls) in found


@pytest.mark.parametrize(("rule", "parts"), EVERY, ids=name)
def test_example_is_found_between_wide_characters(rule: Rule, parts: tuple[str, ...]) -> None:
    text = f"é비😀\ud800 \n{joined(parts)}\n\ud800😀"
    found = {text[s.start : s.end] for s in find(text, rule.profiles[-1])}
    assert any(one.startswith(secret_of(parts)) for one in found)


@pytest.mark.parametrize(("rule", "parts"), IMPORT_EXAMPLES, ids=name)
def test_filter_sees_example_at_any_level_of_escaping(rule: Rule, parts: tuple[str, ...]) -> None:
    text = joined(parts)
    for _ in range(3):
        assert may_match(dumps({"content": text}))
        assert may_match(dumps({text: 1}))
        text = inside_json("\n" + text)


@pytest.mark.parametrize(("rule", "parts"), MISSES, ids=name)
def test_near_miss_is_left_alone(rule: Rule, parts: tuple[str, ...]) -> None:
    assert [s for s in find(joined(parts), rule.profiles[0]) if s.cls == rule.cls] == []


def test_rows_are_well_formed() -> None:
    rules = packaged().rules
    assert len({rule.id for rule in rules}) == len(rules) >= 100
    for rule in rules:
        assert re.fullmatch(r"[a-z0-9_]+", rule.id)
        assert re.fullmatch(r"[a-z0-9_]+", rule.cls)
        assert rule.matcher().groups >= 1
        assert rule.examples
        assert all(len(parts) >= 3 for parts in rule.examples)
    assert all("import" in rule.profiles or rule.profiles == ("publish",) for rule in rules)


def test_no_row_stores_a_secret() -> None:
    for rule, parts in EVERY:
        if rule.vague or rule.profiles == ("publish",):
            continue
        for part in parts:
            assert not [s for s in find(part, "import") if s.rule == rule.id], rule.id


def test_digest_names_the_rows() -> None:
    rules = packaged().rules
    assert Ruleset(rules).digest == packaged().digest
    assert Ruleset(rules[1:]).digest != packaged().digest
    assert Ruleset(rules, version="0").digest != packaged().digest
    assert re.fullmatch(r"[0-9]+\+[0-9a-f]{12}", packaged().name)


def test_import_finds_what_the_known_secret_gate_finds() -> None:
    samples = [
        "task-" + "abcdefghij" * 2,
        "xsk-" + "ant-" + "a" * 20,
        "sk-" + "proj-" + "_" * 20,
        "0123456789abcdef" * 2 + "." + "z" * 16,
        "_gh" + "o_" + "q" * 36,
        "xxey" + "J" + "a" * 8 + "." + "b" * 8 + "." + "c",
        "xo" + "xp-1",
        "zxa" + "pp-1",
    ]
    for text in samples:
        hits = [hit for hit in find_hits(text) if hit.cls == "known_secret"]
        assert hits, text
        spans = find(text, "import")
        assert all(any(s.start <= h.start and h.end <= s.end for s in spans) for h in hits), text


def test_trigger_of_telephones_is_there_wherever_the_rule_finds_one() -> None:
    (rule,) = (rule for rule in packaged().rules if rule.id == "phone_number")
    trigger = re2.compile(rule.trigger, options(captures=False))
    found = 0
    for region in phonenumbers.SUPPORTED_REGIONS:
        number = phonenumbers.example_number(region)
        for form in (0, 1, 2):
            for before in ("", "call me: ", "전화 ", "(", "\n", "id "):
                data = f"{before}{phonenumbers.format_number(number, form)} x".encode()
                if run([rule], data.decode(), data):
                    found += 1
                    assert trigger.search(data), data
    assert found > 1000
