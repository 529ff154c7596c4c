"""One sample of a log: where its parts stand, read when they are needed."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.reading import Tolerated, tolerant
from geode_traj.sources.inspect_eval import splitting
from geode_traj.sources.inspect_eval.splitting import SMALL, WHOLE, Span

_REFERENCE: Final = (b"attachment://", b"tc://")


class Spans:
    """Many spans in little memory."""

    def __init__(self) -> None:
        self._numbers = array("Q")

    def append(self, span: Span) -> None:
        """Add one."""
        self._numbers.extend(span)

    def __len__(self) -> int:
        return len(self._numbers) // 2

    def __getitem__(self, index: int) -> Span:
        if not 0 <= index < len(self):
            raise IndexError
        return Span(self._numbers[2 * index], self._numbers[2 * index + 1])

    def __iter__(self) -> Iterator[Span]:
        return (self[index] for index in range(len(self)))


@dataclass(slots=True)
class Loaded:
    """A record: what was parsed of it, the members that are too large and come in pieces, what it refers to.

    `refers` tells that it may hold references to attachments.
    """

    read: Tolerated
    large: list[tuple[str, Span]] = field(default_factory=list)
    refers: bool = True


class Sample:
    """The parts of one sample in a stream that holds them all.

    A sample is one object, or, in a log that splits it, a shell with lists of its events, pooled messages,
    pooled requests and attachments in files of their own. `head` maps the members that are none of these.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.head: dict[str, Span] = {}
        self.repeated: list[tuple[str, Span]] = []
        self.events = Spans()
        self.messages: Spans | None = None
        self.pool = Spans()
        self.calls = Spans()
        self.attachments: dict[str, Span] = {}

    def add_object(self, span: Span) -> None:
        """Take in the sample's object; raise `splitting.Broken`."""
        for key, _, value in splitting.members(self.stream, span):
            first = splitting.first_byte(self.stream, value)
            if key in ("events", "messages") and first == b"[":
                self.repeated += [(key, span) for span in getattr(self, key) or ()]
                setattr(self, key, Spans())
                self.add_list(getattr(self, key), value)
            elif key == "message_pool" and first == b"[":
                self.add_list(self.pool, value)
            elif key == "call_pool" and first == b"[":
                self.add_list(self.calls, value)
            elif key == "events_data" and first == b"{":
                self._add_pools(value)
            elif key == "attachments" and first == b"{":
                self.add_attachments(value)
            else:
                self.put(key, value)

    def add_list(self, spans: Spans, value: Span) -> None:
        """Take in the items of a list; raise `splitting.Broken`."""
        for span in splitting.items(self.stream, value):
            spans.append(span)

    def add_attachments(self, value: Span) -> None:
        """Take in attachments by id."""
        for key, _, text in splitting.members(self.stream, value):
            if key in self.attachments:
                self.repeated.append((f"attachments/{key}", self.attachments[key]))
            self.attachments[key] = text

    def load(self, span: Span) -> Loaded:
        """Read one record; raise `ValueError` or `RecursionError`. Of a large object, the small members."""
        if span.length > WHOLE and splitting.first_byte(self.stream, span) == b"{":
            return self._load_large(
                (entry.key, entry.value) for entry in splitting.members(self.stream, span)
            )
        if span.length > splitting.MAX_STRING:
            raise ValueError("too large")
        data = splitting.read(self.stream, span)
        return Loaded(tolerant(data), refers=any(mark in data for mark in _REFERENCE))

    def load_head(self) -> Loaded:
        """Read the members of the head that are small."""
        return self._load_large(iter(self.head.items()))

    def parts(self, span: Span, pointer: str) -> Iterator[splitting.Part]:
        """Yield a value in pieces."""
        return splitting.parts(self.stream, span, pointer)

    def digest(self) -> str:
        """Return the digest of all that the sample says, whatever the layout of its JSON."""
        found = hashlib.sha256()

        def add(name: str, span: Span) -> None:
            found.update(dumps(name))
            try:
                for part in splitting.parts(self.stream, span, ""):
                    whole = self.sha256(part.omitted) if part.omitted else part.read.value
                    found.update(dumps([part.pointer, part.first, whole, dict(part.read.duplicates)]))
            except (ValueError, RecursionError):
                found.update(self.sha256(span).encode())

        for key in sorted(self.head):
            add(key, self.head[key])
        for key, span in self.repeated:
            add(f"{key}~", span)
        for name in ("events", "messages", "pool", "calls"):
            for span in getattr(self, name) or ():
                add(name, span)
        for key in sorted(self.attachments):
            found.update(f"{json.dumps(key)}{self.sha256(self.attachments[key])}".encode())
        return found.hexdigest()

    def sha256(self, span: Span) -> str:
        """Return the digest of a span's bytes as they stand."""
        found = hashlib.sha256()
        for offset in range(span.offset, span.offset + span.length, WHOLE):
            left = span.offset + span.length - offset
            found.update(splitting.read(self.stream, Span(offset, min(WHOLE, left))))
        return found.hexdigest()

    def _add_pools(self, value: Span) -> None:
        for key, _, inner in splitting.members(self.stream, value):
            is_list = splitting.first_byte(self.stream, inner) == b"["
            if key in ("messages", "calls") and is_list:
                self.add_list(self.pool if key == "messages" else self.calls, inner)
            else:
                self.put(f"events_data/{key}", inner)

    def put(self, key: str, value: Span) -> None:
        """Take in a member of the head; of those that share a key the last counts."""
        if key in self.head:
            self.repeated.append((key, self.head[key]))
        self.head[key] = value

    def _load_large(self, entries: Iterator[tuple[str, Span]]) -> Loaded:
        value: dict[str, Any] = {}
        escaped: list[str] = []
        nonfinite: list[str] = []
        duplicates: dict[str, list[Any]] = {}
        out = Loaded(Tolerated(value, escaped, nonfinite, duplicates))
        left = WHOLE
        for key, span in entries:
            pointer = "/" + key.replace("~", "~0").replace("/", "~1")
            if span.length > left or (span.length > SMALL and span.length > left // 8):
                out.large.append((pointer, span))
                continue
            left -= span.length
            try:
                read = tolerant(splitting.read(self.stream, span))
            except (ValueError, RecursionError):
                out.large.append((pointer, span))  # reading it in pieces tells what is wrong
                continue
            value[key] = read.value
            escaped += [pointer + one for one in read.escaped]
            nonfinite += [pointer + one for one in read.nonfinite]
            duplicates |= {pointer + one: earlier for one, earlier in read.duplicates.items()}
        return out
