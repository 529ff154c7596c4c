"""Quality and completeness, recomputed from the events and never believed (record contract §6)."""

from __future__ import annotations

CALLS = {"tool.called", "tool_call"}
RESULTS = {"tool.completed", "tool_result"}
MESSAGES = {"message.user", "message.assistant", "user_message", "assistant_message"}
VERDICTS = {
    "verification.decided",
    "verification.continued",
    "verification.evidence",
    "verification.pending",
}
TURN_SCOPED = CALLS | RESULTS | MESSAGES | VERDICTS | {"turn.completed"}
ISSUE_KEYS = {
    "_corrupt_payload",
    "_content_omitted",
    "_omitted_type",
    "_personal_data_omitted",
    "_timestamp_invalid",
    "_timestamp_missing",
    "_truncated",
    "_truncated_items",
}
LIMITING_WORDS = ("unpublished", "excluded", "content reduction", "digest instead", "reduced", "truncated")


def has_issue(value: object) -> bool:
    """Whether a payload value holds, at any depth, one of the markers of §4 that §6 counts."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            if ISSUE_KEYS & item.keys():
                return True
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, str) and (item in ("<REDACTED>", "[REDACTED]") or "…[truncated:" in item):
            return True
    return False


def _tool_pairing(events: list[dict]) -> dict[str, int]:
    calls = results = paired = orphan_results = missing = 0
    still_open: dict[tuple[str, str, str], int] = {}
    for event in events:
        if event["kind"] not in CALLS | RESULTS:
            continue
        is_call = event["kind"] in CALLS
        calls += is_call
        results += not is_call
        key = (event["session_id"], event["turn_id"], event["call_id"])
        if not event["call_id"]:
            missing += 1
        elif is_call:
            still_open[key] = still_open.get(key, 0) + 1
        elif still_open.get(key, 0):
            still_open[key] -= 1
            paired += 1
        else:
            orphan_results += 1
    return {
        "calls": calls,
        "results": results,
        "paired": paired,
        "orphan_calls": sum(still_open.values()),
        "orphan_results": orphan_results,
        "missing_call_ids": missing,
    }


def quality(events: list[dict]) -> dict:
    """Return the `integrity.quality` block of `events`; the two booleans tell the truth, `true` or not."""
    pairing = _tool_pairing(events)
    required = [event for event in events if event["kind"] in TURN_SCOPED]
    issues = sum(has_issue(event["payload"]) for event in events)
    return {
        "event_id_unique": len({event["event_id"] for event in events}) == len(events),
        "ordinal_contiguous": [event["ordinal"] for event in events] == list(range(1, len(events) + 1)),
        "correlation": {
            "session_id_present": sum(bool(event["session_id"]) for event in events),
            "turn_id_present": sum(bool(event["turn_id"]) for event in events),
            "turn_id_required": len(required),
            "turn_id_missing": sum(not event["turn_id"] for event in required),
            "tool_call_id_present": pairing["calls"] + pairing["results"] - pairing["missing_call_ids"],
            "event_count": len(events),
        },
        "tool_pairing": pairing,
        "payload_issue_events": issues,
        "replay_fidelity": "reduced" if issues else "full",
    }


def _scope_reasons(found: dict) -> list[str]:
    pairing = found["tool_pairing"]
    counted = [
        (pairing["missing_call_ids"], "tool event(s) lack call_id"),
        (found["correlation"]["turn_id_missing"], "turn-scoped event(s) lack turn_id"),
        (pairing["orphan_calls"], "tool call(s) lack a result"),
        (pairing["orphan_results"], "tool result(s) lack a call"),
    ]
    empty = [] if found["correlation"]["event_count"] else ["trajectory contains no events"]
    return empty + [f"{count} {text}" for count, text in counted if count]


def _policy_reasons(doc: dict) -> list[str]:
    reasons = []
    redactions = doc.get("privacy", {}).get("redactions")
    if isinstance(redactions, list) and any(
        isinstance(item, dict) and item.get("type") == "content_reduction" for item in redactions
    ):
        reasons.append("privacy policy declares content reduction")
    fidelity = doc.get("integrity", {}).get("fidelity")
    if isinstance(fidelity, str) and any(word in fidelity.lower() for word in LIMITING_WORDS):
        reasons.append(f"declared fidelity limits replay: {fidelity[:256]}")
    return reasons


def _unique(reasons: list[str]) -> list[str]:
    return list(dict.fromkeys(reasons))


def completeness(doc: dict) -> dict:
    """Return the six completeness members of `integrity`, from the doc's events and what it declares.

    `doc["integrity"]` is what a producer declares, or a finished block. A finished block's
    false `replay_complete` without a reason is explained by its scope reasons; a producer's gets its own.
    """
    declared = doc.get("integrity", {})
    found = quality(doc["events"])
    issues = found["payload_issue_events"]
    scope, replay = (list(declared.get(f"{which}_incompleteness", [])) for which in ("scope", "replay"))
    scope_declared, replay_declared = (
        declared.get(f"{which}_complete", True) is True for which in ("scope", "replay")
    )
    if not replay_declared and not replay and not ("quality" in declared and scope):
        replay = ["producer declared trajectory replay incomplete"]
    if not scope_declared and not scope:
        scope = ["producer declared trajectory scope incomplete"]
    scope = _unique(scope + _scope_reasons(found))
    if issues:
        replay.append(f"{issues} event payload(s) are truncated, corrupt, or omitted")
    replay = _unique(replay + _policy_reasons(doc))
    scope_complete = scope_declared and not scope
    replay_complete = scope_complete and replay_declared and not replay
    return {
        "scope_complete": scope_complete,
        "replay_complete": replay_complete,
        "complete": replay_complete,
        "scope_incompleteness": scope,
        "replay_incompleteness": replay,
        "incompleteness": _unique(scope + replay),
    }
