"""Writing exports: each is verified from its bytes before it gets its name."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from geode_traj.codec.files import sha256_bytes, write_new
from geode_traj.errors import DataError
from geode_traj.export.references import References
from geode_traj.export.trajectory import Content, Export, Exported
from geode_traj.verify import verify_path

MODE: Final = 0o600  # an export is private until it is reviewed
_HASHED: Final = re.compile(r"-[0-9a-f]{12}\Z")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def file_name(session_id: str) -> str:
    """Return a file name for a session's export: safe everywhere, and never the same for two ids."""
    safe = _UNSAFE.sub("-", session_id).strip("-.")
    if safe == session_id and len(safe) <= 100 and not _HASHED.search(safe):
        return f"geode-session-{safe}.json"
    return f"geode-session-{safe[:80]}-{sha256_bytes(session_id.encode('utf-8', 'surrogatepass'))[:12]}.json"


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
