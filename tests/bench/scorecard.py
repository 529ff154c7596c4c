"""`python -m tests.bench.scorecard`: what three validators find in the same broken ATIF files, in one run.

A fault counts as found where a tool says something of the broken file that it does not say of the sound one.
The page is docs/scorecard.md; `--write` writes it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import atif

from geode_traj import __version__
from geode_traj.jobs.verify_inputs import verify_input
from geode_traj.verify import Verified
from tests.bench.atif_faults import SOUND, files

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "scorecard.md"
_HARBOR: Final = """
import importlib.metadata, json, sys
from pathlib import Path
from harbor.utils.trajectory_validator import TrajectoryValidator
said = {}
for path in sorted(Path(sys.argv[1]).glob("*.json")):
    validator = TrajectoryValidator()
    try:
        fine = validator.validate(path, validate_images=False)
        said[path.name] = [] if fine else ["; ".join(map(str, validator.errors)) or "invalid"]
    except Exception as error:
        said[path.name] = [type(error).__name__]
print(json.dumps([importlib.metadata.version("harbor"), said]))
"""
_HEAD: Final = """# Scorecard

What three validators find in the same {count} broken ATIF files: one sound document with one fault each
(`tests/bench/atif_faults.py`). A fault counts as found where a tool says something that it does not say of
the sound document. The format's own models judge shapes; nobody asks them for sums or for what was cut.

This page is generated. To make it again, with an interpreter that has Harbor (half a gigabyte):

    scripts/scorecard --harbor PYTHON --write

| | {names} |
|---|{lines}|
"""
Said = dict[str, list[str]]


def ours(folder: Path) -> Said:
    """Return what our `verify` says of each file: codes with their session, as often as they come."""
    said: Said = {}
    for path in sorted(folder.glob("*.json")):
        results = list(verify_input(path))
        said[path.name] = [f"{one.code} {_session(result)}" for result in results for one in result.findings]
    return said


def _session(result: Verified) -> str:
    return result.name.partition("#")[2]


def models(folder: Path) -> Said:
    """Return what the models of the `atif` package say of each file."""
    said: Said = {}
    for path in sorted(folder.glob("*.json")):
        try:
            atif.Trajectory.model_validate_json(path.read_bytes())
            said[path.name] = []
        except ValueError as error:
            said[path.name] = [type(error).__name__]
    return said


def harbor(folder: Path, python: str) -> tuple[str, Said]:
    """Return Harbor's version and what its validator says of each file."""
    done = subprocess.run([python, "-c", _HARBOR, str(folder)], capture_output=True, text=True, check=True)
    told, said = json.loads(done.stdout.splitlines()[-1])
    return told, said


def written(python: str) -> str:
    """Run all tools on all files and return the page."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "sound.json").write_text(json.dumps(SOUND, indent=1))
        listed = list(files())
        for number, (_, _, data) in enumerate(listed):
            (folder / f"{number:03}.json").write_bytes(data)
        told, harbors = harbor(folder, python)
        tools = {
            f"geode-traj {__version__}": ours(folder),
            f"atif {version('atif')}": models(folder),
            f"Harbor {told}": harbors,
        }
    rows = []
    for number, (family, fault, _) in enumerate(listed):
        name = f"{number:03}.json"
        marks = [_mark(said[name], said["sound.json"]) for said in tools.values()]
        rows.append((family, fault, marks))
    text = _HEAD.format(count=len(listed), names=" | ".join(tools), lines="|".join(["---"] * len(tools)))
    counted = [sum(bool(marks[at]) for _, _, marks in rows) for at in range(len(tools))]
    text += f"| **found** | {' | '.join(f'**{count} of {len(rows)}**' for count in counted)} |\n"
    for family, fault, marks in rows:
        text += f"| {family}: {fault} | {' | '.join(mark or '–' for mark in marks)} |\n"
    return text


def _mark(said: list[str], of_sound: list[str]) -> str:
    """Return what is said beyond what is said of the sound file: codes, or "found" where there are none."""
    more = sorted({one.split()[0] for one in Counter(said) - Counter(of_sound)})
    return ", ".join(code if code.startswith("GT") else "found" for code in more)


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="scripts/scorecard", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--harbor", required=True, metavar="PYTHON", help="an interpreter that has Harbor")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    given = parser.parse_args()
    page = written(given.harbor)
    if given.write:
        PAGE.write_text(page, "utf-8")
    else:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
