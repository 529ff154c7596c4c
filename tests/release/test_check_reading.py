from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import release_forge
from hypothesis import given
from hypothesis import strategies as st
from release_forge import KEY, Forge, event, events, framed, keyring, trajectory
from test_check_faults import CASES, Break

from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.gates import count_hits
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.release import layout
from geode_traj.release.check import limits, tree
from geode_traj.release.check.registry import all_checks
from geode_traj.release.check.verdict import check, read_geode_release
from geode_traj.release.check.watched import Watched
from tests.reference import geode

AT = "@"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Forge:
    return release_forge.good_release(tmp_path_factory.mktemp("good"))


def _geode_takes(folder: Path) -> bool:
    try:
        geode.read_release(folder)
    except (geode.Refused, AttributeError, KeyError):  # the reference asserts shapes it then uses
        return False
    return True


def _we_take(folder: Path) -> bool:
    try:
        read_geode_release(folder)
    except TrajError:
        return False
    return True


# Hits in decoded text are our gate, not GEODE's.
OURS = {"hidden_by_escapes"}


@pytest.mark.parametrize("label", [case[1] for case in CASES if case[0][:4] in ("RL12", "RL13")])
def test_a_bare_geode_folder_is_refused_where_a_strict_geode_refuses_it(
    label: str, good: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge = good.copy(tmp_path)
    fault: Break = next(case[2] for case in CASES if case[1] == label)
    assert _geode_takes(forge.geode) and _we_take(forge.geode)
    fault(forge, monkeypatch)
    assert _geode_takes(forge.geode) == _we_take(forge.geode) == (label in OURS)


def test_a_geode_folder_may_hold_what_ours_may_not(good: Forge, tmp_path: Path) -> None:
    forge = good.copy(tmp_path)
    os.link(forge.geode / "beta.json", tmp_path / "second name")
    (forge.geode / "Empty Folder").mkdir()
    read = read_geode_release(forge.geode)
    assert (read.release, read.manifest) == (forge.root.name, forge.manifest)
    (tmp_path / "link").symlink_to(forge.geode)
    assert read_geode_release(tmp_path / "link", read.manifest_sha256) == read


def test_a_geode_folder_whose_manifest_is_not_the_expected_one(good: Forge) -> None:
    with pytest.raises(DataError) as caught:
        read_geode_release(good.geode, "0" * 64)
    assert (caught.value.code, caught.value.exit_code) == ("TE401", 10)
    assert "RL1204" in caught.value.message


def test_what_is_no_geode_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_geode_release(tmp_path)
    assert caught.value.code == "TE401"
    with pytest.raises(WorldError) as world:
        read_geode_release(tmp_path / "nothing")
    assert world.value.code == "TE201"


@pytest.mark.parametrize("size", [0, 1 << 20, 3 << 20])
@pytest.mark.parametrize("pretty", [False, True])
def test_large_trajectories_of_any_layout_are_read_once_and_whole(
    size: int, pretty: bool, good: Forge, tmp_path: Path
) -> None:
    forge = good.copy(tmp_path)
    doc = trajectory("beta", [*events("ß" * (size // 2)), event(6, "session.ended", turn="")])
    forge.set_trajectory(json.dumps(doc, indent=1, ensure_ascii=False).encode() if pretty else framed(doc))
    forge.seal()
    assert check(forge.root, keyring=keyring(KEY)).verdict == "valid"


@pytest.mark.parametrize("name", ["x", "a b", "Ä", ".hidden"])
def test_a_renamed_release_is_said_to_be_renamed_and_no_more(name: str, good: Forge, tmp_path: Path) -> None:
    forge = good.copy(tmp_path)
    release_id = forge.root.name
    result = check(forge.root.rename(tmp_path / name), keyring=keyring(KEY))
    assert [finding.code for finding in result.findings] == ["RL1112"]
    assert (result.release_id, result.verdict) == (release_id, "invalid")


@pytest.mark.parametrize("release_id", ["../x", "nowhere", "", 1, None])
def test_a_release_that_says_it_is_another_is_looked_at_by_its_folders_name(
    release_id: object, good: Forge, tmp_path: Path
) -> None:
    forge = good.copy(tmp_path)
    forge.seal(lambda release: release.update(release_id=release_id))
    result = check(forge.root.rename(tmp_path / "renamed"))
    assert result.release_id == "renamed"
    assert {"RL1003", "RL1008"} <= {finding.code for finding in result.findings}


LINES = st.lists(
    st.sampled_from(
        [
            b"plain",
            b"a\n",
            f"demo_user{AT}example.org ".encode(),
            b"Bearer ",
            b"x" * 20,
            b"\n",
            b"\xc3",
            b"\x9f",
        ]
    ),
    max_size=30,
).map(b"".join)


@given(LINES, st.integers(1, 64), st.booleans())
def test_a_watched_stream_speaks_of_the_bytes_it_gave(data: bytes, buffer: int, again: bool) -> None:
    descriptor = os.memfd_create("watched") if hasattr(os, "memfd_create") else None
    if descriptor is None:
        pytest.skip("no memory files here")
    try:
        os.write(descriptor, data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        raw = Watched(descriptor)
        stream = io.BufferedReader(raw, buffer)
        stream.readline()
        if again:
            stream.seek(0)
        stream.read(3)
        stream.detach()
        raw.drain()
        assert (raw.digest, raw.size) == (sha256_bytes(data), len(data))
        try:
            expected = count_hits(data.decode())
        except UnicodeDecodeError:
            assert raw.hits is None or not any(raw.hits.values())
        else:
            assert raw.hits == expected
    finally:
        os.close(descriptor)


def test_what_is_only_peeked_at_is_not_seen() -> None:
    data = Path(__file__).read_bytes()
    with Path(__file__).open("rb") as file:
        raw = Watched(file.fileno())
        with pytest.raises(io.UnsupportedOperation):
            raw.seek(0, os.SEEK_END)
        assert raw.read(10) == data[:10] and (raw.seek(0, os.SEEK_CUR), raw.size) == (10, 10)
        for offset, whence, at in ((5, os.SEEK_SET, 5), (-1, os.SEEK_CUR, 7), (90, os.SEEK_SET, 90)):
            assert raw.seek(offset, whence) == at and raw.read(3) == data[at : at + 3]
            assert (raw.size, raw.digest) == (10, sha256_bytes(data[:10]))
        raw.drain()
        assert (raw.size, raw.digest) == (len(data), sha256_bytes(data))
        assert (raw.seek(0), raw.size, raw.digest) == (0, 0, sha256_bytes(b""))


def test_a_walk_opens_no_name_that_it_does_not_allow(tmp_path: Path) -> None:
    (tmp_path / "ok").mkdir()
    (tmp_path / "no").mkdir()
    for path in ("ok/file", "ok/Bad", "no/file"):
        (tmp_path / path).touch()
    os.mkfifo(tmp_path / "ok" / "pipe")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        seen = tree.walk(descriptor, lambda folder, name: name != "no" and name.islower())
        assert (sorted(seen.files), seen.misnamed, seen.folders) == (["ok/file"], ["no", "ok/Bad"], ["ok"])
        assert seen.special == {"ok/pipe": "a FIFO"}
        (tmp_path / "link").symlink_to("ok")
        for path in ("link/file", "ok/pipe/x", "ok/missing"):
            with pytest.raises(OSError), tree.opened(descriptor, path):
                pass
    finally:
        os.close(descriptor)


def test_no_descriptor_is_left_open(good: Forge, tmp_path: Path) -> None:
    forge = good.copy(tmp_path)
    (forge.root / "x").symlink_to("README.md")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208
    for _ in range(3):
        check(forge.root)
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


def test_the_checker_shares_nothing_with_the_makers_but_names() -> None:
    program = "import sys, geode_traj.release.check.verdict as v; v.all_checks(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours = {name for name in loaded.stdout.split() if name.startswith("geode_traj.release.")}
    assert {name for name in ours if not name.startswith("geode_traj.release.check")} == {
        "geode_traj.release.layout"
    }


def test_every_check_has_a_page_and_a_hint() -> None:
    for code, rule in all_checks().items():
        assert code.startswith("RL1") and len(code) == 6
        assert rule.title.endswith((".", ":")) or "\n" in rule.page
        assert rule.hint and rule.page.startswith(rule.title)


@given(st.text(max_size=40), st.text(max_size=20))
def test_no_name_of_the_grammar_leads_out(path: str, name: str) -> None:
    if layout.is_path(path, "Demo-x-20250101T000000Z-0123456789ab"):
        parts = path.split("/")
        assert path.isascii() and not path.startswith("/") and not {"", ".", ".."} & set(parts)
    if layout.is_name("", name, "id"):
        assert name.isascii() and "/" not in name and not name.startswith(".")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("README.md", True),
        ("SHA256SUMS", True),
        ("signatures/SHA256SUMS.release-signer.sshsig", True),
        ("signatures/SHA256SUMS.Signer.sshsig", False),
        ("signatures/x", False),
        ("data/ID-x/a.json", True),
        ("ID-x", False),
        ("data/Other/a.json", False),
        ("data/reviews/a.json", True),
        ("x/README.md", False),
        ("x" * 129, False),
        ("a\n", False),
        ("nul\0", False),
    ],
)
def test_the_grammar_of_names(path: str, allowed: bool) -> None:
    assert layout.is_path(path, "ID-x") == allowed


def test_bounds_are_asked_before_anything_is_read(
    good: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge = good.copy(tmp_path)
    with (forge.root / "SHA256SUMS").open("ab") as stream:
        stream.truncate(limits.MAX_LIST + 1)  # a hole, no bytes on disk
    real = os.readv

    def readv(descriptor: int, buffers: list) -> int:
        assert os.fstat(descriptor).st_size <= limits.MAX_LIST
        return real(descriptor, buffers)

    monkeypatch.setattr(os, "readv", readv)
    seen = {finding.place.file for finding in check(forge.root).errors if finding.code == "RL1007"}
    assert "SHA256SUMS" in seen
