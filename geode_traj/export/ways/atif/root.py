"""What an ATIF document says beside its steps: the agent, totals, and what a former document said there."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.export.ways import said
from geode_traj.export.ways.atif.fields import Event, native, whole_fields
from geode_traj.export.ways.ledger import Ledger

_UNKNOWN: Final = "unknown"
_AGENT: Final = {"name": str, "version": str, "model_name": str, "tool_definitions": list, "extra": dict}
_TOTALS: Final = {
    "total_prompt_tokens": "prompt_tokens",
    "total_completion_tokens": "completion_tokens",
    "total_cached_tokens": "cached_tokens",
    "total_cost_usd": "cost_usd",
}
_START: Final = {
    "occurred_at": "a document has no time of its start",
    "provider": "an agent does not name a provider",
}
_STATED: Final = frozenset({*_TOTALS, "total_steps", "extra"})


class Root:
    """Gathers it while the steps are written."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._agent: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}
        self._source = ""
        self._started = False
        self._stated: dict[str, Any] = {}
        self._sums: dict[str, int | float | None] = {}

    def see(self, event: Event) -> None:
        """Take what any event tells of the agent that ran: by whose format it was recorded."""
        self._source = self._source or said.text(event["payload"], "source")

    def started(self, event: Event) -> None:
        """Enter a session's start; a document has one."""
        if self._started:
            self._ledger.left_out(event, "a document starts once")
            return
        self._started = True
        payload = event["payload"]
        held = {"status"}
        if payload["model"]:
            self._agent["model_name"] = payload["model"]
            held.add("model")
        agent = payload.get("agent")
        if isinstance(agent, dict) and all(isinstance(agent[key], _AGENT.get(key, ())) for key in agent):
            self._agent |= agent
            held.add("agent")
        tools = payload.get("tool_definitions")
        if isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools):
            self._agent["tool_definitions"] = tools
            held.add("tool_definitions")
        self._ledger.carried(event, held | self._restored(event), _START)

    def _restored(self, event: Event) -> set[str]:
        given = native(event)
        shapes = {"notes": str, "continued_trajectory_ref": str, "extra": dict}
        self._fields |= {key: given[key] for key in shapes if isinstance(given.get(key), shapes[key])}
        return whole_fields(event, {*self._fields, "schema_version", "session_id", "trajectory_id"})

    def final_metrics(self, event: Event) -> bool:
        """Take totals that the source stated, if they are the format's; tell whether they were taken."""
        given = event["payload"].get("final_metrics")
        if not isinstance(given, dict) or not _STATED.issuperset(given) or not _are_totals(given):
            return False
        self._stated = given
        return True

    def continued(self, event: Event) -> bool:
        """Take the name of the document that goes on with this one; tell whether it was taken."""
        given = event["payload"].get("continued_trajectory_ref")
        if isinstance(given, str):
            self._fields["continued_trajectory_ref"] = given
        return isinstance(given, str)

    def used(self, metrics: dict[str, Any]) -> None:
        """Add a step's metrics to the totals; a total of which a part is unknown is unknown."""
        for total, word in _TOTALS.items():
            sum_, part = self._sums.get(total, 0), metrics.get(word)
            self._sums[total] = None if sum_ is None or part is None else sum_ + part

    def closing(self, steps: int) -> dict[str, Any]:
        """Return everything that stands after the steps."""
        agent = {"name": self._source or _UNKNOWN, "version": _UNKNOWN, **self._agent}
        if "name" not in self._agent:
            self._ledger.note("agent.name is required and not recorded: the source's format stands there")
        if "version" not in self._agent:
            self._ledger.note(f"agent.version is required and not recorded: {_UNKNOWN!r} stands there")
        sums = {key: value for key, value in self._sums.items() if value is not None}
        return {
            "agent": agent,
            "final_metrics": self._stated or {**sums, "total_steps": steps},
            **self._fields,
        }


def _are_totals(given: dict[str, Any]) -> bool:
    for key, value in given.items():
        if key == "extra":
            fits = value is None or isinstance(value, dict)
        elif key == "total_cost_usd":
            fits = value is None or said.number(value) is not None
        else:
            fits = value is None or type(value) is int
        if not fits:
            return False
    return True
