"""A chat of SkellySpeak, `session.json`: turns of learner, partner and coach, rewritten with each one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.errors import DataError
from geode_traj.model.event import Damaged, Event, Item
from geode_traj.sources import values
from geode_traj.sources.base import Input, Probe, file_text
from geode_traj.sources.fields import id_text
from geode_traj.sources.parts import Part, Parts, inside, is_whole, opening
from geode_traj.sources.provenance import legacy, marks

# A chat is named by its folder: the second it was begun, and eight hex digits.
_CHAT_ID: Final = re.compile(r"(\d{9,11})-[0-9a-f]{8}", re.ASCII)
_GENERIC: Final = "session"
_KEYS: Final = {"turns", "title", "updated_at", "deleted_at"}
_TURN: Final = {"user", "assistant", "analysisState", "coach", "reaction", "coachError"}
_TITLE: Final = re.compile(rb'"title"\s*:\s*"')
_UPDATED: Final = re.compile(rb'"updated_at"\s*:\s*\d')


class SkellySpeakChat(Parts):
    """A chat, one unit; it says when it was changed, not when each turn was said."""

    name = "skellyspeak-chat"
    reads = "SkellySpeak session.json, one chat a file"
    gives_not = ("the time of a turn", "an explicit end", "usage", "reasoning text", "models")

    def detect(self, probe: Probe) -> bool:
        """Match one object of `turns`, `title` and `updated_at` whose turns are a chat's."""
        value = opening(probe)
        if not isinstance(value, dict) or not isinstance(value.get("turns"), list):
            return False
        if not value.keys() <= _KEYS:
            return False
        if not all(
            isinstance(turn, dict) and "id" in turn and turn.keys() & _TURN for turn in value["turns"][:1]
        ):
            return False
        if is_whole(probe):
            return (
                isinstance(value.get("title"), str) and values.epoch_time(value.get("updated_at")) is not None
            )
        ends = probe.head[:4096] + probe.tail
        return bool(_TITLE.search(ends) and _UPDATED.search(ends))

    def session(self, given: Input) -> str:
        """Return the chat's id: its folder's name."""
        if given.override or given.path.stem != _GENERIC:
            return given.default_session
        return file_text(given.path.absolute().parent.name) or given.default_session

    def split(self, document: Tolerated, session: str, sha256: str) -> Iterator[Part]:
        """Return the chat as one part."""
        value: Any = document.value
        turns = value.get("turns") if isinstance(value, dict) else None
        if not isinstance(turns, list):
            raise DataError("TE208", name=self.name, why="no list named turns")
        chat = _Chat(document, session)
        yield Part(session, sha256_bytes(dumps(value)), len(turns), chat.time, 0, chat.items)


class _Chat:
    """The turns of one chat in order."""

    def __init__(self, document: Tolerated, session: str) -> None:
        self._document = document
        self._chat: dict[str, Any] = document.value
        self._session = session
        begun = _CHAT_ID.fullmatch(session)
        self.time = values.epoch_time(int(begun[1])) if begun else None
        self._rule = "chat_id"
        if self.time is None:
            self.time, self._rule = values.epoch_time(self._chat.get("updated_at")), "updated_at"

    def items(self, given: Input) -> Iterator[Item]:
        """Yield what opens the chat, then each turn."""
        around = Tolerated(
            {key: item for key, item in self._chat.items() if key != "turns"},
            self._document.escaped,
            self._document.nonfinite,
            {
                pointer: found
                for pointer, found in self._document.duplicates.items()
                if not pointer.startswith("/turns/")
            },
        )
        payload = {**around.value, "_legacy": legacy(given, "chat", 0, {}, around)}
        # The same opening whatever the chat's title and change time have become.
        sha256 = sha256_bytes(dumps(["chat", self._session]))
        yield self._event("session.started", payload, around, 0, sha256, 1, key="chat")
        for index, read in enumerate(inside(self._document, "/turns", self._chat["turns"])):
            data = dumps(read.value)
            sha256 = sha256_bytes(data)
            if isinstance(read.value, dict):
                yield from self._turn(given, read, index + 1, sha256)
            else:
                yield Damaged(index + 1, 0, len(data), sha256, "not_object", data, self._session)

    def _turn(self, given: Input, read: Tolerated, number: int, sha256: str) -> Iterator[Item]:
        turn: dict[str, Any] = read.value
        said = list(_said(turn))
        placed = {place for place, *_ in said}
        for n, (_, kind, role, payload) in enumerate(said):
            if n == 0:
                fields = {key: item for key, item in turn.items() if key not in placed}
                for whole in placed & {"assistant", "coach"}:
                    if not isinstance(turn[whole], str):
                        fields[whole] = turn[whole]
                payload["_legacy"] = legacy(given, "turn", number, fields, read)
            columns = {"key": id_text(turn.get("id")), "turn_id": id_text(turn.get("id")), "role": role}
            if kind == "error.recorded":
                columns["status"] = "error"
            yield self._event(kind, payload, read, number, sha256, n, **columns)
        if not said:
            payload = {"_legacy": legacy(given, "turn", number, turn, read)}
            columns = {"key": id_text(turn.get("id")), "turn_id": id_text(turn.get("id"))}
            yield self._event("legacy.imported", payload, read, number, sha256, 0, raw=True, **columns)

    def _event(
        self,
        kind: str,
        payload: dict[str, Any],
        read: Tolerated,
        number: int,
        sha256: str,
        n: int,
        **columns: Any,
    ) -> Event:
        escaped, nonfinite = marks(payload, read)
        return Event(
            kind=kind,
            session_id=self._session,
            line=number,
            record_sha256=sha256,
            payload=payload,
            time=self.time,
            time_rule=self._rule,
            n=n,
            escaped=escaped,
            nonfinite=nonfinite,
            **columns,
        )


def _said(turn: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield (member, kind, role, payload) of what a turn holds, in the order it was said."""
    user = turn.get("user")
    if user is not None:
        yield "user", "message.user", "user", {"content": values.text(user)}
    for member, role in (("assistant", "assistant"), ("coach", "coach")):
        given = turn.get(member)
        text = given.get("reply") if isinstance(given, dict) else given
        if isinstance(text, str):
            payload = {"content": text, "reasoning": values.reasoning(None)}
            yield member, "message.assistant", role, payload
    if turn.get("coachError") is not None:
        error = {"error_type": "coach", "message": turn["coachError"]}
        yield "coachError", "error.recorded", "", error


SOURCE = SkellySpeakChat()
