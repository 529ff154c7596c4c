from __future__ import annotations

from geode_traj.scan.leaves import child_name, texts


def test_every_string_and_key() -> None:
    value = {"a": ["x", 1, {"b/c": None, "~": "y"}], "": "z", "d": {}}
    assert sorted(texts(value)) == sorted(["a", "", "d", "x", "b/c", "~", "y", "z"])
    assert list(texts("x")) == ["x"]
    assert list(texts(None)) == []


def test_an_index_is_no_name() -> None:
    assert [child_name(key, "above") for key in ("a", "0", "12", "")] == ["a", "above", "above", ""]


def test_depth_is_no_matter() -> None:
    value: object = "x"
    for _ in range(10_000):
        value = {"k": value}
    assert sum(1 for _ in texts(value)) == 10_001
