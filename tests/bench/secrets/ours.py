"""Our scanner over the corpora as `geode-traj scan --no-learn-names` runs it: names are no planted values."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

from geode_traj.codec import pointer
from geode_traj.codec.canonical import dumps
from geode_traj.jobs.scan_files import scan_with
from geode_traj.scan.engine import Scanner
from geode_traj.scan.rules import packaged
from tests.bench.clock import Clock
from tests.bench.secrets.corpus import Corpus
from tests.bench.secrets.peers import ROOT
from tests.bench.secrets.score import Found

NAME: Final = "geode-traj"
BANDS: Final = ("high", "review")
"""What a person has to decide about; notes are not counted, neither as found nor as false."""

_RUNS: Final = 3
PERSONAL: Final = frozenset(
    """absolute_home business_number email hardware_address host_name iban ip_address ipv6_address
    payment_card phone_number resident_number social_security_number user_name""".split()
)
"""Classes that are no credentials."""


def version() -> str:
    """Return the name of the ruleset."""
    return packaged().name


def find(path: Path, corpus: Corpus | None = None) -> tuple[list[Found], float]:
    """Scan a file for publishing; return its findings and the seconds of one core that took.

    In a process of its own, as the other tools: what the benchmark holds in memory is not ours to carry.
    """
    command = [sys.executable, "-m", "tests.bench.secrets.ours", str(path)]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout)
    return list(_found(told["findings"], corpus.lines if corpus else [])), told["seconds"]


def main(path: Path) -> None:
    """Print {"seconds": of one core, "findings": as a report has them} for a file.

    As of other tools, loading is not counted: rules are compiled, and what checks numbers is imported, when
    the examples of the rules were looked at. The median of some runs, since one is short; each is searched by
    a new process that knows nothing of the others.
    """
    scanner = Scanner("publish")
    for rule in scanner.ruleset.rules:
        for example in rule.examples:
            scanner.find("".join(example))
    took = []
    for _ in range(_RUNS):
        clock = Clock()
        with clock:
            report = scan_with(scanner, [path], fail_on="none")
        took.append(clock.cpu)
    if report.entries[0].data["sha256"] is None:
        raise RuntimeError(report.entries[0].problem)
    print(json.dumps({"seconds": median(took), "findings": report.entries[0].data["findings"]}))


def hits(texts: list[str]) -> list[bool]:
    """Tell of each text whether a credential is found in it."""
    scanner = Scanner("publish")
    return [
        any(span.band in BANDS and span.cls not in PERSONAL for span in scanner.find(text)) for text in texts
    ]


def _found(rows: list[dict[str, Any]], lines: list[bytes]) -> Iterator[Found]:
    for row in rows:
        place = row["place"]
        span = tuple(place["span"]) if "span" in place else None
        line, in_key = place.get("line", 0), place.get("in_key", False)
        if row["band"] not in BANDS:
            continue
        value = ""
        if lines and span and not in_key:
            value = str(_at(json.loads(lines[line - 1]), place["pointer"]))[span[0] : span[1]]
        rule = f"{row['rule']} ({row['class']})" + (f" in {row['view']}" if row["view"] else "")
        yield Found(line, rule, value, place["pointer"], span, in_key, row["band"], row["class"])


def _at(value: Any, where: str) -> Any:
    for step in pointer.split(where):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def filter_speed(corpus: Corpus) -> tuple[float, float]:
    """Return how many MB of canonical events the import's filter looks through in a second of one core.

    Its automata are built while they read. The second number is how many milliseconds of the first pass over
    the events that took; the speed is that of the second pass.
    """
    scanner = Scanner("import")
    events = [dumps(json.loads(line)) for line in corpus.lines]
    took = []
    for _ in range(2):
        clock = Clock()
        with clock:
            for event in events:
                scanner.may_match(event)
        took.append(clock.cpu)
    return sum(map(len, events)) / took[1] / 1e6, (took[0] - took[1]) * 1000


def slowest(lines: dict[str, str]) -> dict[str, float]:
    """Return how many milliseconds the slower profile needs for each text; the better of two runs."""
    scanners = (Scanner("import"), Scanner("publish"))
    took = {}
    for name, text in lines.items():
        took[name] = max(min(_timed(scanner, text) for _ in range(2)) for scanner in scanners)
    return took


def _timed(scanner: Scanner, text: str) -> float:
    began = time.thread_time()
    scanner.find(text)
    return (time.thread_time() - began) * 1000


if __name__ == "__main__":
    main(Path(sys.argv[1]))
