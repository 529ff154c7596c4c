from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from planted import AWS, GITHUB, OPENAI, scanner

from geode_traj.scan.finding import scan_text, scan_value
from geode_traj.scan.numbering import Numbering

SCHEMA = Path(__file__).parents[2] / "schemas" / "geode-traj.scan-report@1.schema.json"


def report(value: object) -> list[dict[str, object]]:
    return [one.to_json(line=7) for one in scan_value(value, scanner("publish"), Numbering(b"k").number)]


def test_findings_have_places_and_shared_numbers() -> None:
    found = report(
        {"a": [f"x {GITHUB}", GITHUB], "db_password": "s3cr3t-pw9", "token": 5, "secret": "<REDACTED>"}
    )
    assert [(one["class"], one["place"], one["value"]) for one in found] == [
        ("sensitive_field", {"line": 7, "pointer": "/token"}, "v1"),
        ("github_token", {"line": 7, "pointer": "/a/0", "span": [2, 42]}, "v2"),
        ("github_token", {"line": 7, "pointer": "/a/1", "span": [0, 40]}, "v2"),
        ("password_value", {"line": 7, "pointer": "/db_password", "span": [0, 10]}, "v3"),
    ]


def test_report_holds_no_part_of_a_secret() -> None:
    value = {f"k/{GITHUB}": {"token": OPENAI, "deep": [AWS]}, "b": json.dumps({"x": "\n" + AWS})}
    text = json.dumps(report(value))
    for secret in (GITHUB, OPENAI, AWS):
        assert not any(secret[i : i + 6] in text for i in range(len(secret) - 5))
    assert "/k~1[REDACTED:github_token]/deep/0" in text


def test_counts_by_class_hold_no_sensitive_key() -> None:
    classes = scanner("publish").classes
    assert {"password_value", "email", "sensitive_field", "github_token"} < classes
    assert report({"value_redactions": dict.fromkeys(classes, 3)}) == []


def test_findings_fit_the_report_schema() -> None:
    schema = json.loads(SCHEMA.read_text())
    rule = {"$ref": "#/$defs/finding", "$defs": schema["$defs"]}
    found = report(
        {"a": json.dumps({"x": "\n" + AWS}), "token": None, GITHUB: 1, "ip": "from 93.184.216.34 on"}
    )
    found += [one.to_json() for one in scan_text(f"a {AWS}", scanner("import"), Numbering(b"k").number)]
    assert {one["view"] for one in found} == {None, "json"}
    assert {one["band"] for one in found} == {"high", "review"}
    for one in found:
        jsonschema.validate(one, rule)
