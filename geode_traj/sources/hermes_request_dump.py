"""Hermes's request dumps: one failed request each, with the whole prompt, and no transcript."""

from __future__ import annotations

from collections.abc import Iterable

from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit


class HermesRequestDump(Source):
    """Knows the dumps, so that they are skipped for what they are."""

    name = "hermes-request-dump"
    reads = "Hermes request dumps: recognised and skipped"
    no_transcript = "a Hermes request dump: the prompt of one failed request, no transcript"

    def detect(self, probe: Probe) -> bool:
        """Match one object with a `reason` and a `request` that has headers."""
        head = probe.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if head[:1] != b"{":
            return False
        row = next(probe.objects(1), None)
        if row is not None:
            request = row.get("request")
            return "reason" in row and isinstance(request, dict) and "headers" in request
        places = [head.find(word) for word in (b'"reason"', b'"request"', b'"headers"')]
        return min(places) >= 0 and places[1] < places[2] and places[1] - places[0] < 4096

    def units(self, given: Input) -> Iterable[Unit]:
        """Return nothing: a dump is never read."""
        return ()

    def items(self, given: Input) -> Iterable[Item]:
        """Return nothing: a dump is never read."""
        return ()


SOURCE = HermesRequestDump()
