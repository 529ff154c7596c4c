"""Times of the record contract: Unix seconds in the store, ISO 8601 UTC with `Z` in files (§5)."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()
END: Final = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH).total_seconds() + 86_400
_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?([Zz]|[+-]\d{2}:?\d{2})?", re.ASCII
)


def is_calendar(seconds: object) -> bool:
    """Tell whether `seconds` is a finite number inside the years 1 to 9999."""
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and FIRST <= seconds < END


def iso(seconds: float) -> str:
    """Return Unix seconds as `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`; microseconds only when not zero."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:-6] + "Z"


def iso_seconds(seconds: float) -> str:
    """Return Unix seconds as `YYYY-MM-DDTHH:MM:SSZ`, the fraction cut (record contract §8)."""
    return iso(math.floor(seconds))


def parse(text: str) -> tuple[float, bool] | None:
    """Return (Unix seconds, whether a zone was given) of an ISO 8601 date-time, None when it is none.

    A time that a zone puts outside the years 1 to 9999 is none either: it could not be written in UTC.
    """
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    zoned = found[1] is not None
    try:
        moment = datetime.fromisoformat(text.replace(",", ".").upper())
    except ValueError:
        return None
    seconds = (moment if zoned else moment.replace(tzinfo=UTC)).timestamp()
    return (seconds, zoned) if is_calendar(seconds) else None
