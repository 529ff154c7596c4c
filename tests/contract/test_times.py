"""Times: Unix seconds to ISO 8601 and back, exact to the microsecond, inside the calendar only."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geode_traj.contract.times import END, FIRST, is_calendar, iso, iso_seconds, parse
from tests.reference import geode
from tests.reference.text import is_date_time

SECONDS = st.floats(FIRST, END, exclude_max=True) | st.integers(int(FIRST), int(END) - 1).map(float)


@given(SECONDS)
@example(FIRST)
@example(math.nextafter(END, 0))
@example(1.0000005)
@example(-0.0000005)
def test_there_and_back(seconds: float) -> None:
    text = iso(seconds)
    assert text == geode.iso(seconds)
    assert is_date_time(text)
    parsed = parse(text)
    assert parsed is not None
    assert parsed[1] is True
    assert abs(parsed[0] - seconds) <= max(1e-6, math.ulp(seconds))
    assert iso(parsed[0]) == text
    assert is_calendar(seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1.5, "1970-01-01T00:00:01.500000Z"),
        (-62135596800, "0001-01-01T00:00:00Z"),
        (253402300799, "9999-12-31T23:59:59Z"),
        (1.0000001, "1970-01-01T00:00:01Z"),
    ],
)
def test_texts(seconds: float, text: str) -> None:
    assert iso(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.999, "1970-01-01T00:00:01Z"), (-0.5, "1969-12-31T23:59:59Z")]
)
def test_whole_seconds_are_cut(seconds: float, text: str) -> None:
    assert iso_seconds(seconds) == text


@pytest.mark.parametrize(
    ("text", "moment", "zoned"),
    [
        ("2025-06-15T12:00:00Z", datetime(2025, 6, 15, 12, tzinfo=UTC), True),
        ("2025-06-15t12:00:00z", datetime(2025, 6, 15, 12, tzinfo=UTC), True),
        ("2025-06-15 12:00:00", datetime(2025, 6, 15, 12, tzinfo=UTC), False),
        ("2025-06-15T12:00:00+09:00", datetime(2025, 6, 15, 3, tzinfo=UTC), True),
        ("2025-06-15T12:00:00-0330", datetime(2025, 6, 15, 15, 30, tzinfo=UTC), True),
        ("2025-06-15T12:00:00,25Z", datetime(2025, 6, 15, 12, 0, 0, 250000, tzinfo=UTC), True),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC), True),
    ],
)
def test_forms_that_are_read(text: str, moment: datetime, zoned: bool) -> None:
    assert parse(text) == (moment.timestamp(), zoned)


@pytest.mark.parametrize(
    "text",
    "2025-02-29T00:00:00Z 2025-13-01T00:00:00Z 2025-06-15T24:00:01Z 2025-06-15T12:00:60Z 2025-06-15T12:00Z"
    " 2025-06-15 20250615T120000Z 1750000000 2025-06-15T12:00:00.Z 2025-06-15T12:00:00+25:00"
    " 0000-01-01T00:00:00Z 0001-01-01T00:00:00+00:01 9999-12-31T23:59:59-00:01 yesterday"
    " 2025-06-15T12:00:00.1234567890Z 2025-W24-7T12:00:00Z ２０２５-06-15T12:00:00Z".split(),
)
def test_what_is_no_time(text: str) -> None:
    assert parse(text) is None
    assert parse(f"{text}\n") is parse(f" {text}") is None


@given(
    st.text(max_size=30)
    | st.from_regex(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([+-]\d{2}:\d{2}|Z)?", fullmatch=True)
)
def test_any_text_is_a_calendar_time_or_none(text: str) -> None:
    parsed = parse(text)
    assert parsed is None or is_calendar(parsed[0])


@pytest.mark.parametrize(
    "value", [True, None, "1", math.nan, math.inf, -math.inf, 1e300, END, FIRST - 1, 10**400, []]
)
def test_what_is_outside_the_calendar(value: object) -> None:
    assert is_calendar(value) is False


@pytest.mark.parametrize("value", [0, -1, 1.5, FIRST, END - 1, 10**9])
def test_what_is_inside_the_calendar(value: float) -> None:
    assert is_calendar(value) is True
