"""Redaction on the way into the store: credentials and configured fields never reach it (decision 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redactor


class Scrubber:
    """Redacts payloads, columns and damaged lines with the import profile, numbering values store-wide."""

    def __init__(self, numbering: Numbering, sensitive_fields: Iterable[str] = ()) -> None:
        self._redactor = Redactor("import", numbering.number, sensitive_fields)
        self.may_match = self._redactor.scanner.may_match
        """Tells quickly whether anything in canonical JSON could need redaction."""

    def payload(self, payload: dict[str, Any], counts: Counter[str]) -> dict[str, Any]:
        """Return the redacted payload with its redactions listed in `_redactions`; count them by class."""
        redacted, found = self._redactor.redact(payload)
        if not found:
            return payload
        earlier = redacted.get("_redactions")
        listed = list(earlier) if isinstance(earlier, list) else []
        counts.update(item.cls for item in found)
        return {**redacted, "_redactions": listed + [item.to_json() for item in found]}

    def text(self, text: str, counts: Counter[str]) -> str:
        """Return the redacted text of a column."""
        if not text or not self.may_match(dumps([text])):
            return text
        redacted, found = self._redactor.redact_text(text)
        counts.update(item.cls for item in found)
        return redacted

    def raw(self, data: bytes, counts: Counter[str]) -> bytes:
        """Return the redacted bytes of a line that could not be read; bytes that are not UTF-8 stay."""
        text = data.decode("utf-8", "surrogateescape")
        redacted, found = self._redactor.redact_text(text, damaged=True)
        counts.update(item.cls for item in found)
        return redacted.encode("utf-8", "surrogateescape") if found else data
