"""Turn and call ids that a source did not give, derived while reading (importer decision J3).

Rules:

- A turn runs from one real user message to the next, per session generation (copied context opens none, nor
  does a message whose payload says `opens_turn`: false); what comes before the first is the opening turn,
  n = 0. It carries the id its user message came with, else `turn-<generation>-<n>`. The
  session's own start and end belong to no turn.
- A call without an id is `call-<generation>-<n>`, the n-th such call of its generation.
- A result without an id takes that of the first open call of the same tool in the session; the choice is
  ambiguous when another such call was open. With none open it stays without: nothing is invented.
- A result carries its call's turn, however late it comes; a differing native turn is kept as
  `_native_turn_id`, since the pairing key would tear the two apart.

State is one entry for each session generation and for each open call.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.contract.kinds import CALLS, RESULTS, SESSION_SCOPED, USER_MESSAGES
from geode_traj.model.event import Row

TURN_BY_POSITION: Final = "user_message_span"
TURN_OF_CALL: Final = "turn_of_call"
CALL_BY_POSITION: Final = "call_order"
CALL_BY_TOOL: Final = "open_call_of_tool"
ID_RULES: Final = frozenset({TURN_BY_POSITION, TURN_OF_CALL, CALL_BY_POSITION, CALL_BY_TOOL})


def rules_of(payload: dict[str, Any]) -> tuple[list[str], int]:
    """Return by which rules values of an exported event were derived, and how many of them are ids."""
    marks = payload.get("_derived")
    if not isinstance(marks, dict):
        return [], 0
    ids = ("turn_id" in marks) + ("call_id" in marks)
    return [str(rule) for name, rule in marks.items() if name != "ambiguous"], ids


@dataclass(slots=True)
class _Turns:
    """Where one session generation stands: turns and derived calls so far, the current turn's native id."""

    turns: int = 0
    calls: int = 0
    native: str = ""


@dataclass(slots=True)
class _Open:
    """A call that waits for its result."""

    call_id: str
    turn_id: str
    tool: str


class _OpenCalls:
    """The open calls of a session, found by id and turn, by id, or by tool; each look-up costs O(1).

    A plain dict would have to skip what was taken from its front; an OrderedDict does not.
    """

    def __init__(self) -> None:
        self._queues: dict[tuple[str, ...], OrderedDict[int, _Open]] = {}

    def add(self, call: _Open) -> None:
        for key in _keys(call):
            self._queues.setdefault(key, OrderedDict())[id(call)] = call

    def first(self, *key: str) -> _Open | None:
        queue = self._queues.get(key)
        return next(iter(queue.values())) if queue else None

    def several(self, tool: str) -> bool:
        return len(self._queues.get(("tool", tool), ())) > 1

    def close(self, call: _Open) -> None:
        for key in _keys(call):
            queue = self._queues[key]
            del queue[id(call)]
            if not queue:
                del self._queues[key]


def _keys(call: _Open) -> tuple[tuple[str, ...], ...]:
    return ("id", call.call_id, call.turn_id), ("id", call.call_id), ("tool", call.tool)


@dataclass(slots=True)
class Derived:
    """The correlation fields of one exported event, and the marks its payload must carry."""

    turn_id: str
    call_id: str
    marks: dict[str, Any] = field(default_factory=dict)
    native_turn_id: str | None = None


class Deriver:
    """Feeds on rows in database order; `counts` holds how often each rule was used."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._turns: dict[tuple[str, int], _Turns] = {}
        self._open: dict[str, _OpenCalls] = {}

    def feed(self, row: Row, payload: dict[str, Any]) -> Derived:
        """Return the turn and call ids of the next row, native where given."""
        state = self._turns.get((row.session_id, row.session_generation))
        if state is None:
            state = self._turns[row.session_id, row.session_generation] = _Turns()
        if row.kind in USER_MESSAGES and _opens_turn(payload):
            state.turns += 1
            state.native = row.turn_id
        out = Derived(row.turn_id, row.call_id)
        if not row.turn_id and row.kind not in SESSION_SCOPED:
            out.turn_id = state.native or f"turn-{row.session_generation}-{state.turns}"
            out.marks["turn_id"] = TURN_BY_POSITION
        if row.kind in CALLS:
            self._call(row, payload, state, out)
        elif row.kind in RESULTS:
            self._result(row, payload, out)
        for name, rule in out.marks.items():
            if name != "ambiguous":
                self.counts[rule] += 1
        return out

    def _call(self, row: Row, payload: dict[str, Any], state: _Turns, out: Derived) -> None:
        if not row.call_id:
            state.calls += 1
            out.call_id = f"call-{row.session_generation}-{state.calls}"
            out.marks["call_id"] = CALL_BY_POSITION
        calls = self._open.setdefault(row.session_id, _OpenCalls())
        calls.add(_Open(out.call_id, out.turn_id, _tool(payload)))

    def _result(self, row: Row, payload: dict[str, Any], out: Derived) -> None:
        calls = self._open.get(row.session_id)
        if calls is None:
            return
        if row.call_id:
            chosen = calls.first("id", row.call_id, out.turn_id) or calls.first("id", row.call_id)
        else:
            chosen = calls.first("tool", _tool(payload))
            if chosen is not None:
                out.call_id = chosen.call_id
                out.marks["call_id"] = CALL_BY_TOOL
                if calls.several(chosen.tool):
                    out.marks["ambiguous"] = True
        if chosen is None:
            return
        calls.close(chosen)
        if row.turn_id == chosen.turn_id:
            return
        if row.turn_id:
            out.native_turn_id = row.turn_id
        out.turn_id = chosen.turn_id
        out.marks["turn_id"] = TURN_OF_CALL


def _opens_turn(payload: dict[str, Any]) -> bool:
    return payload.get("opens_turn") is not False and not payload.get("copied_context")


def _tool(payload: dict[str, Any]) -> str:
    tool = payload.get("tool")
    return tool if isinstance(tool, str) else ""
