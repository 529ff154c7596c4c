"""RL10xx: what may not stand in a release folder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from faults import broken
from release_forge import Forge

from geode_traj.release.check import limits, tree


@broken("RL1001")
def extra_symlink(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "notes.md").symlink_to("README.md")


@broken("RL1001")
def listed_symlink(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "README.md").rename(forge.root.parent / "elsewhere.md")
    (forge.root / "README.md").symlink_to("../elsewhere.md")


@broken("RL1001")
def symlinked_folder(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "more").symlink_to("data")


@broken("RL1001")
def fifo(forge: Forge, _: pytest.MonkeyPatch) -> None:
    os.mkfifo(forge.root / "pipe")


@broken("RL1001")
def unix_socket(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(forge.root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")


@broken("RL1002")
def hard_link(forge: Forge, _: pytest.MonkeyPatch) -> None:
    os.link(forge.root / "README.md", forge.root.parent / "second")


@broken("RL1003")
def hidden_file(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(".hidden", b"x")


@broken("RL1003")
def control_character(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("a\x1b[2Jb", b"x")


@broken("RL1003")
def not_unicode(forge: Forge, _: pytest.MonkeyPatch) -> None:
    Path(os.fsdecode(os.fsencode(forge.root) + b"/\xff")).write_bytes(b"x")


@broken("RL1003")
def look_alike_folder(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("dаta/x", b"x")  # a Cyrillic letter


@broken("RL1003")
def stray_signature(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("signatures/readme", b"x")


@broken("RL1004")
def empty_folder(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "data" / "more").mkdir()


@broken("RL1005")
def too_many(_: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_ENTRIES", 9)


@broken("RL1005")
def too_deep(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("/".join("x" * (limits.MAX_DEPTH + 2)), b"x")


@broken("RL1005")
def too_many_bytes(_: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_TOTAL", 100)


@broken("RL1006")
def case_twin(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("readme.md", b"x")
    forge.seal()


@broken("RL1007")
def no_permission(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    real = tree.opened

    def opened(root: int, path: str) -> object:
        if path == "README.md":
            raise PermissionError(13, "Permission denied")
        return real(root, path)

    patch.setattr(tree, "opened", opened)


@broken("RL1007")
def grows_meanwhile(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    real = tree.walk

    def walk(root: int, allowed: tree.Names) -> tree.Tree:
        seen = real(root, allowed)
        with (forge.root / "README.md").open("ab") as stream:
            stream.write(b"more")
        return seen

    patch.setattr(tree, "walk", walk)


@broken("RL1007")
def swapped_for_a_link(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    real = tree.walk

    moved = forge.root.parent / "moved"

    def walk(root: int, allowed: tree.Names) -> tree.Tree:
        if moved.exists():
            forge.geode.unlink()
            moved.rename(forge.geode)
        seen = real(root, allowed)
        forge.geode.rename(moved)
        forge.geode.symlink_to(moved)
        return seen

    patch.setattr(tree, "walk", walk)


@broken("RL1007")
def manifest_too_large(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_LIST", 10)


@broken("RL1008")
def no_readme(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "README.md").unlink()
    forge.seal()


@broken("RL1008")
def no_review_record(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "data" / "reviews" / "review.json").unlink()
    (forge.root / "data" / "reviews").rmdir()
    forge.seal()


@broken("RL1008")
def no_disclosure(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "data" / "disclosure.json").unlink()
    forge.seal()


@broken("RL1008")
def no_sums(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "SHA256SUMS").unlink()


@broken("RL1008")
def no_manifest(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.geode / "manifest.json").unlink()
    forge.seal()


@broken("RL1008")
def no_release(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "release.json").unlink()
    forge.seal()
