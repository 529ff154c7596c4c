"""Writing exports: each is verified, or accounted for, from its bytes before it gets its name."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from geode_traj import __version__
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes, sha256_file, write_new
from geode_traj.codec.framed import Document
from geode_traj.errors import DataError, WorldError
from geode_traj.export.references import References
from geode_traj.export.trajectory import Content, Export, Exported
from geode_traj.export.ways.base import Way
from geode_traj.export.ways.ledger import Ledger
from geode_traj.verify import verify_path

MODE: Final = 0o600  # an export is private until it is reviewed
LOSS: Final = ".loss.json"
_HASHED: Final = re.compile(r"-[0-9a-f]{12}\Z")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(session_id: str, suffix: str = ".json") -> str:
    """Return a file name for a session's export: safe everywhere, and never the same for two ids."""
    safe = _UNSAFE.sub("-", session_id).strip("-.")
    if safe == session_id and len(safe) <= 100 and not _HASHED.search(safe):
        return f"geode-session-{safe}{suffix}"
    digest = sha256_bytes(session_id.encode("utf-8", "surrogatepass"))
    return f"geode-session-{safe[:80]}-{digest[:12]}{suffix}"


def export_file(
    connection: sqlite3.Connection,
    session_ids: Sequence[str],
    out: Path,
    *,
    trajectory_id: str | None = None,
    content: Content = "full",
    companions: References | None = None,
    force: bool = False,
    native_ids: bool = False,
) -> Exported:
    """Export sessions as one trajectory file and return what it states.

    The bytes on disk are verified before the file appears: `DataError` TE303 if a claim in them does not
    hold, TE313 if ids had to be derived though `native_ids` asks for none, TE302 without events; `WorldError`
    TE601 if the file exists and not `force`.
    """
    export = Export(
        connection, session_ids, trajectory_id=trajectory_id, content=content, companions=companions
    )

    def check(path: Path) -> None:
        result = verify_path(path, name=out.name)
        if result.verdict in ("invalid", "unreadable"):
            worst = next(found for found in result.findings if found.severity == "error")
            raise DataError("TE303", what=out.name, why=f"{worst.code} {worst.message}")
        if native_ids and result.derived_ids:
            raise DataError("TE313", why=f"{result.derived_ids} id(s) would be derived", place=out.name)

    write_new(out, export.chunks(), force=force, mode=MODE, check=check)
    return export.result


class Projection:
    """Sessions written one way out: iterate `chunks`, then `ledger` accounts for every event.

    `DataError` TE302 for a session without events, and where the format holds none of them; `WorldError`
    TE101 for several sessions in a format whose files hold one.
    """

    def __init__(self, connection: sqlite3.Connection, session_ids: Sequence[str], way: Way) -> None:
        ids = list(dict.fromkeys(session_ids))
        if len(ids) > 1 and not way.several:
            raise WorldError(
                "TE101", what=f"--as {way.name}", why="one file holds one session: name a folder"
            )
        self._db = connection
        self._ids = ids
        self._way = way
        self.ledger = Ledger(way.reasons, f"{way.format} has no place for it")

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes."""
        yield from self._way.chunks(self._documents(), self.ledger)
        counts = self.ledger.counts
        if not counts["whole"] + counts["part"]:
            whose = f"{counts['total']} event(s) of {', '.join(self._ids)}"
            raise DataError("TE302", what=f"{self._way.format} holds none of the {whose}")

    def report(self, sha256: str, size: int) -> dict[str, Any]:
        """Return the loss report of what was written (schema `geode-traj.export-loss@1`)."""
        output = {"sha256": sha256, "bytes": size}
        return self.ledger.report(
            tool_version=__version__, way=self._way.name, format=self._way.format, output=output
        )

    def _documents(self) -> Iterator[Document]:
        for session_id in self._ids:
            export = Export(self._db, [session_id])
            self.ledger.sessions.append(session_id)
            yield export.document()
            self.ledger.derived += export.result.derived


def export_as(
    connection: sqlite3.Connection,
    session_ids: Sequence[str],
    out: Path,
    way: Way,
    *,
    force: bool = False,
    native_ids: bool = False,
) -> Ledger:
    """Write sessions in another format, and beside it, as `<out>.loss.json`, what became of every event.

    Neither file appears without the other. Raises as `Projection`, `DataError` TE313 if ids had to be derived
    though `native_ids` asks for none, and `WorldError` TE601 if one of the files exists and not `force`.
    """
    beside = out.with_name(out.name + LOSS)
    for path in () if force else (out, beside):
        if os.path.lexists(path):
            raise WorldError("TE601", path=path.name, place=str(path))
    made = Projection(connection, session_ids, way)

    def account(path: Path) -> None:
        if native_ids and made.ledger.derived:
            raise DataError("TE313", why=f"{made.ledger.derived} id(s) would be derived", place=out.name)
        report = made.report(*sha256_file(path))
        write_new(beside, [dumps(report), b"\n"], force=force, mode=MODE)

    try:
        write_new(out, made.chunks(), force=force, mode=MODE, check=account)
    except WorldError:
        if beside.exists() and not out.exists():  # the account of a file that did not get its name
            beside.unlink()
        raise
    return made.ledger
