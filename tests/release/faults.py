"""Faults of a release folder: each breaks a good release in one way, and names the one code it must give."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from release_forge import Forge

from geode_traj.release import layout

Break = Callable[[Forge, pytest.MonkeyPatch], object]
CASES: list[tuple[str, str, Break]] = []
SIGNATURE = layout.signature_path(layout.SIGNER)


def broken(code: str) -> Callable[[Break], Break]:
    """Register a fault under its code."""

    def register(function: Break) -> Break:
        CASES.append((code, function.__name__, function))
        return function

    return register


def listing(name: str) -> Callable[[dict], None]:
    """List one more file in `release.json`."""

    def change(release: dict) -> None:
        release["files"].append({"path": name, "bytes": 1, "sha256": "0" * 64})
        release["files"].sort(key=lambda file: file["path"])

    return change
