"""References to attachments, put back where they stand."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.sources.attachments import walked
from geode_traj.sources.inspect_eval import splitting
from geode_traj.sources.inspect_eval.sample import Sample

_SCHEMES: Final = ("attachment://", "tc://")
BUDGET: Final = 32 << 20
"""Bytes that references may bring into one record: a small one can name a large text many times."""


class References:
    """Resolves the references of one sample; `resolved` are the ids that were put back somewhere."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self.resolved: set[str] = set()
        self._left = 0
        self._mended: list[Tolerated] = []

    def resolve(self, value: Any, mended: list[Tolerated]) -> Any:
        """Return a record's value with its references resolved; one that leads nowhere stays.

        A model's raw request and response (`call`) repeat what its input and output say: theirs stay as they
        are, so that a conversation is not stored once more for each of its steps.
        """
        self._left = BUDGET
        self._mended = mended
        if isinstance(value, dict) and value.get("event") == "model" and "call" in value:
            rest = {key: item for key, item in value.items() if key != "call"}
            return {**self._walk(rest), "call": value["call"]}
        return self._walk(value)

    def text(self, name: str) -> Tolerated | None:
        """Return an attachment, None where it is absent, too large or damaged."""
        span = self._sample.attachments.get(name)
        if span is None or span.length > splitting.MAX_STRING:
            return None
        try:
            read = tolerant(splitting.read(self._sample.stream, span))
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read.value, str) else None

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value) if value.startswith(_SCHEMES) else value
        return walked(value, self._walk)

    def _text(self, reference: str) -> str:
        name = reference.partition("://")[2]
        span = self._sample.attachments.get(name)
        if span is None or span.length > self._left:
            return reference
        read = self.text(name)
        if read is None:
            return reference
        self._left -= span.length
        self.resolved.add(name)
        if read.escaped:
            self._mended.append(read)
        return str(read.value)
