"""The packaged schemas, their vectors, and the one verdict of two engines."""

import copy
import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from geode_traj.codec import reading, schema
from geode_traj.errors import WorldError

ROOT = Path(__file__).parents[2]
NAMES = (
    "geode-traj.baseline@1",
    "geode-traj.checks@1",
    "geode-traj.decisions@1",
    "geode-traj.disclosure@1",
    "geode-traj.export-loss@1",
    "geode-traj.llm-attempt@1",
    "geode-traj.migrate-receipt@1",
    "geode-traj.plan@1",
    "geode-traj.policy@1",
    "geode-traj.release-report@1",
    "geode-traj.release@1",
    "geode-traj.review-record@1",
    "geode-traj.review-status@1",
    "geode-traj.review@1",
    "geode-traj.run@1",
    "geode-traj.scan-report@1",
    "geode-traj.signoff@1",
    "geode-traj.verify-report@1",
    "geode.run-event@1",
    "geode.session-event@1",
    "geode.trajectory-release@1",
    "geode.trajectory@1",
)
CASES = sorted(path.parent for path in (ROOT / "fixtures" / "schema").glob("*/*/expect.json"))


def case(folder):
    expect = json.loads((folder / "expect.json").read_text())
    document = reading.loads((folder / "document.json").read_bytes())
    return expect, document


VALID = [(e["schema"], e.get("part"), d) for e, d in map(case, CASES) if e["outcome"] == "ok"]


def test_names_are_the_files():
    assert schema.names() == NAMES
    assert sorted(path.name for path in (ROOT / "schemas").iterdir()) == [f"{n}.schema.json" for n in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_well_formed_and_described(name):
    document = schema.load(name)
    Draft202012Validator.check_schema(document)
    assert document["$id"] == f"urn:geode-traj:schema:{name}"
    assert document["title"] and document["description"]
    assert document["properties"]["schema_id"] == {"const": name}
    assert next(iter(document["properties"])) == document["required"][0] == "schema_id"


def subschemas(node):
    yield node
    for group in ("properties", "$defs"):
        for child in node.get(group, {}).values():
            yield from subschemas(child)
    for keyword in ("items", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            yield from subschemas(node[keyword])


@pytest.mark.parametrize("name", NAMES)
def test_schemas_keep_to_the_keywords_that_are_explained(name):
    annotations = {"$schema", "$id", "$defs", "title", "description", "format"}
    known = annotations | set(schema._LEAVES) | {"type", "required", "additionalProperties"}
    for node in subschemas(schema.load(name)):
        assert set(node) <= known | {"properties", "items", "$ref"}
        assert all(not isinstance(want, list | dict) for want in [node.get("const"), *node.get("enum", [])])
        assert "$" not in node.get("pattern", "")[:-1]
        if node.get("uniqueItems"):
            assert node["items"]["type"] == "string"


def test_load_gives_a_fresh_copy():
    schema.load("geode.trajectory@1").clear()
    assert schema.load("geode.trajectory@1")["title"]


@pytest.mark.parametrize("ask", [schema.load, schema.validator, lambda name: schema.problems(name, {})])
@pytest.mark.parametrize(
    "name", ["geode.trajectory", "", "../schemas/geode.trajectory@1", "geode.trajectory@2"]
)
def test_unknown_names_are_refused(ask, name):
    with pytest.raises(WorldError) as caught:
        ask(name)
    assert caught.value.code == "TE105"


def test_unknown_part_is_refused():
    with pytest.raises(WorldError) as caught:
        schema.is_valid("geode.trajectory@1", {}, part="turn")
    assert caught.value.code == "TE105"


@pytest.mark.parametrize("folder", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_vector(folder):
    expect, document = case(folder)
    name, part = expect["schema"], expect.get("part")
    found = schema.problems(name, document, part=part)
    assert folder.parent.name == name
    assert ("_fail" in folder.name) == (expect["outcome"] == "schema")
    assert [pointer for pointer, _ in found] == expect.get("pointers", [])
    assert schema.is_valid(name, document, part=part) == (not found)


def test_every_schema_has_passing_and_failing_vectors():
    fails = Counter(folder.parent.name for folder in CASES if "_fail" in folder.name)
    assert {name for name, part, _ in VALID if part is None} == set(NAMES) == set(fails)


def test_every_required_key_is_required():
    for name, part, document in VALID:
        for key in schema._schema(name, None)["required"] if part is None else ():
            less = {k: v for k, v in document.items() if k != key}
            assert schema.problems(name, less) == [("", f"lacks the required key '{key}'")]


HEX = "0123456789abcdef" * 4
ODD = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 2, 1.0, 2.0, 1.5, -0.0, 1e300, math.nan, math.inf),
        *(2**63, 2**64, 10**30, -(10**30)),
        *("", "x", "x" * 32, "x" * 33, "é" * 128, "é" * 129, "x" * 257, "x" * 2049, "\U0001f600" * 128),
        *("v1", "v1\n", "1", "true", "a\x00b", "a\ud800", "__proto__", "$ref"),
        *(HEX, HEX + "\n", HEX.upper(), HEX[:-1], "٣" * 64),
        *("2025-06-15T15:06:40Z", "2025-06-15T15:06:40Z\n", "2025-06-15", "not a time"),
        *("a.json", "a.json\n", "/a.json", "a\n.json", "a\u2028.json"),
        *("tool_call", "verification.decided", "legacy", "full", "message.user"),
        *([], [[]], [0, 1], [1, 2, 3], ["a", "a"], ["a", "b"], [1, 1.0, True]),
        *({}, {"a": 1}, {"a": [{"b": None}]}),
    ]
)
KEYS = st.sampled_from(["extra", "", "kind", "path", "a/b~c", "schema_id", "é", "x" * 300])


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*path, key))


