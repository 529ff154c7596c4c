"""The pipeline as tests drive it: transcripts into a store, out of it, and a look at every byte of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from backports import zstd

from geode_traj.contract.times import iso
from geode_traj.export.references import References
from geode_traj.export.trajectory import Content, Export
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.model.event import Row
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.sources.base import HEAD_BYTES, TAIL_BYTES, Probe, detect
from geode_traj.store import opening, retention

START = 1_750_000_000.0


def migrate(
    store: Path, *paths: Path, session_id: str | None = None, sensitive_fields: tuple[str, ...] = ()
) -> list[MigrateReceipt]:
    """Plan and apply; return the receipts."""
    planned = plan(paths, store, session_id=session_id)
    return list(apply(planned, store, sensitive_fields=sensitive_fields))


def export(
    store: Path,
    *sessions: str,
    content: Content = "full",
    trajectory_id: str | None = None,
    companions: References | None = None,
) -> bytes:
    """Return the bytes of one trajectory."""
    with opening.open_reader(store) as connection:
        made = Export(
            connection, sessions, trajectory_id=trajectory_id, content=content, companions=companions
        )
        return b"".join(made.chunks())


def document(store: Path, *sessions: str, content: Content = "full") -> dict[str, Any]:
    """Return an exported trajectory, read back."""
    return dict(json.loads(export(store, *sessions, content=content)))


def erase(store: Path, *sessions: str) -> int:
    """Delete sessions without trace; return how many event rows went."""
    with opening.open_writer(store) as connection:
        return retention.erase(connection, list(sessions))


def rows(store: Path) -> list[Row]:
    """Return all event rows in database order, read with nothing but SQLite."""
    with closing(sqlite3.connect(store)) as db:
        query = f"SELECT {', '.join(Row._fields)} FROM session_events ORDER BY id"
        return [Row._make(values) for values in db.execute(query)]


def facts(store: Path) -> list[Row]:
    """Return the rows without what a fresh store gives anew: row ids, and times below the microsecond."""
    return [row._replace(id=0, occurred_at=iso(row.occurred_at)) for row in rows(store)]  # type: ignore[arg-type]


def payloads(store: Path) -> list[dict[str, Any]]:
    """Return the payloads of all rows."""
    return [json.loads(row.payload_json) for row in rows(store)]


def sql(store: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Run one statement and commit it."""
    with closing(sqlite3.connect(store)) as db, db:
        return list(db.execute(query, values))


def dump(store: Path, *, without: tuple[str, ...] = ()) -> list[str]:
    """Return the database as SQL text, less the lines that name one of `without`."""
    with closing(sqlite3.connect(store)) as db:
        return [line for line in db.iterdump() if not any(f'"{name}"' in line for name in without)]


def file_bytes(store: Path) -> bytes:
    """Return every byte of the database, its log and its shared memory, and of every blob, unpacked."""
    files = sorted(store.parent.glob(store.name + "*"))
    return b"\n".join([*(path.read_bytes() for path in files), *bodies(store)])


def bodies(store: Path) -> Iterator[bytes]:
    """Yield the bodies that are kept beside the events."""
    with closing(sqlite3.connect(store)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'traj_blobs'").fetchone():
            for (packed,) in db.execute("SELECT zstd FROM traj_blobs ORDER BY id"):
                yield zstd.decompress(packed)


def write_lines(path: Path, lines: Iterable[object], *, end: str = "\n") -> Path:
    """Write one JSON value a line; a text stands for itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_bytes("".join(text + end for text in texts).encode())
    return path


def write_json(path: Path, value: object) -> Path:
    """Write one JSON document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def exported(store: Path) -> str:
    """Return one trajectory of all that the store holds, as text."""
    return export(store, *sorted({row.session_id for row in rows(store)})).decode()


def detected(path: Path) -> str:
    """Return the name of the format that a file's content is of."""
    data = path.read_bytes()
    return detect(Probe(data[:HEAD_BYTES], data[-TAIL_BYTES:], path)).name


def dialogue(session: str = "s1", *texts: str, start: float = START, ended: bool = True) -> list[dict]:
    """Return a small session: a start, questions and answers in turn, an end."""
    lines: list[dict] = [{"event": "session_start", "session_id": session, "model": "m", "ts": start}]
    for number, text in enumerate(texts, start=1):
        event = "user_message" if number % 2 else "assistant_message"
        lines.append({"event": event, "text": text, "ts": start + number})
    if ended:
        lines.append({"event": "session_end", "duration_s": 1.5, "rounds": 1, "ts": start + len(texts) + 1})
    return lines
