"""What a published event or head lists of its redactions: those an import had made, and those made now."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec import pointer
from geode_traj.scan.engine import Scanner
from geode_traj.scan.listed import Listed, in_text
from geode_traj.scan.redact import Redaction

# Columns that an import redacts too; an event lists only what stands in its payload.
_COLUMNS: Final = ("model", "provider", "status")


def listed(payload: dict[str, Any], entries: object) -> Listed:
    """Return which redactions a payload holds: of its `_redactions` the true ones, and all in its columns."""
    columns = [
        {"pointer": f"/{name}", "class": one.cls, **one._asdict()}
        for name in _COLUMNS
        if isinstance(payload.get(name), str)
        for one in in_text(payload[name])
    ]
    return Listed(payload, [*(entries if isinstance(entries, list) else []), *columns])


def entry(redaction: Redaction, scanner: Scanner) -> dict[str, object]:
    """Return the entry of `_redactions` for a redaction.

    Keys joined to a pointer can read as what none of them is: `/home/url`. Nothing in a JSON pointer can keep
    them apart, so where anything is found in one, the list of its keys stands in its place.
    """
    made = redaction.to_json()
    if scanner.find(redaction.pointer):
        made["pointer"] = pointer.split(redaction.pointer)
    return made
