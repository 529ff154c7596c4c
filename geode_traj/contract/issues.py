"""Which payloads are truncated, corrupt or omitted: the payload issue events of record contract §4."""

from __future__ import annotations

import re
from typing import Any, Final

from geode_traj.contract.gate_filter import Look
from geode_traj.contract.kinds import CUT_MARK, ISSUE_KEYS, REDACTED_VALUES

# Every issue leaves one of these in the encoded payload; without one, no walk is needed. `REDACTED` may also
# be one of our placeholders: then the walk decides.
ISSUE_SIGNS: Final = "|".join(map(re.escape, (*sorted(ISSUE_KEYS), "[truncated:", "REDACTED"))).encode()
_LOOK: Final = Look(ISSUE_SIGNS)


def has_issue(payload: Any, encoded: bytes | None = None) -> bool:
    """Tell whether a payload counts as a payload issue event; `encoded` (its JSON) only makes it faster.

    The encoding must write these ASCII words plainly, as canonical JSON does.
    """
    if encoded is not None and not _LOOK(encoded):
        return False
    stack = [payload]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if not ISSUE_KEYS.isdisjoint(item):
                return True
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif isinstance(item, str) and (CUT_MARK in item or item in REDACTED_VALUES):
            return True
    return False
