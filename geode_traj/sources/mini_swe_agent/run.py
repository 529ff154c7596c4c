"""What a mini-swe-agent file says of its run as a whole: configuration, end, cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from geode_traj.model.event import Event
from geode_traj.sources import values
from geode_traj.sources.fields import number, without, word
from geode_traj.sources.record import Record

_COMPLETED: Final = frozenset({"submitted"})
_INTERRUPTED: Final = ("interrupt", "limitsexceeded", "timeexceeded", "userabort", "keyboard")


def started(head: Record) -> Event:
    """Return the start of a run: what its agent was."""
    info = head.value.get("info")
    words = {key: head.value[key] for key in ("trajectory_format",) if key in head.value}
    placed = [*words]
    if isinstance(info, dict):
        words |= {key: info[key] for key in ("config", "mini_version") if key in info}
        placed.append("info")
    model = word(info, "config", "model", "model_name")
    return head.event("session.started", words, without(head.value, *placed), status="active", model=model)


def ended(head: Record, *, told: bool, counted: bool) -> Iterator[Event]:
    """Yield what a run cost and how it ended, where no message told (`counted`, `told`).

    An exit status that is empty or null is that of a run that goes on.
    """
    info = head.value.get("info")
    if not isinstance(info, dict):
        return
    rest = without(info, "config", "mini_version")
    stats = info.get("model_stats")
    if stats is not None and not counted:
        words = values.usage(cost_usd=number(stats, "instance_cost"), purpose="run")
        yield head.event("usage.recorded", words, {"model_stats": rest.pop("model_stats")})
    status = word(info, "exit_status")
    if status and not told:
        words = {"termination_reason": status, **without(rest, "exit_status")}
        yield head.event("session.ended", words, status=outcome(status))
    elif rest:
        yield head.event("legacy.imported", {"operation": "info", "info": rest})


def outcome(status: str) -> str:
    """Return how a run went by its exit status, the name of what ended it."""
    plain = status.lower()
    if plain in _COMPLETED:
        return "completed"
    return "interrupted" if any(plain.startswith(one) for one in _INTERRUPTED) else "error"


def exited(record: Record, told: dict[str, Any]) -> Event:
    """Return the end of a run as its last message tells it."""
    extra = told.get("extra")
    status = word(extra, "exit_status")
    words: dict[str, Any] = {"content": told.get("content")} if "content" in told else {}
    words |= {"termination_reason": status} if status else {}
    fields = without(told, "role", "content")
    if isinstance(extra, dict) and status:
        fields["extra"] = without(extra, "exit_status", "timestamp")
    return record.event("session.ended", words, fields, status=outcome(status) if status else "")
