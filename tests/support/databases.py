"""SQLite files of fixture cases, made from what `build.json` says of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path


def make(path: Path, described: dict, fill: Callable[[str], str]) -> None:
    """Make the database that `described` tells of.

    `tables` is {table: columns as SQL}; `rows` are [table, {column: value}] in order, a value that is
    `{"hex": …}` being bytes to store as text. Every text goes through `fill`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        for table, columns in described["tables"].items():
            db.execute(f"CREATE TABLE {table} ({columns})")
        for table, row in described.get("rows", ()):
            insert(db, table, {name: _value(value, fill) for name, value in row.items()})


def insert(db: sqlite3.Connection, table: str, row: dict) -> None:
    """Insert a row; bytes are stored as text, whatever they are."""
    marks = ", ".join("CAST(? AS TEXT)" if isinstance(value, bytes) else "?" for value in row.values())
    db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def _value(value: object, fill: Callable[[str], str]) -> object:
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return fill(value) if isinstance(value, str) else value
