"""Private state that never leaves the store: its key, and the numbers of redacted values.

Values themselves are not kept: a keyed MAC finds a value's number again in a later import.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable

from geode_traj.errors import DataError
from geode_traj.store.schema import has_table

MIN_KEY = 32


def key(connection: sqlite3.Connection) -> bytes:
    """Return the store's private key of 32 random bytes, made at first use inside the open transaction."""
    connection.execute(
        "INSERT OR IGNORE INTO traj_secrets (name, value) VALUES ('redaction', ?)", (secrets.token_bytes(32),)
    )
    (value,) = connection.execute("SELECT value FROM traj_secrets WHERE name = 'redaction'").fetchone()
    return _sound(value)


def existing_key(connection: sqlite3.Connection) -> bytes | None:
    """Return the store's private key if it has one."""
    if not has_table(connection, "traj_secrets"):
        return None
    row = connection.execute("SELECT value FROM traj_secrets WHERE name = 'redaction'").fetchone()
    return _sound(row[0]) if row else None


def _sound(value: object) -> bytes:
    if not isinstance(value, bytes) or len(value) < MIN_KEY:
        raise DataError("TE505", why="the store's private key cannot be read")
    return value


def numbers(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """Return the numbering of redacted values: (class, MAC, n) in order of first appearance."""
    return list(connection.execute("SELECT class, mac, n FROM traj_redactions ORDER BY id"))


def write_numbers(connection: sqlite3.Connection, rows: Iterable[tuple[str, str, int]]) -> None:
    """Add the numbers that an import gave out."""
    connection.executemany("INSERT INTO traj_redactions (class, mac, n) VALUES (?, ?, ?)", rows)
