"""Hermes's request dumps: one failed request each, with the whole prompt, and no transcript."""

from __future__ import annotations

from geode_traj.sources.base import NoTranscript, Probe


class HermesRequestDump(NoTranscript):
    """Knows the dumps, so that they are skipped for what they are."""

    name = "hermes-request-dump"
    reads = "Hermes request dumps: recognised and skipped"
    no_transcript = "a Hermes request dump: the prompt of one failed request, no transcript"

    def detect(self, probe: Probe) -> bool:
        """Match one object with a `reason` and a `request` that has headers."""
        head = probe.start.lstrip()
        if head[:1] != b"{":
            return False
        row = next(probe.objects(1), None)
        if row is not None:
            request = row.get("request")
            return "reason" in row and isinstance(request, dict) and "headers" in request
        places = [head.find(word) for word in (b'"reason"', b'"request"', b'"headers"')]
        return min(places) >= 0 and places[1] < places[2] and places[1] - places[0] < 4096


SOURCE = HermesRequestDump()
