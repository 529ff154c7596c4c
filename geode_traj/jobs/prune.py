"""Pruning: list what is past retention, export and verify it first, then delete it without trace."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from geode_traj.codec.files import sha256_file, sync_folder
from geode_traj.errors import TrajError, WorldError
from geode_traj.export.trajectory import Export
from geode_traj.jobs.exporting import export_file, file_name
from geode_traj.store import opening, retention
from geode_traj.store.retention import Expired


@dataclass(frozen=True, slots=True)
class Pruned:
    """One session past retention: its export if one was asked for, whether it was deleted, why it stayed."""

    session: Expired
    export: Path | None = None
    deleted: bool = False
    kept_because: str | None = None
    code: str | None = None


def listed(connection: sqlite3.Connection, cutoff: float) -> list[Pruned]:
    """Return what a prune would delete."""
    return [Pruned(session) for session in retention.expired(connection, cutoff)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a prune did; `held` is `WorldError` TE501 where a reader keeps deleted text in SQLite's log."""

    sessions: list[Pruned]
    held: WorldError | None


def prune(store: Path, cutoff: float, export_to: Path | None) -> Outcome:
    """Delete the sessions that ended before `cutoff` (Unix seconds); with `export_to`, only what exported.

    Each export is verified from its bytes and durable, folder included, before anything is deleted. The
    deletion is one transaction, which looks again at what is expired: a session that was resumed meanwhile,
    or that changed since its export, stays.
    """
    if export_to is not None:
        try:
            export_to.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorldError("TE602", path=export_to.name, why=error.strerror) from None
    with opening.open_reader(store) as reader:
        expired = retention.expired(reader, cutoff)
        done = [_exported(reader, session, export_to) for session in expired]
    if export_to is not None and done:
        sync_folder(export_to)
    with opening.open_writer(store) as connection:
        with opening.transaction(connection):
            still = {
                (session.session_id, session.events) for session in retention.expired(connection, cutoff)
            }
            ready = [
                one
                for one in done
                if one.kept_because is None and (one.session.session_id, one.session.events) in still
            ]
            retention.delete(connection, [one.session.session_id for one in ready])
        held = scrubbed(store, connection) if ready else None
    deleted = {one.session.session_id for one in ready}
    return Outcome([_outcome(one, one.session.session_id in deleted) for one in done], held)


def scrubbed(store: Path, connection: sqlite3.Connection) -> WorldError | None:
    """Rewrite the files after a deletion; return an error of that, since the deletion stands all the same."""
    try:
        with opening.translated(store):
            retention.scrub(connection)
    except WorldError as error:
        return error
    return None


def _exported(connection: sqlite3.Connection, session: Expired, folder: Path | None) -> Pruned:
    if folder is None:
        return Pruned(session)
    path = folder / file_name(session.session_id)
    try:
        if path.exists():
            _check_same(connection, session.session_id, path)
        else:
            export_file(connection, [session.session_id], path)
    except TrajError as error:
        return Pruned(session, kept_because=error.message, code=error.code)
    return Pruned(session, export=path)


def _check_same(connection: sqlite3.Connection, session_id: str, path: Path) -> None:
    """Accept an export that an interrupted prune left behind; raise TE601 where the file is anything else."""
    digest = hashlib.sha256()
    for chunk in Export(connection, [session_id]).chunks():
        digest.update(chunk)
    if sha256_file(path)[0] != digest.hexdigest():
        raise WorldError("TE601", path=path.name, place=str(path))


def _outcome(one: Pruned, deleted: bool) -> Pruned:
    kept = one.kept_because
    if not deleted and kept is None:
        kept = "changed since it was listed"
    return Pruned(one.session, one.export, deleted, kept, one.code)
