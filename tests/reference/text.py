"""JSON text, digests and times as the record contract writes them (contents page and §5)."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TO_THE_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


class Refused(Exception):
    """A strict reader says no; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def compact(value: object) -> str:
    """Compact JSON: separators `,` `:`, sorted keys, non-ASCII kept; NaN is an error."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def same(left: object, right: object) -> bool:
    """Equal as JSON: `true` is not 1, key order does not matter."""
    return compact(left) == compact(right)


def strict_json(data: bytes) -> object:
    """Parse UTF-8 JSON; a repeated key, a NaN or an infinity is refused."""

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(items)) != len(items):
            raise Refused("a key stands twice in one object")
        return dict(items)

    def constant(name: str) -> object:
        raise Refused(f"{name} is not JSON")

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"not JSON: {type(error).__name__}") from error


def is_hex64(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


def is_date_time(value: object) -> bool:
    """Whether `value` is an RFC 3339 time of a real day *with* its zone (a naive one is invalid, §5)."""
    if not isinstance(value, str) or not _DATE_TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:19].upper() + ("Z" if value[-1] in "Zz" else value[-6:]))
    except ValueError:
        return False
    return True


def is_second(value: object) -> bool:
    """Whether `value` is `YYYY-MM-DDTHH:MM:SSZ` of a real day (§8)."""
    return isinstance(value, str) and bool(_TO_THE_SECOND.fullmatch(value)) and is_date_time(value)


def is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(_DATE.fullmatch(value)) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def iso(seconds: float) -> str:
    """Unix seconds as UTC ISO 8601 with `Z`; six digits of microseconds, only when not zero (§5)."""
    return (_EPOCH + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
