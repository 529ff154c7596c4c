"""Every check of a release, and the threats of a release folder, each with the one code it must give."""

from __future__ import annotations

import json
from pathlib import Path

import faults_folder  # noqa: F401 - its faults register themselves, as the next ones
import faults_lists  # noqa: F401
import faults_manifest  # noqa: F401
import faults_review  # noqa: F401
import faults_signatures  # noqa: F401
import faults_trajectories  # noqa: F401
import pytest
import release_forge
from faults import CASES, SIGNATURE, Break, listing
from release_forge import KEY, REVIEWER_KEY, Forge, keyring, trajectory

from geode_traj.codec.files import sha256_bytes
from geode_traj.release import layout
from geode_traj.release.check import limits, reading, registry, verdict
from geode_traj.release.check.verdict import check

RING = keyring(KEY, REVIEWER_KEY)
NEEDS_ROLES = {
    "one_of_two_roles",
    "one_role_under_a_policy_of_two",
    "statement_too_large",
    *(label for code, label, _ in CASES if code in ("RL1509", "RL1510", "RL1511", "RL1513")),
}
# What a bound cuts off, and what nobody can read, is missing for other checks too.
WITH_OTHERS = {"too_many", "too_deep", "too_many_bytes"}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Forge]:
    return {
        roles: release_forge.good_release(tmp_path_factory.mktemp("good"), roles=roles)
        for roles in (False, True)
    }


@pytest.mark.parametrize(
    "name",
    ["../x.json", "/etc/x", "c:\\x", "\\\\host\\x", "~/x", "a//b", "./x", "a/../b", ".x", "x\ty", "con:"],
)
def test_no_listed_name_leads_elsewhere(name: str, good: dict[bool, Forge], tmp_path: Path) -> None:
    forge = good[False].copy(tmp_path)
    forge.seal(listing(name))
    codes = {finding.code for finding in check(forge.root).errors}
    assert codes == ({"RL1101"} if "\\" in name else {"RL1102"})


def errors(forge: Forge) -> list[str]:
    return [finding.code for finding in check(forge.root, keyring=RING).errors]


@pytest.mark.parametrize(("code", "label", "fault"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_each_fault_gives_its_own_code_and_nothing_else_would_find_it(
    code: str,
    label: str,
    fault: Break,
    good: dict[bool, Forge],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forge = good[label in NEEDS_ROLES].copy(tmp_path)
    assert errors(forge) == []
    fault(forge, monkeypatch)
    found = check(forge.root, keyring=RING)
    assert {finding.code for finding in found.errors} == {code} or label in WITH_OTHERS
    assert code in {finding.code for finding in found.errors}
    assert found.verdict == ("unreadable" if code == "RL1007" else "invalid")
    assert found.exit_code == {"RL1007": 3, "RL1401": 4}.get(code, 10)
    json.dumps(found.to_json(), ensure_ascii=False).encode()
    without = {name: rule for name, rule in registry.all_checks().items() if name != code}
    monkeypatch.setattr(verdict, "all_checks", lambda: without)
    assert errors(forge) == [] or label in WITH_OTHERS


def test_no_check_is_without_a_fault() -> None:
    alone = {code for code, label, _ in CASES if label not in WITH_OTHERS}
    by_other_tests = {"RL1005", "RL1204", "RL1407", "RL1512"}
    assert alone | by_other_tests == set(registry.all_checks())


def test_what_lies_beyond_a_bound_is_not_valid_because_nobody_looked(
    good: dict[bool, Forge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # RL1005 alone: all that is listed comes before what is too deep, in the order of names.
    forge = good[False].copy(tmp_path)
    forge.write("z/" * (limits.MAX_DEPTH + 2) + "x", b"x")
    assert errors(forge) == ["RL1005"]
    without = {name: rule for name, rule in registry.all_checks().items() if name != "RL1005"}
    monkeypatch.setattr(verdict, "all_checks", lambda: without)
    assert errors(forge) == []


def test_the_manifest_is_the_one_recorded_beforehand(
    good: dict[bool, Forge], monkeypatch: pytest.MonkeyPatch
) -> None:
    forge = good[False]
    digest = sha256_bytes((forge.geode / "manifest.json").read_bytes())
    assert check(forge.root, keyring=RING, manifest_sha256=digest).verdict == "valid"
    found = check(forge.root, keyring=RING, manifest_sha256="0" * 64)
    assert [finding.code for finding in found.errors] == ["RL1204"]
    without = {name: rule for name, rule in registry.all_checks().items() if name != "RL1204"}
    monkeypatch.setattr(verdict, "all_checks", lambda: without)
    assert check(forge.root, keyring=RING, manifest_sha256="0" * 64).verdict == "valid"


def test_all_faults_are_found_at_once(good: dict[bool, Forge], tmp_path: Path) -> None:
    forge = good[False].copy(tmp_path)
    forge.write("README.md", b"x")
    forge.write("notes.md", b"x")
    (forge.root / "data" / "empty").mkdir()
    (forge.root / "pipe").symlink_to("x")
    assert errors(forge) == ["RL1001", "RL1004", "RL1105", "RL1106"]


def test_parts_of_two_valid_releases_make_none(good: dict[bool, Forge], tmp_path: Path) -> None:
    review = release_forge.review_folder(tmp_path / "review", [trajectory("Alpha One"), trajectory("zeta")])
    other = Forge(release_forge.staged(review, tmp_path / "out", source="Other"))
    other.seal()
    said = [layout.REVIEW_RECORD, layout.DISCLOSURE]
    parts = ["README.md", "release.json", "SHA256SUMS", SIGNATURE, "data", *said]
    assert errors(other) == []
    for number, part in enumerate(parts):
        forge = good[False].copy(tmp_path / str(number))
        theirs = other.root / part
        if part == "data":
            for path in forge.geode.iterdir():
                path.write_bytes((other.geode / path.name.replace("beta", "zeta")).read_bytes())
        else:
            forge.write(part, theirs.read_bytes())
        assert errors(forge), part


def test_findings_of_one_code_are_bounded(good: dict[bool, Forge], tmp_path: Path) -> None:
    forge = good[False].copy(tmp_path)
    for number in range(registry.PER_CODE + 5):
        forge.write(f"extra-{number}", b"x")
    found = check(forge.root, keyring=RING)
    assert len(found.errors) == registry.PER_CODE
    assert [finding.message for finding in found.findings if finding.severity == "note"] == [
        "5 more finding(s) of RL1105 are not listed"
    ]


def test_reading_is_as_strict_as_the_list_says() -> None:
    assert reading._sums(b"") == ([], None)
    assert reading._sums(b"0" * 64 + b" *x\n")[0] is None
