"""Results of which a transcript holds a preview only: their whole output is a file beside it."""

from __future__ import annotations

import re
from typing import Any, Final

from geode_traj.model.event import Loss
from geode_traj.sources.claude_code.beside import Beside
from geode_traj.sources.claude_code.blocks import Part
from geode_traj.sources.claude_code.media import Attachments
from geode_traj.sources.claude_code.row import Row

_KEPT: Final = re.compile(r"\s{0,16}<persisted-output>\n?[^\n]{0,200}?saved to: ([^\n<]{1,4096})")


def restore(row: Row, part: Part, told: Any, beside: Beside) -> Loss | None:
    """Put a result's whole output in the place of its preview; return the loss where it is not there.

    `persisted_output` keeps the path and the preview. `companion` tells whether the file was read: one that
    is gone later takes nothing back of what was.
    """
    path = _path(part.payload["result"], told)
    if not path:
        return None
    output = beside.output(path)
    kept = part.payload["persisted_output"] = {"path": path}
    if output.loss:
        kept["companion"] = "missing"
        return Loss(output.loss)
    kept |= {"companion": "read", "bytes": output.size, "preview": part.payload["result"]}
    attachments = Attachments(part.payload.pop("attachments", ()))
    part.payload["result"] = attachments.lifted(row.taken(output.read))
    if attachments.items:
        part.payload["attachments"] = attachments.items
    return None


def _path(result: Any, told: Any) -> str:
    """Return the path at which a result says that its whole output is kept, "" for none."""
    named = told.get("persistedOutputPath") if isinstance(told, dict) else None
    if isinstance(named, str) and named:
        return named
    if isinstance(result, list) and len(result) == 1 and isinstance(result[0], dict):
        result = result[0].get("text")
    found = _KEPT.match(result) if isinstance(result, str) else None
    return found[1].strip() if found else ""
