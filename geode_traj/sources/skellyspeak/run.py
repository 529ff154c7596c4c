"""One recorded model run of SkellySpeak as events.

Chat's reply and Coach's review or answer are messages. Every other operation is a step of the program, no
agent and no tool that a model called: it stays whole, as `legacy.imported` with its operation named (importer
decision J2). Each attempt has its own usage; the run's sum treats what is unreported as nothing and is never
taken for a total.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.codec.reading import Tolerated
from geode_traj.model.event import Event, Item, Loss
from geode_traj.sources import values
from geode_traj.sources.base import Input
from geode_traj.sources.fields import id_text
from geode_traj.sources.provenance import legacy, marks, whole

# Operation -> whose message its output is (the actor of an exported event).
AGENTS: Final = {"reply": "assistant", "review": "coach", "answer": "coach"}
OPERATIONS: Final = frozenset(
    """reply review answer reflect tokenize tokenize_learner translate explain suggest word_insight story
    transcribe synthesize assess_skills lesson-topic annotate""".split()
)
# Asked with whatever stands there, hashable or not.
_LEARNER: Final = ("learner_message", "edit_resend")
_ANSWERED: Final = ("ok", "unparseable", "invalid")
_WORDS: Final = ("operation", "outcome", "context", "length_checks", "plan")
OUTPUT_PREVIEW: Final = 8_000
NOT_REPORTED: Final = "not_reported"
# Numbers of the events that one run gives; usage events follow from _USAGE on.
_RECORD, _USER, _ERROR, _USAGE = range(4)


@dataclass(frozen=True, slots=True)
class Said:
    """A text of a run, and why it is not the whole of it ("" where it is)."""

    text: str
    cut: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its row, and what only the file around it tells.

    `number` is its place in the list from 1, `time` in Unix seconds, read by `time_rule`.
    """

    read: Tolerated
    number: int
    session_id: str
    sha256: str
    time: float | None
    time_rule: str

    @property
    def row(self) -> dict[str, Any]:
        """The run's row."""
        row: dict[str, Any] = self.read.value
        return row

    def items(self, given: Input) -> Iterator[Item]:
        """Yield the run's events, what it lost of itself, and nothing of the session around it."""
        question = learner_message(self.row)
        if question is not None:
            yield self._question(question)
        yield self._record(given)
        for number, payload in enumerate(usages(self.row)):
            yield self._event("usage.recorded", payload, _USAGE + number)
        if self.row.get("outcome") == "failed" and self._kind() != "error.recorded":
            yield self._event("error.recorded", _error(self.row), _ERROR, status="error")
        yield from losses(self.row)

    def _event(self, kind: str, payload: dict[str, Any], n: int, **columns: Any) -> Event:
        escaped, nonfinite = marks(payload, self.read)
        return Event(
            kind=kind,
            session_id=self.session_id,
            line=self.number,
            record_sha256=self.sha256,
            payload=payload,
            time=self.time,
            time_rule=self.time_rule,
            key=id_text(self.row.get("id")),
            n=n,
            turn_id=id_text(self.row.get("turn_id")),
            model=id_text(self.row.get("model")),
            escaped=escaped,
            nonfinite=nonfinite,
            **columns,
        )

    def _kind(self) -> str:
        """Return the kind of the event that stands for the run itself."""
        operation = self.row.get("operation")
        if not isinstance(operation, str) or operation not in AGENTS:
            return "legacy.imported"
        if self.row.get("outcome") == "failed":
            return "error.recorded"
        return "message.assistant" if said(self.row) else "legacy.imported"

    def _record(self, given: Input) -> Event:
        row, kind = self.row, self._kind()
        operation = id_text(row.get("operation"))
        status = "error" if kind == "error.recorded" else id_text(row.get("outcome"))
        columns: dict[str, Any] = {"status": status}
        if kind == "legacy.imported":
            payload, fields = whole(row, model=id_text(row.get("model")), status=status)
            columns["raw"] = operation not in OPERATIONS
        else:
            payload = {key: row[key] for key in _WORDS if key in row}
            fields = {key: row[key] for key in row if key not in _WORDS and key != "application_status"}
        if kind == "message.assistant":
            text = said(row)
            payload |= {"content": text.text if text else "", "reasoning": values.reasoning(None)}
            if text and text.cut:
                payload["_truncated"] = text.cut
            columns["role"] = AGENTS[operation]
        elif kind == "error.recorded":
            payload |= _error(row)
        # A run that no one acknowledged says so; the oldest ones do not know the word (their default).
        payload["application_status"] = row.get("application_status", NOT_REPORTED)
        if "turn_id" in row and row["turn_id"] is None:
            payload["standalone"] = True
        payload["_legacy"] = legacy(given, "run", self.number, fields, self.read)
        return self._event(kind, payload, _RECORD, **columns)

    def _question(self, question: Said) -> Event:
        context: dict[str, Any] = self.row["context"]
        chat: dict[str, Any] = {
            key: context[key] for key in ("chat_id", "message_id", "replaces_message_id") if key in context
        }
        payload: dict[str, Any] = {"content": question.text, **chat}
        if question.cut:
            payload["_truncated"] = question.cut
        event = self._event("message.user", payload, _USER, role="user")
        event.model = ""
        if id_text(context.get("message_id")):
            # A reply that is asked for anew carries the same message: it is said once.
            said_once = [self.session_id, chat, question.text]
            event.content_key = "message:" + sha256_bytes(dumps(said_once))
        return event


