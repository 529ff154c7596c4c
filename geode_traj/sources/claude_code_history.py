"""Claude Code's `history.jsonl`: the prompts a person typed in all sessions, without any answer."""

from __future__ import annotations

from collections.abc import Iterable

from geode_traj.model.event import Item
from geode_traj.sources.base import Input, Probe, Source, Unit


class ClaudeCodeHistory(Source):
    """Known only to be skipped: its prompts stand in the session transcripts."""

    name = "claude-code-history"
    reads = "nothing of Claude Code's prompt history"
    no_transcript = "a Claude Code prompt history: prompts without answers, no transcript"

    def detect(self, probe: Probe) -> bool:
        """Match when every one of the first objects is a typed prompt."""
        rows = list(probe.objects())
        return bool(rows) and all({"display", "pastedContents", "project"} <= row.keys() for row in rows)

    def units(self, given: Input) -> Iterable[Unit]:
        """Return nothing."""
        return ()

    def items(self, given: Input) -> Iterable[Item]:
        """Return nothing."""
        return ()


SOURCE = ClaudeCodeHistory()
