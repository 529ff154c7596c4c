"""What a scan knows beforehand: the caller's own secrets, other engines, and the names in what it scans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from geode_traj.codec.files import read_bounded
from geode_traj.errors import WorldError
from geode_traj.jobs.scan_parts import Unscanned, learn_parts
from geode_traj.jobs.scan_streams import Observer
from geode_traj.jobs.scan_workers import SECONDS, Unit, scan_units
from geode_traj.scan import engines, known
from geode_traj.scan.engine import Scanner
from geode_traj.scan.engines import Engine
from geode_traj.scan.known import Known
from geode_traj.scan.learn import Learner

_EXTRAS: Final = {"detect_secrets": "secrets"}
_MAX_FILE: Final = 4 << 20


def secrets(environment: Mapping[str, str], files: Iterable[Path]) -> tuple[Known, int]:
    """Return the secrets of an environment and of files (`scan.known`), and how many cannot be looked for.

    Raises `WorldError` TE101 for a file that is no text or for too many values, TE201 for one that cannot be
    read, `DataError` TE203 for a large one. No error says what a file holds.
    """
    values = set(known.of_environment(environment))
    unusable = 0
    for path in files:
        try:
            text = read_bounded(path, _MAX_FILE).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise WorldError(
                "TE101", what="--known-file", why="it is no UTF-8 text", place=str(path)
            ) from None
        found, short = known.of_lines(text)
        values |= found
        unusable += short
    if len(values) > known.MAX_VALUES or sum(map(len, values)) > known.MAX_CHARACTERS:
        why = f"at most {known.MAX_VALUES} values, {known.MAX_CHARACTERS} characters together"
        raise WorldError("TE101", what="what is known", why=why)
    return Known(frozenset(values)), unusable


def named_engines(names: Iterable[str]) -> Iterator[Engine]:
    """Yield each engine once, in order; raise `WorldError` TE101 for one whose extra is not installed."""
    for name in dict.fromkeys(name.replace("-", "_") for name in names):
        if name not in engines.available():
            extra = _EXTRAS.get(name, name)
            why = f"it is not installed: install geode-traj[{extra}]"
            raise WorldError("TE101", what=f"--engine {name.replace('_', '-')}", why=why)
        yield engines.engine(name)


def learned(
    units: Iterable[Unit],
    scanner: Scanner,
    jobs: int,
    *,
    seconds: float = SECONDS,
    observer: Observer = lambda _: None,
) -> tuple[Scanner, list[tuple[int, Unscanned]]]:
    """Return a scanner that knows the names in `units`, and by owner what nobody could learn from."""
    learner = Learner()
    missed: list[tuple[int, Unscanned]] = []
    for unit, result in scan_units(units, scanner, b"", jobs, seconds=seconds, work=learn_parts):
        observer(unit.size)
        learner.add(result.learner)
        missed += ((unit.owner, one) for one in result.unscanned)
    return scanner.knowing(learner.known(scanner.known.values)), missed