def attempts(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the attempts of a run that are objects, in order."""
    listed = row.get("attempts")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def said(row: dict[str, Any]) -> Said | None:
    """Return what the model said: the last good attempt's response, or a preview where that is not whole."""
    output = row.get("output")
    preview = (
        Said(output, "output_preview" if len(output) > OUTPUT_PREVIEW else "")
        if (isinstance(output, str))
        else None
    )
    for attempt in reversed(attempts(row)):
        response = attempt.get("response")
        if attempt.get("kind") != "ok" or not isinstance(response, str):
            continue
        if not attempt.get("response_truncated"):
            return Said(response)
        if preview is not None and len(preview.text) > len(response):
            return Said(preview.text, "output_preview")
        return Said(response, "response_truncated")
    return preview


def learner_message(row: dict[str, Any]) -> Said | None:
    """Return what the learner said: the last user message of a reply's request, if the learner asked for it.

    Earlier messages of a request are the model's context, not new events.
    """
    context = row.get("context")
    if row.get("operation") != "reply" or not isinstance(context, dict):
        return None
    if context.get("trigger") not in _LEARNER:
        return None
    tried = attempts(row)
    good = [attempt for attempt in tried if attempt.get("kind") == "ok"]
    for attempt in [*reversed(good), *reversed(tried)]:
        request = attempt.get("request")
        messages = request.get("messages") if isinstance(request, dict) else None
        for message in reversed(messages) if isinstance(messages, list) else ():
            if isinstance(message, dict) and message.get("role") == "user":
                cut = "request_budget" if message.get("truncated") else ""
                return Said(values.text(message.get("content")), cut)
    return None


def usages(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one usage payload for each attempt that a model answered, null where unreported.

    A run none of whose attempts says anything, while its sum does, gives that sum, called one.
    """
    tried = attempts(row)
    purpose = id_text(row.get("operation")) or None
    total = row.get("usage")
    if isinstance(total, dict) and not any(isinstance(one.get("usage"), dict) for one in tried):
        yield {**_usage(total, purpose), "observed_sum": True}
        return
    for attempt in tried:
        given = attempt.get("usage")
        if isinstance(given, dict) or attempt.get("kind") in _ANSWERED:
            payload = _usage(given if isinstance(given, dict) else {}, purpose)
            yield {**payload, "attempt": attempt.get("index"), "attempt_kind": attempt.get("kind")}


def _usage(given: dict[str, Any], purpose: str | None) -> dict[str, Any]:
    return {
        **values.usage(
            input_tokens=given.get("prompt_tokens"),
            output_tokens=given.get("completion_tokens"),
            cost_usd=given.get("cost"),
            purpose=purpose,
        ),
        "total_tokens": given.get("total_tokens"),
    }


def _error(row: dict[str, Any]) -> dict[str, Any]:
    tried = attempts(row)
    last = tried[-1] if tried else {}
    message = row.get("error") if row.get("error") is not None else last.get("error")
    return {"error_type": last.get("kind"), "message": message, "operation": row.get("operation")}


def losses(row: dict[str, Any]) -> Iterator[Loss]:
    """Yield what the recording itself cut, each cause by its own name (importer decision J6)."""
    messages = blocks = responses = 0
    for attempt in attempts(row):
        responses += bool(attempt.get("response_truncated"))
        request = attempt.get("request")
        if not isinstance(request, dict):
            continue
        listed = request.get("messages")
        cut = sum(
            isinstance(one, dict) and bool(one.get("truncated"))
            for one in (listed if isinstance(listed, list) else ())
        )
        messages += cut
        blocks += bool(request.get("truncated")) and not cut
    for reason, count in (
        ("message_cut_at_24000_character_budget", messages),
        ("request_cut_at_24000_character_budget", blocks),
        ("response_truncated", responses),
    ):
        if count:
            yield Loss(reason, count)
    text = said(row)
    if text and text.cut == "output_preview":
        yield Loss("only_output_preview_kept")
