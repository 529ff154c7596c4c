"""Times of the record contract: Unix seconds in the store, ISO 8601 UTC with `Z` in files (§5)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()
LAST: Final = (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - _EPOCH).total_seconds()
_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:[Zz]|[+-]\d{2}:?\d{2})?", re.ASCII
)
_ZONE: Final = re.compile(r"(?:[Zz]|[+-]\d{2}:?\d{2})\Z", re.ASCII)


def is_calendar(seconds: object) -> bool:
    """Tell whether `seconds` is a finite number inside the years 1 to 9999."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return False
    return (
        math.isfinite(seconds) and FIRST <= seconds <= LAST
        if isinstance(seconds, float)
        else (FIRST <= seconds <= LAST)
    )


def iso(seconds: float) -> str:
    """Return Unix seconds as `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`; microseconds only when not zero."""
    moment = _EPOCH + timedelta(seconds=seconds)
    text = moment.isoformat()
    return text[:-6] + "Z"


def iso_seconds(seconds: float) -> str:
    """Return Unix seconds as `YYYY-MM-DDTHH:MM:SSZ`, the fraction cut (record contract §8)."""
    return iso(math.floor(seconds))


def parse(text: str) -> tuple[float, bool] | None:
    """Return (Unix seconds, whether a zone was given) of an ISO 8601 date-time, None when it is none."""
    if not _ISO.fullmatch(text):
        return None
    zoned = _ZONE.search(text) is not None
    try:
        moment = datetime.fromisoformat(text.replace(",", ".").upper())
    except ValueError:
        return None
    if not zoned:
        moment = moment.replace(tzinfo=UTC)
    try:
        return (moment - _EPOCH) / timedelta(seconds=1), zoned
    except OverflowError:
        return None
