"""Attesting the end of a session that its source never ended (importer decision J4)."""

from __future__ import annotations

import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.ids import foreign_event_id
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.migrate.scrub import Scrubber
from geode_traj.model.event import Row
from geode_traj.scan.numbering import Numbering
from geode_traj.store import events, opening

SOURCE = "attestation"
MAX_TEXT = 2048


@dataclass(frozen=True, slots=True)
class Closed:
    """One session: the id of the event that ends it, or why it was left as it is."""

    session_id: str
    event_id: str = ""
    error: TrajError | None = None


def close(
    store: Path, session_ids: Iterable[str], *, by: str, reason: str, at: float, dry_run: bool = False
) -> Iterator[Closed]:
    """Append a `session.ended` event with source `attestation` to each session, one transaction each.

    Who, when (`at`, Unix seconds) and why stand in the payload. `Closed.error` is `WorldError` TE504 for an
    unknown session, `DataError` TE315 for one that has ended. Raises `WorldError` TE101 for an empty or
    over-long text, TE503 where there is no store. `dry_run` tells the same and writes nothing.
    """
    for name, text in (("--by", by), ("--reason", reason)):
        if not text.strip() or len(text) > MAX_TEXT:
            raise WorldError("TE101", what=name, why=f"1 to {MAX_TEXT} characters")
    with opening.open_reader(store) as reader:  # a writer would create a store for a mistyped path
        if dry_run:
            yield from (_closed(reader, session_id, by, reason, at) for session_id in session_ids)
            return
    with opening.open_writer(store) as connection:
        for session_id in session_ids:
            with opening.transaction(connection):
                done = _closed(connection, session_id, by, reason, at, write=True)
            yield done


def _closed(
    connection: sqlite3.Connection, session_id: str, by: str, reason: str, at: float, *, write: bool = False
) -> Closed:
    last = events.last(connection, session_id)
    if last is None:
        return Closed(session_id, error=WorldError("TE504", session=session_id))
    if last.kind == "session.ended":
        return Closed(session_id, error=DataError("TE315", session=session_id))
    scrubber = Scrubber(Numbering(secrets.token_bytes(32)))  # its numbers stand in this event alone
    said, who = (scrubber.text(text.strip(), Counter()) for text in (reason, by))
    values = _end(last, {"attested_by": who, "attested_at": at, "reason": said}, at)
    if write:
        events.insert(connection, [list(values)[1:]])
    return Closed(session_id, values.event_id)


def _end(last: Row, attestation: dict[str, object], at: float) -> Row:
    payload = dumps(attestation)
    digest = sha256_bytes(payload)
    return last._replace(
        event_id=foreign_event_id(SOURCE, last.session_id, last.event_id, 0, digest),
        # An end is not before what it ends, even where a clock was ahead.
        occurred_at=max(at, last.occurred_at) if last.occurred_at == last.occurred_at else at,
        turn_id="",
        call_id="",
        parent_event_id=None,
        kind="session.ended",
        role="",
        status="attested",
        model="",
        provider="",
        payload_json=payload.decode(),
        payload_hash=digest,
        source=SOURCE,
    )
