"""The life of supervisor inferences, and when many of them are alarming."""

import pytest

from geode_traj.contract.inference import (
    COMPLETED,
    MAX_INSTANCES,
    MAX_OPEN,
    NO_ACTION,
    SLOW,
    STARTED,
    TRIGGERED,
    UNSTRUCTURED,
    Inferences,
)


def fed(*events, **payload):
    made = Inferences()
    words = {"action": "TRIGGER", **payload}
    return [made.feed("s", "1:1", event, words, n) for n, event in enumerate(events)]


@pytest.mark.parametrize(
    ("events", "wrong"),
    [
        ([STARTED, COMPLETED, TRIGGERED], None),
        ([STARTED, COMPLETED], None),
        ([COMPLETED], 0),
        ([TRIGGERED], 0),
        ([STARTED, STARTED], 1),
        ([STARTED, TRIGGERED], 1),
        ([STARTED, COMPLETED, COMPLETED], 2),
        ([STARTED, COMPLETED, NO_ACTION], 2),
        ([STARTED, COMPLETED, TRIGGERED, TRIGGERED], 3),
    ],
)
def test_states(events, wrong):
    told = fed(*events)
    assert [n for n, why in enumerate(told) if why] == ([] if wrong is None else [wrong])
    assert not any(fed(*events, ambiguous_instance=True))


def test_what_never_ended():
    made = Inferences()
    for seq, events in enumerate([[STARTED], [STARTED, COMPLETED], [STARTED, COMPLETED, NO_ACTION]]):
        for event in events:
            made.feed("s", f"1:{seq}", event, {}, seq)
    assert [(one.event, one.place) for one in made.unfinished()] == [(STARTED, 0), (COMPLETED, 1)]


def alerts(rows):
    made = Inferences()
    return [
        [name for name, _, _ in made.alerts("s", {"instance": 1, "latency_ms": ms, "structured_json": ok})]
        for ok, ms in rows
    ]


@pytest.mark.parametrize(
    ("answers", "at"),
    [
        ([True] * 30, []),
        ([False] * 9, []),
        ([False] * 10, [9]),
        ([False] * 30, [9]),  # told once
        ([True] * 20 + [False] * 10, [29]),
        ([False] * 10 + [True] * 20 + [False] * 10, [9, 39]),  # and again after it ceased
    ],
)
def test_unstructured_answers(answers, at):
    told = alerts([(ok, 100) for ok in answers])
    assert [n for n, names in enumerate(told) if UNSTRUCTURED in names] == at


@pytest.mark.parametrize(
    ("latencies", "at"),
    [
        ([400] * 30, []),
        ([400] * 5 + [5000] * 2, []),
        ([400] * 5 + [5000] * 3, [7]),
        ([5000] * 8, []),  # slow, but as usual
        ([10] * 5 + [900] * 5, []),  # far above, but under a second
        ([400] * 10 + [5000, 400, 5000, 400, 5000] + [400] * 25 + [5000] * 3, [14, 42]),
    ],
)
def test_latencies(latencies, at):
    told = alerts([(True, ms) for ms in latencies])
    assert [n for n, names in enumerate(told) if SLOW in names] == at


@pytest.mark.parametrize("odd", [None, "slow", -1, True, [], float("nan")])
def test_odd_values_are_no_latencies(odd):
    assert alerts([(odd, odd)] * 30) == [[]] * 30


def test_memory_is_bounded():
    made = Inferences()
    for n in range(MAX_OPEN + 5):
        made.feed("s", f"1:{n}", STARTED, {}, n)
    for n in range(MAX_INSTANCES + 5):
        list(made.alerts("s", {"instance": n}))
    assert made.untold == 10
