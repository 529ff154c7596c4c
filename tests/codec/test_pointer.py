from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec.pointer import Trail, below, join, of, split

STEPS = st.lists(st.text(st.sampled_from("~/01a é"), max_size=4), max_size=5)


@pytest.mark.parametrize(
    ("steps", "pointer"),
    [([], ""), ([""], "/"), (["a/b", 0, "m~n"], "/a~1b/0/m~0n"), (["~1", "~01"], "/~01/~001")],
)
def test_steps_and_pointers(steps: list[str | int], pointer: str) -> None:
    assert join(steps) == pointer
    assert split(pointer) == [str(step) for step in steps]


@given(STEPS)
def test_splitting_undoes_joining(steps: list[str]) -> None:
    assert split(join(steps)) == steps
    if steps:
        assert below(join(steps[:-1]), steps[-1]) == join(steps)


@given(STEPS)
def test_a_trail_leads_from_the_root(steps: list[str]) -> None:
    trail: Trail = None
    for step in steps:
        trail = (trail, step)
    assert of(trail) == join(steps)
