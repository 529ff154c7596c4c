"""RL11xx: SHA256SUMS and release.json against the folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import release_forge
from faults import CASES, SIGNATURE, Break, broken, listing
from release_forge import Forge

from geode_traj.codec.files import sha256_bytes
from geode_traj.release.check import limits

AT = "@"


@broken("RL1101")
def carriage_returns(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.__setitem__(0, lines[0].replace("\n", "\r\n")))


@broken("RL1101")
def unsorted_sums(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.reverse())


@broken("RL1101")
def listed_twice(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.insert(0, lines[0]))


@broken("RL1101")
def escaped_name(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.append(f"\\{'0' * 64}  a\\nb\n"))


@broken("RL1101")
def torn_sums(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.__setitem__(-1, lines[-1][:-1]))


@broken("RL1102")
def upward_name(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(listing("data/../../outside"))


@broken("RL1103")
def sums_name_themselves(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(listing("SHA256SUMS"))


@broken("RL1103")
def sums_name_a_signature(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(listing(SIGNATURE))


@broken("RL1104")
def file_lost(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "README.md").unlink()


@broken("RL1105")
def file_added(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("notes.md", b"x")


@broken("RL1105")
def file_added_below(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("data/reviews/x.json", b"{}")


@broken("RL1106")
def byte_changed(forge: Forge, _: pytest.MonkeyPatch) -> None:
    text = (forge.root / "README.md").read_bytes()
    forge.write("README.md", text.replace(b"Agent", b"agent", 1))


def _raw_release(change: Callable[[str], str]) -> Break:
    def apply(forge: Forge, _: pytest.MonkeyPatch) -> None:
        forge.seal(raw=change((forge.root / "release.json").read_text()).encode())

    return apply


for label, change in {
    "repeated_key": lambda text: text.replace("{", '{"sequence":1,', 1),
    "not_a_number": lambda text: text.replace('"sequence":1', '"sequence":NaN'),
    "byte_order_mark": lambda text: "\ufeff" + text,
    "too_deep_json": lambda text: text.replace('"sequence":1', '"sequence":' + "[" * 300 + "]" * 300),
    "cut_short": lambda text: text[:-5],
}.items():
    CASES.append(("RL1107", label, _raw_release(change)))


@broken("RL1108")
def float_for_integer(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(sequence=1.5))


@broken("RL1108")
def other_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(note="x"))


@broken("RL1109")
def mixed_digests(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: None)
    release = forge.release
    release["files"][0]["sha256"] = "0" * 64
    data = release_forge.encode(release)
    old = sha256_bytes((forge.root / "release.json").read_bytes())
    forge.write("release.json", data)
    sums = (forge.root / "SHA256SUMS").read_text().replace(old, sha256_bytes(data))
    forge.write("SHA256SUMS", sums.encode())
    forge.sign()


@broken("RL1110")
def unsorted_release(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["files"].reverse())


@broken("RL1111")
def size_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["files"][0].update(bytes=1))


@broken("RL1112")
def release_of_another(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(release_id=release["release_id"][:-1] + "x"))


@broken("RL1113")
def time_disagrees(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(published_at="2025-06-16T19:02:04Z"))


@broken("RL1113")
def supersedes_disagrees(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(supersedes="x"))


@broken("RL1114")
def events_disagree(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["trajectories"][0].update(events=6))


@broken("RL1114")
def trajectory_left_out(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["trajectories"].pop())


@broken("RL1115")
def second_without_first(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(sequence=2))


@broken("RL1115")
def number_zero(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(sequence=0, previous="0" * 64))


@broken("RL1116")
def two_manifests(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("data/other/manifest.json", (forge.geode / "manifest.json").read_bytes())
    forge.seal()


@broken("RL1117")
def address_in_readme(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("README.md", f"write to demo_user{AT}quarrystone-mail.org\n".encode())
    forge.seal()


@broken("RL1118")
def endless_line(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_LINE", 1 << 16)
    forge.write("notes.md", b"x" * (3 << 20) + b"\n")
    forge.seal()


@broken("RL1118")
def address_in_no_text(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("notes.bin", f"\udcff demo_user{AT}quarrystone-mail.org".encode("utf-8", "surrogateescape"))
    forge.seal()
