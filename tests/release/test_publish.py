from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kill_publisher
import pytest
import release_forge
from kill_publisher import names
from release_forge import KEY, keyring, new_key, put_release

from geode_traj.errors import TrajError, WorldError
from geode_traj.release import placing
from geode_traj.release import publish as publish_module
from geode_traj.release.check.verdict import check
from geode_traj.release.publish import publish
from geode_traj.release.sign import sign


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    root = put_release(tmp_path)
    sign(root, KEY)
    return root


def refused(call: Callable[..., object], *args: object, **named: object) -> tuple[str, int]:
    with pytest.raises(TrajError) as caught:
        call(*args, **named)
    return caught.value.code, caught.value.exit_code


def test_what_is_published_is_what_was_signed(signed: Path, tmp_path: Path) -> None:
    final = publish(signed, tmp_path / "a" / "target", keyring=keyring(KEY))
    assert final == tmp_path / "a" / "target" / signed.name
    assert kill_publisher.digest(final) == kill_publisher.digest(signed)
    assert check(final, keyring=keyring(KEY)).verdict == "valid"
    assert names(final.parent) == [signed.name]
    assert refused(publish, signed, tmp_path / "a" / "target") == ("TE601", 12)
    assert names(final.parent) == [signed.name]


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nothing_at_the_final_name_is_replaced(kind: str, signed: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    taken = target / signed.name
    make = {"folder": taken.mkdir, "file": taken.touch, "link": lambda: taken.symlink_to("nowhere")}
    make[kind]()
    before = taken.lstat()
    assert refused(publish, signed, target) == ("TE601", 12)
    assert (taken.lstat().st_ino, names(target)) == (before.st_ino, [signed.name])


def test_only_what_is_whole_and_signed_is_published(signed: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    unsigned = put_release(tmp_path / "unsigned")
    assert refused(publish, unsigned, target) == ("TE312", 4)
    bare = tmp_path / "bare" / signed.name
    shutil.copytree(signed / "data" / signed.name, bare)
    assert refused(publish, bare, target) == ("TE303", 4)
    assert refused(publish, signed, target, keyring=keyring(new_key())) == ("TE312", 4)
    (signed / "README.md").write_text("changed")
    assert refused(publish, signed, target) == ("TE401", 10)
    assert not target.exists()


def test_what_a_killed_publisher_left_goes(signed: Path, tmp_path: Path) -> None:
    left = tmp_path / "target" / "staging" / signed.name / "data"
    left.mkdir(parents=True)
    (left / "half.json").write_text("{")
    final = publish(signed, tmp_path / "target")
    assert names(final.parent) == [signed.name]
    assert check(final).errors == ()


@pytest.mark.parametrize("failing_call", [2, 3])
def test_a_copy_that_its_checker_refuses_leaves_nothing(
    failing_call: int, signed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = publish_module.check
    calls = []

    def damaged(folder: Path, **named: object) -> object:
        calls.append(folder)
        if len(calls) == failing_call:
            (folder / "README.md").write_text("bytes that rotted")
        return real(folder, **named)

    monkeypatch.setattr(publish_module, "check", damaged)
    assert refused(publish, signed, tmp_path / "target") == ("TE401", 10)
    assert len(calls) == failing_call
    assert names(tmp_path / "target") == []


@pytest.mark.parametrize("number", range(1, 12, 3))
def test_a_sync_that_fails_is_final(
    number: int, signed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = os.fsync, [number]

    def fsync(descriptor: int) -> None:
        left[0] -= 1
        if not left[0]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    assert refused(publish, signed, tmp_path / "target") == ("TE602", 3)
    assert left == [0]
    assert names(tmp_path / "target") == []


RACER = """
import sys
from pathlib import Path
from geode_traj.errors import TrajError
from geode_traj.release.publish import publish
print("ready", flush=True)
sys.stdin.readline()
try:
    publish(Path(sys.argv[1]), Path(sys.argv[2]))
except TrajError as error:
    print(error.code)
    sys.exit(error.exit_code)
"""


def test_of_two_publishers_exactly_one_wins(signed: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACER, signed, tmp_path / "target"]
    racers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate(timeout=60)[0] for racer in racers]
    assert sorted(racer.returncode for racer in racers) == [0, 12, 12]
    assert sorted(said) == ["", "TE601\n", "TE601\n"]
    assert check(tmp_path / "target" / signed.name, keyring=keyring(KEY)).verdict == "valid"


def kill_many(signed: Path, tmp_path: Path, seconds: int) -> int:
    script = Path(kill_publisher.__file__)
    expected = kill_publisher.digest(signed)
    done = subprocess.run(
        [sys.executable, script, signed, tmp_path / "target", expected, str(seconds), "seed"],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds + 60,
    )
    assert done.returncode == 0, done.stderr
    kills, early, late = map(int, done.stdout.split())
    assert early < kills and late < kills
    return kills


def test_a_killed_publisher_leaves_nothing_or_everything(signed: Path, tmp_path: Path) -> None:
    assert kill_many(signed, tmp_path, 6) > 10


@pytest.mark.slow
def test_a_publisher_killed_for_minutes_leaves_nothing_or_everything(signed: Path, tmp_path: Path) -> None:
    assert kill_many(signed, tmp_path, 120) > 200


# placing


@pytest.mark.parametrize("system", ["exclusive", "none", "unsupported"])
def test_a_folder_is_placed_where_nothing_stands(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system == "none":
        monkeypatch.setattr(placing, "_exclusive", lambda: None)
    if system == "unsupported":
        monkeypatch.setattr(placing, "_rename_exclusive", lambda source, target: errno.EINVAL)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "x").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("x")
    for taken in (tmp_path / "empty", tmp_path / "file", tmp_path / "link"):
        with pytest.raises(WorldError) as caught:
            placing.place(tmp_path / "source", taken)
        assert caught.value.code == "TE601"
    placing.place(tmp_path / "source", tmp_path / "free")
    assert (tmp_path / "free" / "x").exists() and not (tmp_path / "source").exists()


def test_the_disk_says_no(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for parent in (tmp_path / "file" / "below", tmp_path / "file"):
        with pytest.raises(WorldError) as caught, placing.staging(parent):
            pass
        assert caught.value.code == "TE602"


def test_staging_takes_away_what_it_made(tmp_path: Path) -> None:
    with placing.staging(tmp_path / "a" / "b") as folder:
        (folder / "x").touch()
    assert names(tmp_path) == []
    with placing.staging(tmp_path / "a" / "b") as folder:
        (folder / "x").mkdir()
        placing.place(folder / "x", tmp_path / "a" / "b" / "kept")
    assert names(tmp_path / "a" / "b") == ["kept"]


def test_a_lock_is_on_the_folder_that_stands_there_now(tmp_path: Path) -> None:
    folder = tmp_path / "lock"
    real = placing._is_still
    seen = []

    def replaced(path: Path, descriptor: int) -> bool:
        if not seen:
            path.rmdir()
            seen.append(path)
        return real(path, descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "_is_still", replaced)
        with placing.locked(folder):
            assert folder.is_dir()
    assert seen == [folder]
    assert release_forge.snapshot(tmp_path).keys() == {"lock"}
