"""The same inputs give the same bytes, wherever and whenever they are read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import cases

# Imports folders into a store of its own and prints the digest of every export and of every receipt.
SCRIPT = """
import json, locale, sys, time
from contextlib import suppress
from pathlib import Path
from geode_traj.codec.files import sha256_bytes
from geode_traj.export.trajectory import Export
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.store import events, opening
with suppress(locale.Error):
    locale.setlocale(locale.LC_ALL, "")
time.tzset()
store = Path(sys.argv[1])
for folder in sys.argv[2:]:
    for receipt in apply(plan([Path(folder)], store), store):
        print(sha256_bytes(json.dumps(receipt.to_json()).encode()))
with opening.open_reader(store) as connection:
    ids = [one.session_id for one in events.summaries(connection)]
    for content in ("full", "digest"):
        for chosen in [[one] for one in ids] + [ids]:
            name = "all" if len(chosen) > 1 else None
            made = Export(connection, chosen, content=content, trajectory_id=name)
            print(sha256_bytes(b"".join(made.chunks())))
"""
SETTINGS = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Seoul", "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    out = tmp_path_factory.mktemp("cases")
    return [str(cases.render(folder, out) / "input") for folder in cases.legacy_cases()]


def test_no_setting_of_the_machine_reaches_a_byte(folders: list[str], tmp_path: Path) -> None:
    outputs = []
    for number, setting in enumerate(SETTINGS):
        here = tmp_path / f"wörk {number}"
        here.mkdir()
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path.rstrip(os.pathsep), **setting}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(here / "sessions.db"), *folders],
            cwd=here,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stderr == ""
        outputs.append(done.stdout.splitlines())
    assert len(outputs[0]) > 200
    assert outputs[1] == outputs[0]
    assert outputs[2] == outputs[0]
