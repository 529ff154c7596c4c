"""What `checks` lists and `explain` prints."""

from __future__ import annotations

import json

import pytest

from geode_traj.codec import schema
from geode_traj.jobs.pages import EXAMPLES, all_pages, listing
from geode_traj.verify.registry import all_checks
from tests.support import examples
from tests.support.transcripts import call


def test_examples_are_what_the_vectors_give() -> None:
    packaged = json.loads(EXAMPLES.read_text("utf-8"))
    made = examples.made()
    assert packaged
    assert {code: made.get(code) for code in packaged} == packaged, "run scripts/generate-examples"


@pytest.mark.parametrize("code", sorted(json.loads(EXAMPLES.read_text("utf-8"))))
def test_an_example_ends_with_its_finding(code: str) -> None:
    assert code in all_checks()
    stdout, _, exit_code = call(["explain", code])
    assert exit_code == 0
    assert f" {code}  " in stdout.decode().splitlines()[-1]


def test_the_list_is_whole_and_fits_its_schema() -> None:
    stdout, _, _ = call(["checks", "--format", "json"])
    listed = json.loads(stdout)
    assert listed == listing()
    assert schema.problems("geode-traj.checks@1", listed) == []
    codes = [row["code"] for row in listed["checks"]]
    assert len(codes) == len(set(codes))
    assert set(all_checks()) <= set(codes)
    shown = call(["checks"])[0].decode().splitlines()
    assert [line.split()[0] for line in shown[1:]] == codes == [
        page.code for page in all_pages().values() if page.is_finding
    ]  # fmt: skip
    assert all(row["since"] for row in listed["checks"] if row["code"].startswith("GT"))
