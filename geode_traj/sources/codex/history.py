"""What a fork copied from its parent, told by content alone: its lines carry fresh times and other places."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final

from geode_traj.codec.canonical import dumps

_DIGEST: Final = 16


class History:
    """Names each record by what it says and by what was said before it.

    A record's key depends on the session that the history began in, on the user messages up to it, on its own
    content, and on how many equal records came since the last user message. So a copied prefix has the keys
    of its original even where the copy left tool calls or reasoning out; and whatever follows the first
    message of its own has other keys, though it may say the same.
    """

    def __init__(self, origin: str) -> None:
        self._chain = b""
        self._met: Counter[bytes] = Counter()
        self.restart(origin)

    def restart(self, origin: str) -> None:
        """Begin the history of another session."""
        self._chain = hashlib.sha256(origin.encode("utf-8", "surrogatepass")).digest()
        self._met.clear()

    def key(self, kind: str, payload: Any, *, speaks: bool) -> str:
        """Return the next record's key; `speaks`: it is a user's message, which later keys depend on."""
        digest = hashlib.sha256(kind.encode() + b"\0" + dumps(payload)).digest()[:_DIGEST]
        place = self._met[digest]
        self._met[digest] += 1
        key = hashlib.sha256(self._chain + digest + b"%d" % place).hexdigest()
        if speaks:
            self._chain = hashlib.sha256(self._chain + digest).digest()
            self._met.clear()
        return key
