"""The lines of a rollout in order: whose session they belong to, in which turn, and what each one says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from geode_traj.codec.jsonl import Line
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Link, Loss
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.calls import Calls
from geode_traj.sources.codex import agents, calls, messages
from geode_traj.sources.codex.history import History
from geode_traj.sources.codex.repeats import Repeats, Said
from geode_traj.sources.codex.row import Row
from geode_traj.sources.codex.turn import Turn
from geode_traj.sources.codex.usage import Totals

_STARTS: Final = frozenset({"task_started", "turn_started"})
_ENDS: Final = frozenset({"task_complete", "turn_complete", "turn_aborted"})
_KEPT: Final = frozenset(
    """item_completed thread_rolled_back context_compacted ghost_snapshot compaction compaction_summary
    context_compaction web_search_end entered_review_mode exited_review_mode""".split()
)
# Keys of `session_meta` that have a place of their own in `session.started`.
_HEAD: Final = frozenset({"cwd", "originator", "cli_version", "git", "forked_from_id", "model_provider"})


class Reader:
    """Reads the lines of one file."""

    def __init__(self, given: Input, left: list[tuple[int, int]] | None = None) -> None:
        self._given = given
        self._left = left or []
        self._session = given.default_session
        self._named, self._heads = False, True
        self._ancestors: list[str] = []
        self._own_from: int | None = None
        self._history = History(self._session)
        self._repeats = Repeats()
        self._calls = Calls()
        self._children = agents.Children()
        self._totals = Totals()
        self._turn = Turn()
        self._model = self._provider = ""
        self.asked = False

    def rows(self, line: Line, sha256: str, read: Tolerated) -> Iterator[Item]:
        """Yield what one line gives: at least one event."""
        row = Row(self._given, line, sha256, read)
        self.asked = False
        if row.kind == "session_meta" and row.payload:
            yield from self._meta(row)
            return
        self._heads = False
        self._name(row)
        for item in self._read(row):
            if type(item) is Event and any(first <= line.number <= last for first, last in self._left):
                item.payload["branch"] = "abandoned"
            yield item

    def end(self) -> tuple[Item, ...]:
        """Return nothing: a rollout does not say that it ended."""
        return ()

    def _name(self, row: Row) -> None:
        """Give a line the file's state: its session, whose copy it may be, turn and model."""
        row.session_id, row.model, row.provider = self._session, self._model, self._provider
        row.turn_id = self._turn.id
        told = row.payload.get("turn_id")
        if row.kind in ("event_msg", "turn_context") and isinstance(told, str):
            row.turn_id = told
        if self._ancestors:
            inherited = self._own_from is not None and row.ordinal < self._own_from
            row.copied = inherited or row.payload.get("thread_id") in self._ancestors
            if row.copied or self._own_from is None:
                row.copied_from = tuple(self._ancestors)
        speaks = messages.speaks(row)
        row.content_key = self._history.key(row.kind, row.read.value.get("payload"), speaks=speaks)

    def _read(self, row: Row) -> Iterable[Item]:
        if not row.payload:
            return (row.unknown(),)
        if row.kind == "response_item":
            return self._response_item(row)
        if row.kind == "event_msg":
            return self._event_message(row)
        if row.kind == "turn_context":
            return (self._context(row),)
        if row.kind == "compacted":
            return self._compacted(row)
        if row.kind == "world_state":
            return (row.kept("world_state"),)
        return (row.unknown(),)

    # What a session says of itself

    def _meta(self, row: Row) -> Iterator[Item]:
        payload = row.payload
        own = values.text(payload.get("id") or payload.get("session_id"))
        if not self._named:
            self._session = own or self._session
            self._provider = values.text(payload.get("model_provider"))
            yield from self._origins(payload)
            self._named = True
            self._history.restart(self._ancestors[-1] if self._ancestors else self._session)
            self._name(row)
            row.copied, row.copied_from = False, ()
            yield self._started(row)
            return
        if own and own != self._session:
            if not self._ancestors:
                yield Link(self._session, "fork", own)
            if own not in self._ancestors:
                self._ancestors.append(own)
            self._totals.inherited = True
            if self._heads:  # among the first lines; later it is only repeated
                self._history.restart(own)
        self._name(row)
        row.copied = own in self._ancestors
        yield row.kept("session_meta")

    def _started(self, row: Row) -> Event:
        words = {
            key: row.payload[key] for key in sorted(_HEAD & row.payload.keys()) if key != "model_provider"
        }
        if not isinstance(row.payload.get("model_provider", ""), str):
            return row.event(
                "session.started", words, _HEAD - {"model_provider"}, status="active", turn_id=""
            )
        return row.event("session.started", words, _HEAD, status="active", turn_id="")

    def _origins(self, payload: dict[str, Any]) -> Iterator[Link]:
        """Yield links to the threads this one came from, and note what it may have copied."""
        parent = agents.parent_of(payload)
        if parent:
            yield Link(self._session, "parent", parent)
        forked = payload.get("forked_from_id")
        start = payload.get("subagent_history_start_ordinal")
        if type(start) is int:
            self._own_from = start
        if isinstance(forked, str) and forked and forked != self._session:
            yield Link(self._session, "fork", forked)
            self._totals.inherited = True
            if not payload.get("history_base"):  # with a base, nothing was copied: it is read from there
                self._ancestors.append(forked)
        elif parent and self._own_from:
            self._ancestors.append(parent)

    def _context(self, row: Row) -> Event:
        model = row.payload.get("model")
        if isinstance(model, str):
            self._model = row.model = model
        turn_id = row.payload.get("turn_id")
        if isinstance(turn_id, str):
            self._turn.open(turn_id, told=False)
        return row.kept("turn_context")

    # Items that the model read or wrote

    def _response_item(self, row: Row) -> Iterable[Item]:
        kind = row.type
        if kind == "message":
            return self._spoken(row, messages.of_item(row.payload))
        if kind == "reasoning":
            return (self._message(row, messages.of_reasoning(row.payload)),)
        if kind in calls.CALLS or kind in calls.RESULTS:
            self._repeats.interrupt()
            return self._call(row) if kind in calls.CALLS else self._result(row)
        if kind in _KEPT:
            return (row.kept(kind),)
        return (row.unknown(),)

    def _spoken(self, row: Row, made: messages.Made) -> Iterator[Item]:
        yield self._message(row, made)
        stopped = None if row.copied else agents.notified(made.words)
        if stopped is not None:
            words, status = stopped
            yield row.event("subagent.stopped", words, status=status)

    def _message(self, row: Row, made: messages.Made) -> Event:
        """Return a message as an event; one that only repeats another encoding is kept, not counted again."""
        said = made.said
        if said is None:
            return made.event(row)
        if self._repeats.repeats(said):
            return made.repeat(row)
        if said.speaker == "user" and not row.copied:
            self._ask(row, said)
        return made.event(row)

    def _ask(self, row: Row, said: Said) -> None:
        if row.turn_id == self._turn.id:
            self._turn.ask()
            row.turn_id = self._turn.id
        self.asked = True

    def _call(self, row: Row) -> Iterator[Item]:
        payload = row.payload
        tool = calls.name_of(payload)
        hosted = payload["type"] in calls.HOSTED
        given = payload.get("call_id") or (payload.get("id") if hosted or not payload.get("call_id") else "")
        call_id = given if isinstance(given, str) else ""
        arguments, whole = calls.arguments(payload)
        words: dict[str, Any] = {"tool": tool, "arguments": arguments}
        if tool == "update_plan" and isinstance(arguments.get("plan"), list):
            words["plan"] = arguments["plan"]
        placed = calls.placed(payload) | ({"call_id"} if call_id == payload.get("call_id") else set())
        placed -= set() if whole else {"arguments"}
        if not isinstance(payload.get("name", ""), str):
            placed.discard("name")
        yield row.event("tool.called", words, placed, call_id=call_id)
        ended = calls.hosted(payload) if hosted else None
        if ended is None:
            self._calls.called(call_id, tool)
            return
        if "result" not in ended and "attachments" not in ended:
            yield Loss("hosted_result_not_recorded")
        status = "error" if ended["is_error"] else "completed"
        yield row.event("tool.completed", {"tool": tool, **ended}, call_id=call_id, status=status)

    def _result(self, row: Row) -> Iterator[Item]:
        given = row.payload.get("call_id")
        call_id = given if isinstance(given, str) else ""
        tool = self._calls.answered(call_id) or calls.name_of(row.payload)
        words = calls.result(row.payload)
        child = None if row.copied else self._children.spawned(tool, words.get("result"))
        status = {True: "error", False: "completed", None: ""}[words["is_error"]]
        placed = {"output", "tools"} | ({"call_id"} if call_id == given else set())
        yield row.event("tool.completed", {"tool": tool, **words}, placed, call_id=call_id, status=status)
        if child is not None:
            yield row.event("subagent.started", child, call_id=call_id, status="started")

    # Events that the program reported

    def _event_message(self, row: Row) -> Iterable[Item]:
        kind = row.type
        made = messages.of_event(row.payload)
        if made is not None:
            return (self._message(row, made),)
        if kind in _STARTS:
            self._turn.open(values.text(row.payload.get("turn_id")), told=True)
            row.turn_id = self._turn.id
            self._repeats.interrupt()
            return (row.kept("turn_started"),)
        if kind in _ENDS:
            return (self._ended(row),)
        if kind == "token_count":
            return (self._usage(row),)
        if kind in ("error", "stream_error"):
            words = {"error_type": row.payload.get("codex_error_info"), "message": row.payload.get("message")}
            placed = {"codex_error_info", "message"}
            return (row.event("error.recorded", words, placed, status="error"),)
        agent = None if row.copied else self._children.told(row.payload)
        if agent is not None:
            named, words, columns = agent
            return (row.event(named, words, **columns),)
        if kind in _KEPT or agents.is_told(kind):
            return (row.kept(kind),)
        return (row.unknown(),)

    def _ended(self, row: Row) -> Event:
        aborted = row.payload["type"] == "turn_aborted"
        reason = row.payload.get("reason") if aborted else row.payload["type"]
        words = {"termination_reason": reason}
        placed = {"reason"} if aborted else set()
        if "last_agent_message" in row.payload:
            words["last_agent_message"] = row.payload["last_agent_message"]
            placed.add("last_agent_message")
        if row.payload.get("turn_id") == row.turn_id:
            placed.add("turn_id")
        self._turn.close()
        self._repeats.interrupt()
        return row.event("turn.completed", words, placed, status="interrupted" if aborted else "completed")

    def _usage(self, row: Row) -> Event:
        info = row.payload.get("info")
        if isinstance(info, dict):
            self._repeats.interrupt()
        return row.event("usage.recorded", self._totals.usage(info))

    def _compacted(self, row: Row) -> Iterator[Item]:
        """Yield the compaction, then the history that takes the older one's place: copies, not new turns."""
        self._repeats.interrupt()
        history = row.payload.get("replacement_history")
        placed = {"message"} if isinstance(row.payload.get("message"), str) else set()
        words = {"content": row.payload["message"]} if placed else {}
        if isinstance(history, list):
            placed.add("replacement_history")
        yield row.kept("compaction", words, placed=placed)
        row.copied = True
        for item in history if isinstance(history, list) else ():
            yield messages.of_history(row, item)
