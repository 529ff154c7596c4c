"""Whether the store that lies beside a legacy file holds the same session: some versions wrote both."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from geode_traj.codec import sqlite_in
from geode_traj.errors import TrajError


def stored_session(path: Path, name: str) -> str:
    """Return the session of a `state.db` in the file's folder or the one above that `name` means, else "".

    The file's name is the session's id, or only its beginning; one that fits several means none of them.
    """
    for folder in path.absolute().parents[:2]:
        store = folder / "state.db"
        if store.is_file():
            return _look_up(store, name)
    return ""


def _look_up(store: Path, name: str) -> str:
    query = (
        "SELECT id FROM sessions WHERE id = ?1 OR substr(id, 1, length(?1)) = ?1"
        " ORDER BY id = ?1 DESC LIMIT 2"
    )
    try:
        with sqlite_in.shared(store) as connection:
            found = [str(key) for (key,) in connection.execute(query, (name,))]
    except (TrajError, sqlite3.Error):  # a store that cannot be read now says nothing of other files
        return ""
    return found[0] if found and (found[0] == name or len(found) == 1) else ""
