"""Times of a trajectory moved by one private amount, so that what happened when is told but not on which day.

Every time of an event and of the head moves back by the same whole number of seconds, in the form in which it
is written: order and differences are kept. Besides those that the record contract defines, a value of a
payload or of the head moves where it is a time of the run: a whole text that is an ISO 8601 date-time, or a
number that is one in seconds, milli-, micro- or nanoseconds, no further than a day from the events.

Other times stay. Those far from the run (a file's, a package's, a stand-in like the year 9999 or 1970 for no
time) are known elsewhere, and one of them moved would tell by how much all others did. A time inside a
sentence, in the output of a command or in a file name is text: who publishes such texts publishes the day.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from geode_traj.contract.times import parse

DAY: Final = 86_400
EARLIEST: Final = 631_152_000.0
LATEST: Final = 7_258_118_400.0
"""The years 1990 to 2199, in Unix seconds: an event's time outside of them stands for none."""

_SHORTEST: Final = 19
_LONGEST: Final = 40
_UNITS: Final = (1, 10**3, 10**6, 10**9)
_TELLING: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[167][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"  # UUIDs made of a time
    r"|(?<![0-9A-Za-z])[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Za-z])"  # ULID
    r"|(?<![0-9])(?:19|20)[0-9]{2}([-_]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12][0-9]|3[01])(?:[0-9]{4,6})?(?![0-9a-f])"
    r"|(?<![0-9A-Za-z])1[0-9]{9}(?:[0-9]{3})?(?![0-9A-Za-z])",  # seconds or milliseconds since 1970
    re.ASCII,
)


def tells_time(identifier: str) -> bool:
    """Tell whether an id looks as if a time were a part of it."""
    return _TELLING.search(identifier) is not None


class Period:
    """The time from the first to the last of some events; those without a real time do not count."""

    def __init__(self) -> None:
        self.first, self.last = LATEST, EARLIEST

    def see(self, occurred_at: str) -> None:
        """Note an event's time."""
        parsed = parse(occurred_at)
        if parsed and EARLIEST <= parsed[0] < LATEST:
            self.first, self.last = min(self.first, parsed[0]), max(self.last, parsed[0])


class Shift:
    """Moves the times of one trajectory `seconds` back; `period` is that of its events."""

    def __init__(self, seconds: int, period: Period) -> None:
        self._seconds = seconds
        self._low, self._high = period.first - DAY, period.last + DAY

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an exported event with its times moved."""
        moved = self._moved(event["occurred_at"], EARLIEST, LATEST)
        return {**event, "occurred_at": moved, "payload": self._value(event["payload"])}

    def head(self, members: dict[str, Any]) -> dict[str, Any]:
        """Return what stands around the events, or some members of it, with the times moved."""
        out: dict[str, Any] = self._value(members)
        for name in ("captured_at", "published_at"):
            if name in members:
                out[name] = self._moved(members[name], EARLIEST, LATEST)
        if "observed_on" in members:
            out["observed_on"] = self._day(members["observed_on"])
        return out

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._moved(value, self._low, self._high)
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        return value

    def _number(self, number: float) -> float:
        for unit in _UNITS:
            if self._low * unit <= number <= self._high * unit:
                return number - self._seconds * unit
        return number

    def _moved(self, text: str, low: float, high: float) -> str:
        if not _SHORTEST <= len(text) <= _LONGEST or text[4] != "-":
            return text
        parsed = parse(text)
        if parsed is None or not low <= parsed[0] <= high:
            return text
        # The fraction and the zone stay as they are written: a whole number of seconds touches neither.
        there = datetime.fromisoformat(f"{text[:10]}T{text[11:_SHORTEST]}") - timedelta(seconds=self._seconds)
        return there.isoformat(text[10]) + text[_SHORTEST:]

    def _day(self, text: str) -> str:
        try:
            day = datetime.combine(date.fromisoformat(text), time())
            return (day - timedelta(seconds=self._seconds)).date().isoformat()
        except (ValueError, OverflowError):
            return text
