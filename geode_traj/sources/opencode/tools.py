"""Tool parts: one part holds a call and, once there is one, its result."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.model.event import Item, Link, Loss
from geode_traj.sources import values
from geode_traj.sources.opencode.media import all_files, attachment, outline
from geode_traj.sources.opencode.record import Teller

_ENDED: Final = {"completed": False, "error": True}
_CHILD: Final = ("sessionId", "sessionID", "session_id")


class Tools:
    """Tells the calls of one session; `children` are the sessions of sub-agents that calls started."""

    def __init__(self) -> None:
        self.children: set[str] = set()
        self._open: list[int] = []
        self._interrupted = 0

    def prompted(self) -> None:
        """Note that a person went on: calls left open before were interrupted."""
        self._interrupted += len(self._open)
        self._open.clear()

    def losses(self) -> list[Item]:
        """Return a loss for the calls that were left open."""
        found = {"call_interrupted": self._interrupted, "call_open_at_end": len(self._open)}
        return [Loss(reason, count) for reason, count in found.items() if count]

    def tell(
        self, teller: Teller, part: dict[str, Any], rest: dict[str, Any], words: dict[str, Any]
    ) -> list[Item]:
        """Add a part's events; `rest` are its other members, `words` the ids that its payloads carry."""
        state = part.get("state")
        told = state if isinstance(state, dict) else {}
        status = told.get("status")
        ended = isinstance(status, str) and status in _ENDED
        call_id, tool = (values.text(part.get(key)) for key in ("callID", "tool"))
        own: dict[str, Any] = {
            "key": values.text(part.get("id")),
            "of": part,
            "call_id": call_id,
            "name": "part/tool",
        }
        times = _times(told)
        fields = _not_placed(part, rest)
        left = {key: value for key, value in told.items() if key not in ("input", "status")}
        if isinstance(told.get("input"), str):
            fields["input"] = told["input"]
        if not ended:
            left |= {"status": status} if status is not None else {}
            fields |= (
                {"state": left if isinstance(state, dict) else state} if left or state is not None else {}
            )
        called = {"tool": tool, "arguments": values.arguments(told.get("input")), **words}
        teller.event("tool.called", called, fields, time=times.get("start"), **own)
        items = self._child(teller, told, call_id, words, own, times.get("start"))
        if not ended:
            self._open.append(teller.number)
            return items
        self._completed(teller, told, {"tool": tool, **words}, own)
        child = _child_of(told, teller.session)
        if child:
            stopped = {"child_session_key": child, **words}
            teller.event("subagent.stopped", stopped, time=times.get("end"), status=status, **own)
        metadata = told.get("metadata")
        if isinstance(metadata, dict) and metadata.get("outputPath"):
            items.append(Loss("output_kept_in_another_file"))
        return items

    def _child(
        self,
        teller: Teller,
        state: dict[str, Any],
        call_id: str,
        words: dict[str, Any],
        own: dict[str, Any],
        time: Any,
    ) -> list[Item]:
        """Tell of the sub-agent that a call started, if it did; a call may go on with an earlier one."""
        child = _child_of(state, teller.session)
        if not child:
            return []
        given = values.arguments(state.get("input"))
        payload = {
            "child_session_key": child,
            "task_type": given.get("subagent_type"),
            "description": given.get("description"),
            **words,
        }
        teller.event("subagent.started", payload, time=time, **own)
        known = child in self.children
        self.children.add(child)
        return [] if known else [Link(child, "parent", teller.session)]

    def _completed(
        self, teller: Teller, state: dict[str, Any], words: dict[str, Any], own: dict[str, Any]
    ) -> None:
        status = state["status"]
        payload: dict[str, Any] = {**words, "is_error": _ENDED[status]}
        placed = {"input", "status"}
        for key in ("error", "output") if _ENDED[status] else ("output",):
            if key in state:
                payload["result"] = state[key]
                placed.add(key)
                break
        files = all_files(state.get("attachments"))
        if files:
            payload["attachments"] = [attachment(one) for one in files]
            placed.add("attachments")
        left = {key: value for key, value in state.items() if key not in placed}
        if any(map(outline, files)):
            left["attachments"] = [outline(one) for one in files]
        time = _times(state).get("end")
        teller.event(
            "tool.completed", payload, {"state": left} if left else {}, time=time, status=status, **own
        )


def _not_placed(part: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a tool part that its call does not hold."""
    placed = {"state"} | {key for key in ("callID", "tool") if isinstance(part.get(key), str)}
    return {key: value for key, value in rest.items() if key not in placed}


def _times(state: dict[str, Any]) -> dict[str, Any]:
    times = state.get("time")
    return times if isinstance(times, dict) else {}


def _child_of(state: dict[str, Any], session: str) -> str:
    """Return the session that a call's sub-agent runs in, "" for a call without one."""
    told = state.get("metadata")
    if not isinstance(told, dict):
        return ""
    for key in _CHILD:
        child = told.get(key)
        if isinstance(child, str) and child and child != session:
            return child
    return ""
