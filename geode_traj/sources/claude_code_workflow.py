"""What Claude Code keeps of a workflow: the journal of its agents, and the account of its run."""

from __future__ import annotations

import re
from typing import Final

from geode_traj.sources.base import NoTranscript, Probe

_STEPS: Final = ("started", "result")  # asked with whatever stands there, hashable or not
_RUN: Final = re.compile(rb'\s{0,16}\{\s{0,16}"runId"\s{0,16}:\s{0,16}"wf_')


class ClaudeCodeWorkflow(NoTranscript):
    """Known only to be skipped: what the agents of a workflow said stands in their own transcripts."""

    name = "claude-code-workflow"
    reads = "nothing of Claude Code's workflow journals and accounts of runs"
    no_transcript = "a journal or account of a Claude Code workflow, no transcript: its agents have their own"

    def detect(self, probe: Probe) -> bool:
        """Match lines that note a start or a result of an agent by a key, or the head of a run's account."""
        rows = list(probe.objects())
        steps = [row.get("type") in _STEPS and {"key", "agentId"} <= row.keys() for row in rows]
        return (bool(rows) and all(steps)) or probe.begins(_RUN)


SOURCE = ClaudeCodeWorkflow()
