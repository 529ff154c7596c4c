"""Baselines on the command line: what is known is told and does not fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geode_traj.cli.output import note
from geode_traj.errors import EXIT_FINDINGS, EXIT_OK, WorldError
from geode_traj.model.report import Report

if TYPE_CHECKING:
    from geode_traj.jobs.baseline import Baseline


@dataclass(frozen=True, slots=True)
class Known:
    """What `--baseline` or `--write-baseline` asks for: the baseline read, or the file to write."""

    read: Baseline | None
    write: Path | None

    def apply(self, report: Report) -> Report:
        """Return the report with known findings marked; say on stderr what was written, or is out of date."""
        known = self.read
        if self.write is not None:
            from geode_traj.jobs import baseline

            known = baseline.write(self.write, report)
            note(f"{sum(known.counts.values())} finding(s) are known from now on, in {known.path}")
        if known is None:
            return report
        report, gone = known.apply(report)
        if gone:
            note(f"{gone} known finding(s) are gone: write {known.path} again")
        return report


def read(given: Path | None, written: Path | None) -> Known:
    """Read the baseline before anything else is done; raise `WorldError` TE101 as `jobs.baseline.read`."""
    if given is not None and written is not None:
        raise WorldError("TE101", what="the call", why="give --baseline or --write-baseline")
    if given is None:
        return Known(None, written)
    from geode_traj.jobs import baseline

    return Known(baseline.read(given), written)


def exit_with(code: int, zero: bool) -> int:
    """Return the exit code, 0 for findings where `--exit-zero` asked for that."""
    return EXIT_OK if zero and code == EXIT_FINDINGS else code
