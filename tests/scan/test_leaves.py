from __future__ import annotations

from geode_traj.scan.leaves import leaves, name_of


def test_every_string_and_key_in_order() -> None:
    value = {"a": ["x", 1, {"b/c": None, "~": "y"}], "": "z", "d": {}}
    assert list(leaves(value)) == [
        ("/a", "a", True), ("/", "", True), ("/d", "d", True),
        ("/a/0", "x", False), ("/a/2/b~1c", "b/c", True), ("/a/2/~0", "~", True), ("/a/2/~0", "y", False),
        ("/", "z", False),
    ]  # fmt: skip
    assert list(leaves("x")) == [("", "x", False)]
    assert list(leaves(None)) == []


def test_names() -> None:
    assert [name_of(p) for p in ("", "/a", "/a/0/12", "/a/b~1c~0/3", "/0")] == ["", "a", "a", "b/c~", ""]


def test_depth_is_no_matter() -> None:
    value: object = "x"
    for _ in range(10_000):
        value = {"k": value}
    assert sum(1 for _ in leaves(value)) == 10_001
