"""Messages and their parts as events of a session."""

from __future__ import annotations

from typing import Any, Final

from geode_traj.model.event import Item
from geode_traj.sources import values
from geode_traj.sources.opencode import usage
from geode_traj.sources.opencode.media import attachment, outline
from geode_traj.sources.opencode.record import Teller
from geode_traj.sources.opencode.tools import Tools

ROLES: Final = ("user", "assistant")
_ABANDONED: Final = "abandoned"


class Messages:
    """Tells the messages of one session in order."""

    def __init__(self) -> None:
        self.tools = Tools()

    def tell(self, teller: Teller, undone_from: str | None = None) -> list[Item]:
        """Add a message's events; of parts from `undone_from` on a revert says that they are undone."""
        info = teller.record.info
        role = info.get("role") if isinstance(info, dict) else None
        if role not in ROLES:
            words = {"operation": "message", "record": teller.record.read.value}
            time = _created(info) if isinstance(info, dict) else None
            teller.event("legacy.imported", words, time=time, raw=True)
            return []
        message = _Message(teller, self.tools, undone_from)
        if role == "user":
            message.user()
        else:
            message.assistant()
        return message.items


class _Message:
    """One message while it is told."""

    def __init__(self, teller: Teller, tools: Tools, undone_from: str | None) -> None:
        self.items: list[Item] = []
        self._teller = teller
        self._tools = tools
        self._info: dict[str, Any] = teller.record.info
        self._undone_from = undone_from
        self._words = {"message_id": teller.record.key}
        self._thoughts: list[tuple[int, dict[str, Any]]] = []
        self._thought = False
        self._steps: list[dict[str, Any]] = []
        self._turn()
        teller.keep(self._fields())

    def user(self) -> None:
        """Tell what a person said, then what the program put beside it."""
        parts = list(enumerate(self._teller.record.parts))
        said = [(at, part) for at, part in parts if _is_said(part) or _kind(part) == "file"]
        if said or not parts:
            texts = [part["text"] for _, part in said if _kind(part) == "text"]
            words: dict[str, Any] = {"content": "\n".join(texts), **self._words}
            files = [attachment(part) for _, part in said if _kind(part) == "file"]
            if files:
                words["attachments"] = files
            self._mark(said[0][1] if said else None)
            self._tools.prompted()
            of = [part for _, part in said] or None
            fields = {"parts": [self._outline(at, part) for at, part in said]} if said else {}
            self._event("message.user", words, fields, of=of, role="user", name="message/user")
        for at, part in parts:
            if (at, part) not in said:
                self._mark(part)
                self._other(at, part)

    def assistant(self) -> None:
        """Tell the parts in order: thoughts join the text that follows them."""
        counted = False
        for at, part in enumerate(self._teller.record.parts):
            kind = _kind(part)
            self._mark(part)
            if kind == "reasoning" and isinstance(part.get("text"), str):
                self._thoughts.append((at, part))
            elif _is_said(part):
                self._said(at, part)
            elif kind == "step-start":
                self._flush()
                self._steps.append(self._rest(at, part, "id", "type") | _part_id(part))
            else:
                self._flush()
                counted = counted or kind == "step-finish"
                self._other(at, part)
        self._flush()
        if not any(event.kind.startswith(("message.", "tool.")) for event in self._teller.events):
            self._event("message.assistant", self._spoken(""), role="assistant", name="message/assistant")
        if self._steps:
            self._event("legacy.imported", {"operation": "step-start", **self._words}, name="part/step-start")
        if not counted:
            words, fields = usage.of_message(self._info)
            self._usage(words, fields, None, "")
        self._failed()

    def _said(self, at: int, part: dict[str, Any]) -> None:
        words = self._spoken(part["text"]) | _part_id(part)
        fields = self._rest(at, part, "id", "type", "text")
        self._event(
            "message.assistant", words, fields, of=part, time=self._time(at, part), role="assistant",
            name="part/text", key=values.text(part.get("id")),
        )  # fmt: skip

    def _flush(self) -> None:
        """Tell thoughts that no text follows."""
        if self._thoughts:
            at, part = self._thoughts[0]
            time = self._time(at, part)
            self._event(
                "message.assistant", self._spoken(""), of=part, time=time, role="assistant",
                name="part/reasoning", key=values.text(part.get("id")),
            )  # fmt: skip

    def _spoken(self, text: str) -> dict[str, Any]:
        """Return the payload of a text with the thoughts before it (importer decision J1)."""
        words: dict[str, Any] = {"content": text, **self._words}
        thought = "\n\n".join(part["text"] for _, part in self._thoughts if part["text"])
        if self._thoughts:
            hidden = any(part.get("metadata") for _, part in self._thoughts)
            status = "withheld" if hidden and not thought else "present"
            words["reasoning"] = values.reasoning(thought, status=status)
            words["reasoning"]["parts"] = [self._outline(at, part) for at, part in self._thoughts]
        else:
            words["reasoning"] = {"status": "present" if self._thought else "unavailable"}
        self._thought = self._thought or bool(self._thoughts)
        self._thoughts = []
        if self._info.get("summary") is True:
            words |= {"is_summary": True, "copied_context": True}
        return words

    def _other(self, at: int, part: Any) -> None:
        """Tell a part that is no plain text."""
        kind = _kind(part)
        if not isinstance(part, dict):
            self._event("legacy.imported", {"operation": "part", "part": part}, of=[part], name="part")
            return
        rest, time = self._rest(at, part, "id", "type"), self._time(at, part)
        words = {**self._words, **_part_id(part)}
        if kind == "tool":
            self.items += self._tools.tell(self._teller, part, self._taken(rest), words)
            return
        key = values.text(part.get("id"))
        if kind == "step-finish":
            told, fields = usage.of_step(part, rest)
            self._usage({**told, **words}, fields, part, key)
        elif kind == "retry":
            error = part.get("error")
            payload = {**_error(error), **words, "attempt": part.get("attempt")}
            left = {name: item for name, item in rest.items() if name not in ("attempt", "error")}
            self._event("error.recorded", payload, left, of=part, time=time, status="error", key=key)
        elif kind == "file":
            fields = {"parts": [self._outline(at, part)]}
            payload = {"content": "", "attachments": [attachment(part)], **words}
            payload["reasoning"] = {"status": "unavailable"}
            self._event("message.assistant", payload, fields, of=part, time=time, role="assistant", key=key)
        elif kind == "text" and isinstance(part.get("text"), str):  # the program's own, in another's name
            payload = {"operation": "injected_context", "content": part["text"], **words}
            left = {name: item for name, item in rest.items() if name != "text"}
            self._event(
                "legacy.imported", payload, left, of=part, time=time, role=self._info["role"], key=key
            )
        else:
            payload = {"operation": kind or "part", "part": part, **self._words}
            fields = {"row": rest["row"]} if "row" in rest else {}
            self._event("legacy.imported", payload, fields, of=part, time=time, name=f"part/{kind}", key=key)

    def _usage(self, words: dict[str, Any], fields: dict[str, Any], part: Any, key: str) -> None:
        time = None if part is not None else _times(self._info).get("completed")
        event = self._event("usage.recorded", words, fields, of=part, time=time, key=key, name="usage")
        event.payload.pop("branch", None)  # what was undone was paid for all the same

    def _failed(self) -> None:
        """Record the error that a message ended with."""
        error = self._info.get("error")
        if error is not None:
            time = _times(self._info).get("completed")
            words = {**_error(error), **self._words}
            self._event("error.recorded", words, time=time, status="error", name="message/error")

    def _event(
        self, kind: str, words: dict[str, Any], fields: dict[str, Any] | None = None, **more: Any
    ) -> Any:
        more.setdefault("time", None)
        more.setdefault("name", f"message/{self._info['role']}")
        if not self._teller.events and values.epoch_time(more["time"], unit=0.001) is None:
            more["time"] = self._created()
        return self._teller.event(kind, words, self._taken(fields or {}), **more)

    def _taken(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return fields with the beginnings of steps that stand before them."""
        if self._steps:
            fields = {**fields, "step_start": self._steps}
            self._steps = []
        return fields

    def _turn(self) -> None:
        teller, info = self._teller, self._info
        if info["role"] == "assistant":
            parent = info.get("parentID")
            teller.columns["turn_id"] = parent if isinstance(parent, str) else ""
            for column, key in (("model", "modelID"), ("provider", "providerID")):
                if isinstance(info.get(key), str):
                    teller.columns[column] = info[key]
        else:
            teller.columns["turn_id"] = teller.record.key

    def _fields(self) -> dict[str, Any]:
        """Return what of a message's info no event's own words hold."""
        info, record = self._info, self._teller.record
        placed = {"role"} | ({"id"} if info.get("id") == record.key else set())
        placed |= {"sessionID"} if info.get("sessionID") == self._teller.session else set()
        if info["role"] == "assistant":
            placed |= {key for key in ("modelID", "providerID", "parentID") if isinstance(info.get(key), str)}
            placed.add("error")
        beside = {key: value for key, value in record.read.value.items() if key not in ("info", "parts")}
        if "parts" in record.read.value and not isinstance(record.read.value["parts"], list):
            beside["parts"] = record.read.value["parts"]
        fields = {
            "info": {key: value for key, value in info.items() if key not in placed},
            "row": record.row,
            "beside": beside,
        }
        return {key: value for key, value in fields.items() if value}

    def _rest(self, at: int, part: dict[str, Any], *placed: str) -> dict[str, Any]:
        """Return a part's members but those placed, and those that only say which message it is of."""
        own = {"messageID": self._teller.record.key, "sessionID": self._teller.session}
        rest = {
            key: value for key, value in part.items() if key not in placed and value != own.get(key, _NONE)
        }
        row = self._teller.record.rows[at] if at < len(self._teller.record.rows) else {}
        return rest | ({"row": row} if row else {})

    def _outline(self, at: int, part: dict[str, Any]) -> dict[str, Any]:
        """Return a part without its text or its file, which the message's own event holds."""
        shown = self._rest(at, part)
        if _kind(part) == "file":
            held = part.keys() - outline(part).keys()
            shown = {key: item for key, item in shown.items() if key not in held}
        if isinstance(part.get("text"), str):
            shown["text"] = {"chars": len(part["text"])}
        return shown

    def _time(self, at: int, part: dict[str, Any]) -> Any:
        """Return when a part began, else when a database took it in."""
        times = _times(part)
        row = self._teller.record.rows[at] if at < len(self._teller.record.rows) else {}
        return times.get("start", times.get("created", row.get("time_created")))

    def _created(self) -> Any:
        created = _created(self._info)
        return created if created is not None else self._teller.record.row.get("time_created")

    def _mark(self, part: Any) -> None:
        """From the part on that a revert names, all is undone."""
        if self._undone_from is not None and isinstance(part, dict) and part.get("id") == self._undone_from:
            self._flush()
            self._teller.marks["branch"] = _ABANDONED


_NONE: Final = object()


def _part_id(part: dict[str, Any]) -> dict[str, Any]:
    return {"part_id": part["id"]} if "id" in part else {}


def _kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def _is_said(part: Any) -> bool:
    """Tell a text that the one it is of said; a synthetic one the program wrote."""
    return _kind(part) == "text" and isinstance(part.get("text"), str) and part.get("synthetic") is not True


def _times(value: dict[str, Any]) -> dict[str, Any]:
    times = value.get("time")
    return times if isinstance(times, dict) else {}


def _created(info: dict[str, Any]) -> Any:
    return _times(info).get("created")


def _error(error: Any) -> dict[str, Any]:
    """Return an error as the words that tell it."""
    if not isinstance(error, dict):
        return {"error_type": "error", "message": values.text(error)}
    data = error.get("data")
    message = data.get("message") if isinstance(data, dict) else error.get("message")
    words = {"error_type": values.text(error.get("name")) or "error", "message": values.text(message)}
    return (
        words
        if error.keys() == {"name", "data"} and data == {"message": message}
        else words | {"error": error}
    )
