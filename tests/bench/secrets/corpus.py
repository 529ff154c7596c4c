"""A transcript with planted secrets, and where they are: the same bytes for the same seed."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from typing import Any, Final

from tests.bench.secrets.forms import FORMS, WHOLE, Carrier
from tests.bench.secrets.kinds import Kind, held_out, kinds
from tests.bench.secrets.noise import Noise
from tests.bench.secrets.shapes import draw, uuid

CARRIERS: Final = (
    *"openai anthropic github gitlab slack stripe npm sendgrid groq openrouter".split(),
    *("anthropic oauth", "github fine-grained", "google api", "hugging face"),
)
NAMED: Final = ("env assignment", "code assignment", "bearer", "aws pair", "database url")
"""What is encoded: tokens that tell themselves; by forms of whole texts also what a word beside it tells."""

_PAIRED: Final = re.compile("AK" + "IA[A-Z2-7]{16}")
_LEAF: Final = 1100


@dataclass(frozen=True, slots=True)
class Part:
    """Characters of what stands at `pointer` in a line (from 1); a whole key where `in_key`."""

    line: int
    pointer: str
    start: int
    end: int
    text: str
    in_key: bool = False


@dataclass(frozen=True, slots=True)
class Plant:
    """A planted secret, its form empty where it stands in clear; `beside`: ids that may be found with it."""

    kind: str
    group: str
    form: str
    secret: str
    parts: tuple[Part, ...]
    beside: tuple[str, ...] = ()


@dataclass(slots=True)
class Corpus:
    """The lines of a transcript, the texts of each line, and the plants."""

    lines: list[bytes] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    plants: list[Plant] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        """The transcript as a file holds it."""
        return b"".join(self.lines)


class Writer:
    """Writes events as Claude Code does; nothing in their frame is secret or personal."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.noise = Noise(rng)
        self.corpus = Corpus()
        self._session, self._parent, self._clock = uuid(rng), uuid(rng), 0

    def add(self, kind: str, body: dict[str, Any], text: list[str]) -> int:
        """Append an event with `body` and return its line."""
        self._clock += self.rng.randrange(1, 30)
        own = uuid(self.rng)
        minutes, seconds = divmod(self._clock, 60)
        row = {
            "parentUuid": self._parent,
            "sessionId": self._session,
            "cwd": "/srv/app",
            "version": "2.0.14",
            "gitBranch": "main",
            "type": kind,
            **body,
            "uuid": own,
            "timestamp": f"2026-04-11T{9 + minutes // 60 % 12:02}:{minutes % 60:02}:{seconds:02}.000Z",
        }
        self._parent = own
        self.corpus.lines.append(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self.corpus.texts.append(text)
        return len(self.corpus.lines)

    def leaf(self, text: str) -> tuple[int, str]:
        """Append an event that holds `text` and return its line and the pointer to it."""
        place = self.rng.choice(
            ("user", "text", "thinking", "command", "content", "new_string", "result", "result", "stdout")
        )
        if place == "user":
            return self.add(
                "user", {"message": {"role": "user", "content": text}}, [text]
            ), "/message/content"
        if place == "stdout":
            result = {"stdout": text, "stderr": "", "interrupted": False}
            return self.add("user", {"toolUseResult": result}, [text]), "/toolUseResult/stdout"
        item, inner = self._item(place, text)
        role = "user" if place == "result" else "assistant"
        body = {"message": {"role": role, "id": draw("msg_01<a22>", self.rng), "content": [item]}}
        return self.add(role, body, [text]), f"/message/content/0/{inner}"

    def _item(self, place: str, text: str) -> tuple[dict[str, Any], str]:
        call = draw("toolu_01<a22>", self.rng)
        if place in ("text", "thinking"):
            return {"type": place, place: text}, place
        if place == "result":
            return {"type": "tool_result", "tool_use_id": call, "content": text}, "content"
        given = {place: text} if place == "command" else {"file_path": "src/rows.py", place: text}
        return {"type": "tool_use", "id": call, "name": "Tool", "input": given}, f"input/{place}"

    def clean(self) -> None:
        """Append an event without a plant."""
        if self.rng.random() < 0.02:
            self.leaf(f"![]({self.noise.image()})")
        else:
            self.leaf(self.noise.text(int(_LEAF * (0.2 + 1.6 * self.rng.random()))))

    def plant(self, carrier: Carrier) -> Part:
        """Append an event that holds a secret."""
        if carrier.before.startswith("@"):
            return self._field(carrier)
        alone = self.rng.random() < 0.2
        before = "" if alone else self.noise.text(self.rng.randrange(40, 900)) + "\n"
        after = "" if alone else "\n" + self.noise.text(self.rng.randrange(40, 500))
        start = len(before) + len(carrier.before)
        line, pointer = self.leaf(before + "".join(carrier) + after)
        return Part(line, pointer, start, start + len(carrier.secret), carrier.secret)

    def _field(self, carrier: Carrier) -> Part:
        name = carrier.before[1:-1]
        in_key = name == "key"
        given: dict[str, Any] = {
            "server": "db",
            "options": {carrier.secret: True} if in_key else {name: carrier.secret},
        }
        item = {"type": "tool_use", "id": draw("toolu_01<a22>", self.rng), "name": "Tool", "input": given}
        line = self.add(
            "assistant", {"message": {"role": "assistant", "content": [item]}}, [json.dumps(given)]
        )
        place = "/message/content/0/input/options/" + ("" if in_key else name)
        return Part(line, place, 0, len(carrier.secret), carrier.secret, in_key)

    def chunks(self, pieces: list[Carrier]) -> list[Part]:
        """Append the events of one streamed block."""
        parts = []
        for piece in pieces:
            text = "".join(piece)
            event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
            line, start = self.add("stream_event", {"event": event}, [text]), len(piece.before)
            parts.append(Part(line, "/event/delta/text", start, start + len(piece.secret), piece.secret))
        return parts


def planted(size: int, each: int, seed: int = 1) -> Corpus:
    """Return a transcript of about `size` bytes with `each` plants of every kind and of every form."""
    rng = random.Random(seed)
    every = kinds()
    wanted: list[tuple[Kind, str]] = [(kind, "") for kind in every for _ in range(each)]
    by_name = {kind.name: kind for kind in every}
    for form in (*FORMS, *WHOLE):
        names = CARRIERS + (NAMED if form in WHOLE else ())
        wanted += [(by_name[rng.choice(names)], form) for _ in range(each)]
    return _written(wanted, size, rng)


def held(size: int, each: int, seed: int = 1) -> Corpus:
    """Return a transcript with `each` plants of every kind, in places that are kept apart."""
    return _written([(kind, "") for kind in held_out() for _ in range(each)], size, random.Random(seed))


def _written(wanted: list[tuple[Kind, str]], size: int, rng: random.Random) -> Corpus:
    """Write the plants in random order, with clean events between them."""
    writer = Writer(rng)
    rng.shuffle(wanted)
    between = max(0, size - len(wanted) * 1_500) / len(wanted)
    written, due = 0, 0.0
    for kind, form in wanted:
        due += between
        while written < due:
            writer.clean()
            written += len(writer.corpus.lines[-1])
        writer.corpus.plants.append(_planted(writer, kind, form))
    return writer.corpus


def _planted(writer: Writer, kind: Kind, form: str) -> Plant:
    carrier = Carrier(*kind.planted(writer.rng))
    beside = tuple(_PAIRED.findall(carrier.before))
    if not form:
        part = writer.plant(carrier)
        return Plant(
            kind.name, kind.group, "", carrier.secret, (part,), tuple(_PAIRED.findall(carrier.before))
        )
    encoded = (FORMS | WHOLE)[form](carrier, writer.rng)
    parts = [writer.plant(encoded[0])] if len(encoded) == 1 else writer.chunks(encoded)
    return Plant(kind.name, kind.group, form, carrier.secret, tuple(parts), beside)


def clean(size: int, seed: int = 2) -> Corpus:
    """Return a transcript of about `size` bytes without a secret."""
    writer = Writer(random.Random(seed))
    written = 0
    while written < size:
        writer.clean()
        written += len(writer.corpus.lines[-1])
    return writer.corpus
