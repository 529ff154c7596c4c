"""Redaction on the way into the store: credentials and configured fields never reach it (decision 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from geode_traj.codec.canonical import dumps
from geode_traj.scan.engine import Scanner
from geode_traj.scan.known import Known
from geode_traj.scan.listed import Listed
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Guide, Redactor


class Scrubber:
    """Redacts payloads, columns and damaged lines with the import profile, numbering values store-wide."""

    def __init__(
        self, numbering: Numbering, sensitive_fields: Iterable[str] = (), known: Known | None = None
    ) -> None:
        scanner = Scanner("import", sensitive_fields)
        self._redactor = Redactor(scanner.knowing(known) if known else scanner, numbering.number)
        self.scanner = self._redactor.scanner
        self.may_match = self.scanner.may_match
        """Tells quickly whether anything in canonical JSON could need redaction."""

    def payload(
        self, payload: dict[str, Any], counts: Counter[str], guide: Guide | None = None
    ) -> dict[str, Any]:
        """Return the redacted payload with its redactions listed in `_redactions`; count them by class.

        What the payload lists already stays listed, where it stands now; what it lists and does not hold is
        its own text, and comes first. A `guide` tells what else goes.
        """
        body, listed = payload, Listed()
        if "_redactions" in payload:
            given = payload["_redactions"]
            body = {key: value for key, value in payload.items() if key != "_redactions"}
            listed = Listed(body, given if isinstance(given, list) else [given])
            if listed.rest:
                body["_redactions"] = listed.rest
        redacted, done = self._redactor.redact(body, listed, guide=guide)
        found = [item for item in done if not item.earlier]
        if not found:
            return payload
        counts.update(item.cls for item in found)
        others = redacted.pop("_redactions", [])
        return {**redacted, "_redactions": [*others, *(item.to_json() for item in done)]}

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
