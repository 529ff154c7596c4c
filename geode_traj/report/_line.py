"""JSON of a report on one line."""

from __future__ import annotations

import json

from geode_traj.codec.canonical import dumps


def line(value: object) -> str:
    """Return canonical JSON; lone surrogates, of names that are no UTF-8, stay for the writer to escape."""
    try:
        return dumps(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
