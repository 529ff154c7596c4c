"""What rows of a session's event log look like."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

# Rows that only this program writes; one of them at least must be there.
SURE: Final = frozenset(
    """session.start session.resume session.shutdown user.message assistant.message assistant.turn_start
    tool.execution_start tool.execution_complete hook.start""".split()
)
# Rows that tell of a state of the session or of its program, and are kept as they are.
STATES: Final = frozenset(
    """assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.fusion_phase_started
    assistant.idle assistant.intent assistant.reasoning assistant.turn_end assistant.turn_start
    auto_mode_switch.completed auto_mode_switch.requested command.completed command.execute command.queued
    elicitation.completed elicitation.requested exit_plan_mode.completed exit_plan_mode.requested
    external_tool.completed external_tool.requested hook.end hook.progress hook.start mcp.oauth_completed
    mcp.oauth_required model.call_failure model.call_finished model.turn_started permission.completed
    permission.requested sampling.completed sampling.requested session.auto_mode_resolved
    session.autopilot_objective_changed session.background_tasks_changed session.binary_asset
    session.compaction_start session.context_changed session.context_cleared session.handoff session.idle
    session.info session.limits_changed session.mode_changed session.permissions_changed session.plan_changed
    session.remote_steerable_changed session.session_limits_changed session.skills_loaded
    session.snapshot_rewind session.task_complete session.title_changed session.todos_changed
    session.tools_updated session.truncation session.usage_checkpoint session.usage_info session.warning
    session.workspace_file_changed skill.invoked subagent.configured subagent.deselected subagent.selected
    system.notification tool.execution_partial_result tool.execution_progress user_input.completed
    user_input.requested""".split()
)
_KIND: Final = re.compile(r"[a-z][a-z_]*(?:\.[a-z][a-z_]*)+|abort", re.ASCII)
# Where no line of a look at the file is whole: a first line longer than the look.
LONG: Final = re.compile(
    rb'\A[\s\0]*\{"type":"(?:session\.start|user\.message|assistant\.message|tool\.execution_\w+|hook\.start)",'
    rb'"data":\{"'
)


def is_row(row: Any) -> bool:
    """Tell whether a value has the frame of a row: a kind, its data, and who or when it is."""
    if not isinstance(row, dict):
        return False
    kind = row.get("type")
    if not isinstance(kind, str) or not isinstance(row.get("data"), dict) or not _KIND.fullmatch(kind):
        return False
    return isinstance(row.get("timestamp"), str) or isinstance(row.get("id"), str)


def is_log(rows: Iterable[dict[str, Any]]) -> bool:
    """Tell whether most of these rows have the frame, and one of them unmistakably."""
    seen = framed = sure = 0
    for row in rows:
        seen += 1
        if is_row(row):
            framed += 1
            sure += row["type"] in SURE
    return sure > 0 and framed * 2 > seen
