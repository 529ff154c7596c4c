"""tau2-bench results: a run's `results.json`, with its simulations in it or in files beside it.

Each simulation is a session; so is the run, which holds the tasks and the index.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geode_traj.errors import DataError, TrajError
from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit
from geode_traj.sources.rewritten import document
from geode_traj.sources.tau2.results import BESIDE, RESULTS, is_results, is_simulation, load, opened
from geode_traj.sources.tau2.run import run
from geode_traj.sources.tau2.simulation import Simulation


class Tau2(Source):
    """Results as one document, as a folder, or one simulation's file alone.

    Who runs tasks writes the results anew after each of them: simulations are told apart by their ids.
    """

    name = "tau2"
    mutable = True
    reads = "tau2-bench results.json, with simulations in it or in files beside it"
    gives_not = (
        "a time zone",
        "turn ids",
        "usage of messages whose provider told none",
        "audio (it is in files beside)",
        "system prompts as they were sent",
    )

    def detect(self, probe: Probe) -> bool:
        """Match the results of a run, or one simulation of it."""
        value = document(probe)
        return is_results(value) or is_simulation(value)

    def claims(self, folder: Path) -> bool:
        """Match a folder with the results of a run and the folder of simulations that belong to it."""
        try:
            here = (folder / RESULTS).is_file() and (folder / BESIDE).is_dir()
            return here and is_results(load(folder / RESULTS)[0].value)
        except (OSError, TrajError):
            return False

    def units(self, given: Input) -> Iterator[Unit]:
        """Yield the run, then each simulation; of a simulation's file that one alone."""
        results = opened(given)
        if results.has_run:
            digest, total = results.run_digest(), results.run_total()
            yield Unit(results.run_key, digest, total, results.first_time, rank=-1)
        for key, place in results.simulations.items():
            found = results.simulation(place)
            if found is None:
                yield Unit(key, results.damage(place).sha256, 1, None)
            else:
                told = Simulation(found)
                yield Unit(key, found.sha256, told.total, told.first_time)

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the records of the unit; raise `DataError` TE207 if it is not as it was planned."""
        results = opened(given)
        place = results.simulations.get(given.unit)
        if results.has_run and given.unit == results.run_key:
            if results.run_digest() != given.sha256:
                raise DataError("TE207", place=given.name)
            yield from run(given, results)
            return
        found = results.simulation(place) if place is not None else None
        damage = results.damage(place) if place is not None and found is None else None
        if damage is not None and damage.sha256 == given.sha256:
            yield damage
        elif found is not None and found.sha256 == given.sha256:
            yield from Simulation(found).items(given)
        else:
            raise DataError("TE207", place=given.name)


SOURCE = Tau2()
