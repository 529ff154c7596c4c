"""What Cursor writes into the text of messages: when a prompt was sent, and that thoughts were taken out."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from geode_traj.sources.values import epoch_time

_TIME: Final = re.compile(
    r"\s*<timestamp>\w+, (\w{3}) (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d) ([AP])M"
    r" \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\)</timestamp>",
    re.ASCII,
)
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_WITHHELD: Final = "[REDACTED]"


def time_told(row: dict[str, Any]) -> float | None:
    """Return the time that a prompt begins with, in Unix seconds (the minute's start), None without one."""
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        first = content[0] if content else None
        content = first.get("text") if isinstance(first, dict) else None
    found = _TIME.match(content) if isinstance(content, str) and row.get("role") == "user" else None
    if found is None or found[1] not in _MONTHS:
        return None
    hour = int(found[4]) % 12 + (12 if found[6] == "P" else 0)
    offset = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
    with suppress(ValueError, OverflowError):
        month = _MONTHS.index(found[1]) + 1
        local = datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=UTC)
        return epoch_time((local + (offset if found[7] == "-" else -offset)).timestamp())
    return None


def is_withheld(text: str) -> bool:
    """Tell whether a response's text ends in the mark of thoughts that Cursor took out."""
    return text.rstrip().endswith(_WITHHELD)
