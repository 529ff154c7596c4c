"""Values as sources write them, read without inventing anything."""

from __future__ import annotations

import json
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import tolerant
from geode_traj.contract import times

NAIVE: Final = "naive_as_utc"


def iso_time(value: Any) -> tuple[float | None, str]:
    """Return an ISO 8601 time in Unix seconds and how it was read: "", or `naive_as_utc` without a zone."""
    parsed = times.parse(value) if isinstance(value, str) else None
    if parsed is None or not times.is_calendar(parsed[0]):
        return None, ""
    return parsed[0], "" if parsed[1] else NAIVE


def epoch_time(value: Any, *, unit: float = 1.0) -> float | None:
    """Return a number of `unit` seconds since 1970 in Unix seconds, None where it is no calendar time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    seconds = value * unit
    return float(seconds) if times.is_calendar(seconds) else None


def text(value: Any) -> str:
    """Return a string as it is, null as "", anything else as its canonical JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value).decode()


def arguments(value: Any) -> Any:
    """Return a call's arguments: an object, or the text that holds one parsed; what is none is kept whole.

    `{"_value": x}` for JSON that is no object, `{"_legacy_fragment": text}` for text that does not parse,
    `{}` for nothing (record contract §1).
    """
    if isinstance(value, dict):
        return value
    if value is None or value == "":
        return {}
    if not isinstance(value, str):
        return {"_value": value}
    try:
        parsed = json.loads(value)
        dumps(parsed)  # NaN, infinities and lone surrogates cannot be stored: then the text stays as it is
    except (ValueError, RecursionError):
        return {"_legacy_fragment": value}
    return parsed if isinstance(parsed, dict) else {"_value": parsed}


def reads_whole(given: Any) -> bool:
    """Tell whether reading what may be a JSON text loses nothing of it; what is no JSON is kept as it is."""
    if not isinstance(given, str) or not given:
        return True
    try:
        read = tolerant(given.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return True
    return not (read.duplicates or read.escaped or read.nonfinite)


def usage(**counts: Any) -> dict[str, Any]:
    """Return a `usage.recorded` payload: every word of importer decision J9, null where unreported."""
    words = (
        "input_tokens output_tokens cost_usd cache_read_tokens cache_creation_tokens reasoning_tokens"
        " purpose response_id"
    ).split()
    return {word: counts.get(word) for word in words} | {
        key: value for key, value in counts.items() if key not in words and value is not None
    }


def reasoning(given: Any, *, status: str = "present") -> dict[str, Any]:
    """Return the reasoning field of a message (J1): its text with a status, else the fact `unavailable`."""
    if isinstance(given, str) and given:
        return {"status": status, "text": given}
    return {"status": status if status == "withheld" else "unavailable"}
