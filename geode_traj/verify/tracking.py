"""What is remembered from one event to the next: sessions and their turns, parents, sub-agents.

Every memory here is bounded. What comes after a bound is not judged but counted in `untold`, and the file
says so (GT313).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from geode_traj.contract.ids import MAX_SESSION_ID
from geode_traj.model.finding import Place

MAX_SESSIONS: Final = 10_000
MAX_TURN_CALLS: Final = 65_536
MAX_WAITING: Final = 10_000
MAX_LINKS: Final = 20_000
MAX_AGENTS: Final = 10_000
_SHORT: Final = 64
_RELATED: Final = 10

Key = tuple[str, str, str]


def digest(text: str) -> bytes:
    """Return 16 bytes that stand for an id."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(slots=True)
class Session:
    """One session so far.

    `since` is the time (Unix seconds) its generation began, None where no event of it tells; `spoke` the
    position of its latest message or end of a turn; `left` says that another session's event followed, `told`
    that this was found. `calls` holds the call ids of `turn_id`, the turn that called last.
    """

    since: float | None = None
    spoke: int = 0
    left: bool = False
    told: bool = False
    turn_id: str = ""
    calls: set[str | bytes] = field(default_factory=set)

    def call(self, turn_id: str, call_id: str) -> bool:
        """Remember a call; return whether its id was used in this turn before."""
        if turn_id != self.turn_id or len(self.calls) >= MAX_TURN_CALLS:
            self.turn_id = turn_id
            self.calls = set()
        short = _short(call_id)
        if short in self.calls:
            return True
        self.calls.add(short)
        return False

    def called(self, turn_id: str, call_id: str) -> bool:
        """Tell whether the turn that called last holds this call."""
        return turn_id == self.turn_id and _short(call_id) in self.calls


def _short(text: str) -> str | bytes:
    return text if len(text) <= _SHORT else digest(text)


class Sessions:
    """The sessions of a file by id; `current` is that of the last event."""

    def __init__(self) -> None:
        self.untold = 0
        self.current = Session()
        self.current_id: str | None = None
        self.reentered: str | None = None
        self._named = self._nobody = self.current
        self._by_id: dict[str, Session] = {}

    def enter(self, session_id: str) -> None:
        """Move to the session of the next event; `reentered` names the one left, if this one was left before.

        Asked of every event: nothing is to do while the session stays the same.
        """
        self.reentered = None
        self.current = self._named if session_id else self._nobody
        if session_id == self.current_id or not session_id:
            return
        known = self._by_id.get(session_id)
        if known is None:
            known = Session()
            if len(self._by_id) < MAX_SESSIONS:
                self._by_id[session_id] = known
            else:
                self.untold += 1
        elif known.left:
            self.reentered = self.current_id
        self.current.left = True
        self.current = self._named = known
        self.current_id = session_id

    def get(self, session_id: str) -> Session | None:
        """Return a session that was seen; None too where there were too many to remember."""
        return self._by_id.get(session_id)


class Lineage:
    """The ids of all events, and the parents that are not plainly before their children.

    A cycle has an event whose parent comes later; so links are kept only from the first such event on.
    """

    def __init__(self) -> None:
        self.untold = 0
        self.repeats = False
        self._ids: set[bytes] = set()
        self._waiting: dict[bytes, Place] = {}
        self._links: dict[bytes, tuple[bytes, Place]] = {}

    def feed(self, event_id: str, parent: Any, where: Callable[[], Place]) -> None:
        """Take the next event, the parent it names, and `where` it stands, which is seldom asked."""
        own = digest(event_id)
        self.repeats = own in self._ids
        self._ids.add(own)
        if self._waiting:
            self._waiting.pop(own, None)
        if type(parent) is str and parent:
            above = digest(parent)
            if self._links or above not in self._ids or above == own:
                self._link(own, above, where())

    def _link(self, own: bytes, above: bytes, place: Place) -> None:
        if above not in self._ids and above not in self._waiting:
            if len(self._waiting) >= MAX_WAITING:
                self.untold += 1
                return
            self._waiting[above] = place
        if len(self._links) < MAX_LINKS:
            self._links[own] = above, place
        else:
            self.untold += 1

    def dangling(self) -> Iterator[Place]:
        """Yield the first event that names each parent which is not in the file."""
        yield from self._waiting.values()

    def cycles(self) -> Iterator[tuple[Place, tuple[Place, ...]]]:
        """Yield, for each cycle, the event where it is entered and others on it."""
        done: set[bytes] = set()
        for start in self._links:
            path: dict[bytes, Place] = {}
            here = start
            while here in self._links and here not in done and here not in path:
                above, path[here] = self._links[here]
                here = above
            if here in path:
                ring = list(path.values())[list(path).index(here) :]
                yield ring[0], tuple(ring[1 : 1 + _RELATED])
            done.update(path)


@dataclass(slots=True, eq=False)
class Agent:
    """A sub-agent that was started: where, and every name by which its end may call it."""

    place: Place
    keys: list[Key]


class Agents:
    """Sub-agents that run, found by child session, task or call of the session that started them."""

    def __init__(self) -> None:
        self.untold = 0
        self.children: dict[str, Place] = {}
        self._named: dict[Key, dict[int, Agent]] = {}
        self._running: dict[int, Agent] = {}

    def start(self, session_id: str, call_id: str, payload: dict[str, Any], place: Place) -> None:
        """Take the start of a sub-agent."""
        child = payload.get("child_session_key")
        if len(self._running) >= MAX_AGENTS or len(self.children) >= MAX_AGENTS:
            self.untold += 1
            return
        if isinstance(child, str) and child:
            self.children.setdefault(child[: MAX_SESSION_ID + 1], place)
        agent = Agent(place, _names(session_id, call_id, payload))
        self._running[id(agent)] = agent
        for key in agent.keys:
            self._named.setdefault(key, {})[id(agent)] = agent

    def stop(self, session_id: str, call_id: str, payload: dict[str, Any]) -> None:
        """Take the end of one: the first that runs under its most telling name."""
        for key in _names(session_id, call_id, payload):
            if agent := next(iter(self._named.get(key, {}).values()), None):
                self._remove(agent)
                return

    def _remove(self, agent: Agent) -> None:
        del self._running[id(agent)]
        for key in agent.keys:
            del self._named[key][id(agent)]
            if not self._named[key]:
                del self._named[key]

    def running(self) -> Iterator[Place]:
        """Yield where each sub-agent was started that no end was met for."""
        yield from (agent.place for agent in self._running.values())


def _names(session_id: str, call_id: str, payload: dict[str, Any]) -> list[Key]:
    told = (payload.get("child_session_key"), payload.get("task_id"), call_id)
    names = zip(("child", "task", "call"), told, strict=True)
    return [(session_id, what, name) for what, name in names if isinstance(name, str) and name]
