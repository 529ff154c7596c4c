"""Claude Code's `<sessionId>/tool-results/`: long outputs, read with the results that refer to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from geode_traj.sources.base import NoTranscript
from geode_traj.sources.claude_code.beside import AGENTS, OUTPUTS

_SESSION: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ClaudeCodeOutputs(NoTranscript):
    """Known only to be skipped: an output may look like anything, a transcript of its own too."""

    name = "claude-code-outputs"
    reads = "folders of Claude Code's long tool outputs, with the transcripts that refer to them"
    no_transcript = (
        "long outputs of a Claude Code session, no transcripts: read with the results that name them"
    )

    def claims(self, folder: Path) -> bool:
        """Take the folder of outputs in a session's folder, which is beside its transcript."""
        session = folder.absolute().parent
        return folder.name == OUTPUTS and (
            _SESSION.fullmatch(session.name) is not None
            or (session / AGENTS).is_dir()
            or any(session.with_name(session.name + end).is_file() for end in (".jsonl", ".jsonl.gz"))
        )


SOURCE = ClaudeCodeOutputs()
