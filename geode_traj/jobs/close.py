"""Attesting the end of a session that its source never ended (importer decision J4)."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.errors import DataError, WorldError
from geode_traj.store import events, opening

MAX_TEXT = 2048


def close(store: Path, session_id: str, *, by: str, reason: str) -> str:
    """Append a `session.ended` event with source `attestation` and return its event id.

    Who, when and why stand in the payload. `WorldError` TE504 for an unknown session, `DataError` TE314 for
    one that has ended already.
    """
    for name, text in (("--by", by), ("--reason", reason)):
        if not text.strip() or len(text) > MAX_TEXT:
            raise WorldError("TE101", what=name, why=f"1 to {MAX_TEXT} characters")
    with opening.open_writer(store) as connection, opening.transaction(connection):
        last = events.last(connection, session_id)
        if last is None:
            raise WorldError("TE504", session=session_id)
        if last.kind == "session.ended":
            raise DataError("TE314", what=f"session {session_id}", why="it has ended already")
        now = time.time()
        payload = dumps({"attested_by": by.strip(), "attested_at": now, "reason": reason.strip()})
        event_id = secrets.token_hex(16)
        values = last._asdict() | {
            "event_id": event_id,
            # An end is not before what it ends, even where a clock was ahead.
            "occurred_at": max(now, last.occurred_at),
            "turn_id": "",
            "call_id": "",
            "parent_event_id": None,
            "kind": "session.ended",
            "role": "",
            "status": "attested",
            "model": "",
            "provider": "",
            "payload_json": payload.decode(),
            "payload_hash": sha256_bytes(payload),
            "source": "attestation",
        }
        events.insert(connection, [list(values.values())[1:]])
    return event_id
