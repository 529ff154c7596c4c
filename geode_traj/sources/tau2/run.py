"""What the results say of a run apart from its simulations: how it was set up, its tasks, its index."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.model.event import Item, Loss
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.fields import objects, word
from geode_traj.sources.record import Record
from geode_traj.sources.tau2.results import BESIDE, LISTS, RESULTS, Results


def run(given: Input, results: Results) -> Iterator[Item]:
    """Yield the run's records, then what it lists but is not there, and what was not read."""
    own = {key: item for key, item in results.value.items() if key not in LISTS}
    seconds, rule = values.iso_time(results.value.get("timestamp"))
    number = 1
    head = Record(given, results.session_id, number, results.run_key, own, "results", results.around())
    head.time, head.time_rule = seconds, rule
    yield head.whole("run", raw=False)
    for key, operation in zip(LISTS[:2], ("task", "simulation_summary"), strict=True):
        for place, met in enumerate(results.listed(key)):
            number += 1
            name = f"{results.run_key}:{key}:{place}"
            one = Record(given, results.session_id, number, name, met.value, key, met)
            one.time, one.time_rule = seconds, rule
            yield one.whole(operation, raw=False)
    known = results.simulations.keys()
    missing = sum(word(one, "id") not in known for one in objects(results.value.get("simulation_index")))
    if missing:
        yield Loss("simulation_missing", missing)
    if given.path.is_dir():
        others = sum(one.name not in (RESULTS, BESIDE) for one in given.path.iterdir())
        others += sum(one not in results.files for one in (given.path / BESIDE).iterdir())
        if others:
            yield Loss("file_not_read", others)
