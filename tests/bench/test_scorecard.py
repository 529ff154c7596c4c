"""Every fault of the scorecard is found by `verify`, and the sound document has none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import scorecard
from tests.bench.atif_faults import SOUND, files

FAULTS = list(files())


@pytest.mark.parametrize(("family", "fault", "data"), FAULTS, ids=[f"{one[0]}-{one[1]}" for one in FAULTS])
def test_the_fault_is_found(family: str, fault: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / "sound.json").write_text(json.dumps(SOUND, indent=1))
    (tmp_path / "broken.json").write_bytes(data)
    said = scorecard.ours(tmp_path)
    assert scorecard._mark(said["broken.json"], said["sound.json"])


def test_the_sound_document_is_sound_to_all(tmp_path: Path) -> None:
    (tmp_path / "sound.json").write_text(json.dumps(SOUND, indent=1))
    assert scorecard.models(tmp_path) == {"sound.json": []}
    codes = {one.split()[0] for one in scorecard.ours(tmp_path)["sound.json"]}
    assert not codes & {f"GT18{digit}" for digit in range(10)}
