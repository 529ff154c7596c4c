from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.migrate import test_fixture_cases as shared
from tests.support import cases

FIXTURES = cases.FIXTURES.parent / "rind-usage"
CASES = sorted(path.parent for path in FIXTURES.glob("*/expect.json"))
CHECKS = [
    shared.test_receipts,
    shared.test_stored_events_and_their_order,
    shared.test_exports,
    shared.test_both_verifiers_pass_every_export,
    shared.test_a_second_run_changes_nothing,
    shared.test_no_secret_is_in_any_byte,
]


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_case(
    folder: Path,
    check: Callable[[shared.Outcome], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check(shared.Outcome(folder, tmp_path, monkeypatch))
