"""Parquet: an event a row, the same columns of the same types in every file.

The columns that queries ask for stand beside `payload`, the whole payload as JSON, so nothing is lost. What
was not reported is null, never zero or "". `result` and `arguments` are texts: JSON where they were no text.
The bytes are the same for the same version of pyarrow, whose name every file carries.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, ClassVar, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.framed import Document
from geode_traj.contract.encoding import encode
from geode_traj.errors import WorldError
from geode_traj.export.ways import said
from geode_traj.export.ways.base import Event, Way
from geode_traj.export.ways.ledger import Ledger
from geode_traj.export.ways.words import words

_ROWS: Final = 10_000
_BYTES: Final = 8 << 20
_MAX_INT: Final = 1 << 63
_COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
    "reasoning_tokens",
)


class Parquet(Way):
    """Any number of sessions a file, one row group after the other."""

    name = "parquet"
    format = "Parquet"
    writes = "Parquet, an event a row"
    suffix = ".parquet"
    several = True
    reasons: ClassVar = {}

    def chunks(self, sessions: Iterable[Document], ledger: Ledger) -> Iterator[bytes]:
        """Yield the file; raise `WorldError` TE101 where pyarrow is not installed."""
        arrow, writing = _pyarrow()
        sink = _Sink()
        schema = arrow.schema([(name, type_(arrow)) for name, type_, _ in COLUMNS])
        with writing.ParquetWriter(sink, schema, version="2.6", compression="zstd") as writer:
            for rows in _groups(_rows(sessions, ledger)):
                writer.write_batch(arrow.RecordBatch.from_pylist(rows, schema=schema))
                yield sink.taken()
        yield sink.taken()

    def session(self, document: Document, ledger: Ledger) -> Iterator[bytes]:
        """Yield one session as a file of its own."""
        yield from self.chunks([document], ledger)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise WorldError(
            "TE101", what="--as parquet", why="it needs pyarrow: install geode-traj[lake]"
        ) from None
    return pyarrow, pyarrow.parquet


def _rows(sessions: Iterable[Document], ledger: Ledger) -> Iterator[tuple[dict[str, Any], int]]:
    for document in sessions:
        for text in document.events:
            event = text.value
            yield {name: value(event) for name, _, value in COLUMNS}, len(text.data or b"")
            ledger.carried(event, words(event))


def _groups(rows: Iterable[tuple[dict[str, Any], int]]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in groups that fit in memory."""
    group: list[dict[str, Any]] = []
    size = 0
    for row, length in rows:
        group.append(row)
        size += length
        if len(group) >= _ROWS or size >= _BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


class _Sink(io.RawIOBase):
    """A file that hands on what is written to it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._position += len(self._parts[-1])
        return len(self._parts[-1])

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _text(arrow: Any) -> Any:
    return arrow.string()


def _integer(arrow: Any) -> Any:
    return arrow.int64()


def _field(name: str) -> Callable[[Event], Any]:
    return lambda event: event[name] or None


def _word(name: str) -> Callable[[Event], Any]:
    return lambda event: said.text(event["payload"], name) or None


def _count(name: str) -> Callable[[Event], Any]:
    def count(event: Event) -> int | None:
        given = said.whole(event["payload"].get(name))
        return given if given is not None and given < _MAX_INT else None

    return count


def _content(event: Event) -> str | None:
    given = event["payload"].get("content")
    return None if given is None else said.content(event)


def _reasoning(event: Event) -> str | None:
    return said.reasoning(event) or None


def _reasoning_status(event: Event) -> str | None:
    given = event["payload"].get("reasoning")
    return said.text(given, "status") or None if isinstance(given, dict) else None


def _arguments(event: Event) -> str | None:
    given = event["payload"].get("arguments")
    return None if given is None else dumps(given).decode()


def _result(event: Event) -> str | None:
    given = said.result(event)[1] if event["kind"] == "tool.completed" else None
    return given if given is None or isinstance(given, str) else dumps(given).decode()


def _is_error(event: Event) -> bool | None:
    given = event["payload"].get("is_error")
    return given if isinstance(given, bool) else None


def _cost(event: Event) -> float | None:
    given = said.number(event["payload"].get("cost_usd"))
    try:
        return None if given is None else float(given)
    except OverflowError:
        return None


def _time(event: Event) -> datetime:
    return datetime.fromisoformat(event["occurred_at"])


def _payload(event: Event) -> str:
    return encode(event["payload"]).decode()


COLUMNS: Final[list[tuple[str, Callable[[Any], Any], Callable[[Event], Any]]]] = [
    ("session_id", _text, _field("session_id")),
    ("ordinal", _integer, _field("ordinal")),
    ("event_id", _text, _field("event_id")),
    ("occurred_at", lambda arrow: arrow.timestamp("us", tz="UTC"), _time),
    ("kind", _text, _field("kind")),
    ("actor", _text, _field("actor")),
    ("turn_id", _text, _field("turn_id")),
    ("call_id", _text, _field("call_id")),
    ("session_generation", _integer, lambda event: event["payload"]["session_generation"]),
    ("source", _text, _word("source")),
    ("status", _text, _word("status")),
    ("model", _text, _word("model")),
    ("provider", _text, _word("provider")),
    ("content", _text, _content),
    ("reasoning", _text, _reasoning),
    ("reasoning_status", _text, _reasoning_status),
    ("tool", _text, _word("tool")),
    ("arguments", _text, _arguments),
    ("result", _text, _result),
    ("is_error", lambda arrow: arrow.bool_(), _is_error),
    *((name, _integer, _count(name)) for name in _COUNTS),
    ("cost_usd", lambda arrow: arrow.float64(), _cost),
    ("payload", _text, _payload),
]
"""Name, type and value of each column, in order."""

WAYS = (Parquet(),)
