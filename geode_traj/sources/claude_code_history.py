"""Claude Code's `history.jsonl`: the prompts a person typed in all sessions, without any answer."""

from __future__ import annotations

from geode_traj.sources.base import NoTranscript, Probe


class ClaudeCodeHistory(NoTranscript):
    """Known only to be skipped: its prompts stand in the session transcripts."""

    name = "claude-code-history"
    reads = "nothing of Claude Code's prompt history"
    no_transcript = "a Claude Code prompt history: prompts without answers, no transcript"

    def detect(self, probe: Probe) -> bool:
        """Match when every one of the first objects is a typed prompt."""
        rows = list(probe.objects())
        return bool(rows) and all({"display", "pastedContents", "project"} <= row.keys() for row in rows)


SOURCE = ClaudeCodeHistory()