@st.composite
def near_valid(draw):
    name, part, document = draw(st.sampled_from(VALID))
    root = [copy.deepcopy(document)]
    for _ in range(draw(st.integers(0, 3))):
        *path, last = draw(st.sampled_from([place for place in places(root) if place]))
        box = root
        for step in path:
            box = box[step]
        action = draw(st.sampled_from(["replace", "drop", "add", "twice"]))
        if action == "replace" or box is root:
            box[last] = copy.deepcopy(draw(ODD))
        elif action == "drop":
            del box[last]
        elif isinstance(box, dict):
            box[draw(KEYS)] = copy.deepcopy(box[last] if action == "twice" else draw(ODD))
        else:
            box.append(copy.deepcopy(box[last] if action == "twice" else draw(ODD)))
    return name, part, root[0]


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(near_valid())
def test_two_engines_one_verdict(example):
    name, part, value = example
    found = schema.problems(name, value, part=part)
    assert schema.is_valid(name, value, part=part) == (not found)
    assert schema.problems(name, value, part=part) == found
    assert all(len(message) <= 300 for _, message in found)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(NAMES), ODD)
def test_values_that_are_no_document(name, value):
    assert not schema.is_valid(name, value)
    assert schema.problems(name, value)


def valid(name):
    return copy.deepcopy(next(document for known, part, document in VALID if (known, part) == (name, None)))


def test_formats_are_annotations_in_both_engines():
    document = valid("geode.trajectory@1") | {"captured_at": "no time at all", "observed_on": "never"}
    assert schema.is_valid("geode.trajectory@1", document)
    assert schema.problems("geode.trajectory@1", document) == []


MESSAGES = [
    (("ordinal",), "1", "is not of type integer"),
    (("ordinal",), 0, "is less than 1"),
    (("parent_event_id",), 7, "is not of type string or null"),
    (("schema_id",), "geode.session-event@2", "is not geode.session-event@1"),
    (("source",), "", "is shorter than 1 character(s)"),
    (("status",), "x" * 33, "is longer than 32 characters"),
    (("payload_hash",), "g" * 64, "does not match ^[a-f0-9]{64}$"),
]


