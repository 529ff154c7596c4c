"""The closed vocabulary of the record contract: kinds, scopes, marker keys (record contract §3, §4, §6)."""

from __future__ import annotations

from typing import Final

TRAJECTORY: Final = "geode.trajectory@1"
DATED_PREFIX: Final = "geode.trajectory@"
RELEASE: Final = "geode.trajectory-release@1"

KINDS: Final = frozenset(
    """session.started session.ended turn.completed verification.decided verification.continued
    verification.evidence verification.pending message.user message.assistant tool.called tool.completed
    subagent.started subagent.stopped artifact.saved usage.recorded error.recorded gui.step
    preflight.recorded handoff.triggered legacy.imported""".split()
)
CALLS: Final = frozenset({"tool.called", "tool_call"})
RESULTS: Final = frozenset({"tool.completed", "tool_result"})
USER_MESSAGES: Final = frozenset({"message.user", "user_message"})
TURN_SCOPED: Final = (
    CALLS
    | RESULTS
    | USER_MESSAGES
    | frozenset(
        """message.assistant assistant_message turn.completed verification.decided verification.continued
        verification.evidence verification.pending""".split()
    )
)
# A session opens and closes around its turns: these two are never given one.
SESSION_SCOPED: Final = frozenset({"session.started", "session.ended"})

# Row fields that an exported payload carries over its own keys (record contract §5).
OVERLAID: Final = (
    "model",
    "provider",
    "status",
    "source",
    "session_generation",
    "parent_event_id",
    "source_payload_hash",
)
# Marker keys of ours; GEODE's verifier counts none of them (record contract §4).
OUR_MARKERS: Final = frozenset(
    "_derived _blobs _redactions _escaped _nonfinite _legacy _native_turn_id _displaced".split()
)
ISSUE_KEYS: Final = frozenset(
    """_corrupt_payload _content_omitted _omitted_type _personal_data_omitted _timestamp_invalid
    _timestamp_missing _truncated _truncated_items""".split()
)
SENSITIVE_KEYS: Final = frozenset("api_key authorization cookie headers password secret token".split())
CUT_MARK: Final = "…[truncated:"
REDACTED_VALUES: Final = frozenset({"<REDACTED>", "[REDACTED]"})
