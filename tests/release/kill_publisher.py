"""Publishes again and again in child processes, each killed somewhere; run as a program by the tests.

Usage: kill_publisher.py RELEASE TARGET EXPECTED SECONDS SEED. After each kill either nothing or the whole
release stands at the final name; then a rerun must succeed. Prints the number of kills, and of those that
came too early or too late to leave a difference.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from geode_traj.errors import WorldError
from geode_traj.release.publish import publish

EVENTS = {"open", "os.mkdir", "os.rename", "os.rmdir", "os.remove", "shutil.rmtree", "os.scandir"}


def digest(root: Path) -> str:
    """Return one digest over names and bytes of a folder."""
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        whole.update(path.relative_to(root).as_posix().encode() + b"\0")
        whole.update(path.read_bytes() if path.is_file() else b"/")
    return whole.hexdigest()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def die_at(number: int) -> None:
    """Kill this process at its `number`-th call into the file system since it first wrote."""
    left = [number]
    writing = []

    def step(event: str, _: object) -> None:
        if event == "os.mkdir":
            writing.append(event)
        if writing and (event in EVENTS or event == "fsync"):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        step("fsync", None)

    os.fsync = fsync


def run(release: Path, target: Path, kill_after: float | int | None) -> int:
    """Publish in a child and return its status; `kill_after` counts calls, or seconds (a float)."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if isinstance(kill_after, int):
                die_at(kill_after)
            publish(release, target)
            status = 0
        except WorldError as error:
            status = error.exit_code
        finally:
            os._exit(status)
    if isinstance(kill_after, float):
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def main() -> None:
    release, target, expected = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    chance = random.Random(sys.argv[5])
    final = target / release.name
    started = time.monotonic()
    assert run(release, target, None) == 0
    took = time.monotonic() - started
    assert digest(final) == expected
    kills = late = early = 0
    while time.monotonic() - started < float(sys.argv[4]):
        shutil.rmtree(target, ignore_errors=True)
        for _ in range(chance.randint(1, 3)):  # a rerun may be killed as well
            how = chance.random() * took * 1.2 if chance.random() < 0.3 else chance.randint(1, 100)
            run(release, target, how)
            kills += 1
            if final.exists():
                assert digest(final) == expected, "a part of a release stands at the final name"
                late += 1
            elif not target.exists():
                early += 1
            rest = set(names(target)) - {final.name}
            assert rest <= {"staging"}, f"left behind: {rest}"
        status = os.waitstatus_to_exitcode(run(release, target, None))
        assert status in (0, 12), status
        assert digest(final) == expected
        assert names(target) == [final.name], "a rerun tidies up"
    print(kills, early, late)


if __name__ == "__main__":
    main()