@pytest.mark.parametrize(("path", "value", "message"), MESSAGES)
def test_messages(path, value, message):
    document = valid("geode.session-event@1")
    document[path[0]] = value
    assert schema.problems("geode.session-event@1", document) == [(f"/{path[0]}", message)]


def test_messages_never_quote_the_value():
    probe = "PAYLOAD-TEXT"
    for name, part, document in VALID:
        for place in places(document):
            if not place:
                continue
            box = spoiled = copy.deepcopy(document)
            for step in place[:-1]:
                box = box[step]
            box[place[-1]] = {probe: [probe]} if isinstance(box[place[-1]], str) else probe
            assert not any(probe in message for _, message in schema.problems(name, spoiled, part=part))
        unknown = document | {probe: probe, probe * 2: 1}
        for _, message in schema.problems(name, unknown, part=part):
            assert message == "has 2 key(s) that are not allowed"


def test_a_long_list_of_allowed_values_is_cut():
    document = valid("geode.session-event@1") | {"kind": "x"}
    [(pointer, message)] = schema.problems("geode.session-event@1", document)
    assert pointer == "/kind"
    assert message.startswith('is none of ["session.started", ') and message.endswith("…")
    assert len(message) <= 220


def test_problems_stand_in_the_order_of_their_places_and_stop_at_the_limit():
    document = valid("geode.trajectory@1")
    event = document["events"][0] | {"ordinal": 0}
    document |= {"events": [event] * 200_000, "trajectory_id": "", "captured_at": None}
    found = schema.problems("geode.trajectory@1", document, limit=20)
    assert [pointer for pointer, _ in found] == ["/captured_at"] + [
        f"/events/{n}/ordinal" for n in range(18)
    ] + ["/trajectory_id"]


def test_findings_do_not_depend_on_key_order():
    document = valid("geode-traj.signoff@1")
    document["files"][0]["findings"] = {f"class {n}": "x" for n in range(99)}
    turned = copy.deepcopy(document)
    turned["files"][0]["findings"] = dict(reversed(turned["files"][0]["findings"].items()))
    assert schema.problems("geode-traj.signoff@1", document) == schema.problems(
        "geode-traj.signoff@1", turned
    )


def test_hostile_sizes_take_linear_time():
    # Each of these takes minutes, or a stack, where comparison is quadratic, recursive or quotes the value.
    deep = value = []
    for _ in range(100_000):
        value.append([])
        value = value[0]
    mixed = [n if n % 2 else f"{n}" for n in range(200_000)]
    odd = [mixed, deep, [[n] for n in range(100_000)], {f"k{n}": n for n in range(200_000)}, "x" * 10**7]
    for value in odd:
        for key in ("trajectory_class", "schema_id", "schema_version", "evidence_refs", "integrity"):
            document = valid("geode.trajectory@1") | {key: value}
            assert not schema.is_valid("geode.trajectory@1", document)
            assert schema.problems("geode.trajectory@1", document)
        wide = valid("geode.trajectory@1")
        wide["events"][0]["payload"]["content"] = value
        assert schema.is_valid("geode.trajectory@1", wide)
        assert schema.problems("geode.trajectory@1", wide) == []


@pytest.mark.parametrize("number", [2**63, 2**64, 10**400, 10**4000])
def test_big_integers_are_integers(number):
    event = valid("geode.session-event@1")
    for document, fits in [
        (event | {"ordinal": number, "payload": {"n": number}, "occurred_at": number}, True),
        (event | {"ordinal": -number}, False),
        (event | {"source": number}, False),
    ]:
        assert schema.is_valid("geode.session-event@1", document) is fits
        assert (schema.problems("geode.session-event@1", document) == []) is fits


def test_lone_surrogates_do_not_stop_either_engine():
    event = valid("geode.session-event@1")
    assert schema.is_valid("geode.session-event@1", event | {"model": "half \ud83d"})
    assert not schema.is_valid("geode.session-event@1", event | {"model": "\ud83d" * 257})
    assert not schema.is_valid("geode.session-event@1", event | {"\ud83d": 1})
