from __future__ import annotations

import json

from hypothesis import given
from planted import IMPORT_EXAMPLES, VALUES, joined, scanner

from geode_traj.contract.gates import GATE_CLASSES
from geode_traj.scan.finding import scan_value
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.pages import pages
from geode_traj.scan.rules import packaged

PAGES = {page.id: page for page in pages()}
CHECKED = {rule.id for rule in packaged().rules if rule.sure}


def test_every_rule_has_one_page() -> None:
    assert len(PAGES) == len(list(pages()))
    assert {rule.id for rule in packaged().rules} | {f"gate_{cls}" for cls in GATE_CLASSES} < PAGES.keys()
    assert all(len(page.text.splitlines()) == 3 and page.text.endswith(".") for page in PAGES.values())


def test_no_page_shows_a_secret() -> None:
    text = json.dumps([page.text for page in PAGES.values()])
    assert not [rule.id for rule, parts in IMPORT_EXAMPLES if joined(parts[1:-1]) in text]
    assert scanner("publish").find(text) == []


@given(VALUES)
def test_whatever_is_found_can_be_explained(value: object) -> None:
    for finding in scan_value(value, scanner("publish"), Numbering(b"k").number):
        assert finding.rule in PAGES
        if finding.rule not in ("named_value", "sensitive_key", "sensitive_field"):
            told = PAGES[finding.rule].band == finding.band or finding.rule in CHECKED
            assert told or finding.band == "high"
