"""One Hermes session of a store, read record by record."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from itertools import chain
from typing import Any

from geode_traj.model.event import Item, Link, Loss, Session
from geode_traj.sources.base import Input
from geode_traj.sources.hermes import parts, session
from geode_traj.sources.hermes.messages import MessageRow, Messages
from geode_traj.sources.hermes.store import Store, message_key
from geode_traj.sources.hermes.work import Work
from geode_traj.sources.tables import TableRow

_Lineage = tuple[dict[int, str], int | None, str]
"""Which live rows repeat a parent's {place: its message id}, where a summary stands, the parent's id."""


class Reader:
    """Reads one session; `digests` are those of the rows met, in order."""

    def __init__(self, store: Store, given: Input) -> None:
        self._store = store
        self._given = given
        self._session = given.unit or given.default_session
        self.digests: list[str] = []
        self._line = 0

    def items(self) -> Iterator[Item]:
        """Yield the start, the messages with what ran beside them, the usage, the end."""
        key = self._given.unit
        head = next(self._store.head(key), None)
        work = Work(self._given, self._session)
        if head is not None:
            self._count(head)
            yield work.started(head, self._line)
        children = list(self._store.children(key))
        for row in children:
            self.digests.append(row.sha256)
        model = head.values.get("model") if head else None
        yield from self._messages(key, head, work, children, model if isinstance(model, str) else "")
        used = False
        for row in self._store.usage(key):
            self._count(row)
            used = True
            yield work.usage(row, self._line)
        for row in self._store.delegations(key):
            self._count(row)
        if head is not None:
            yield from work.ended(head, 1, used=used)

    def _messages(
        self, key: str, head: TableRow | None, work: Work, children: list[TableRow], model: str
    ) -> Iterator[Item]:
        lines = self._line
        delegations = list(self._store.delegations(key))
        if delegations:  # they are numbered after the rest, but told at their time
            lines += sum(1 for _ in chain(self._store.messages(key), self._store.usage(key)))
        beside = work.beside(head, children, delegations, lines)
        copies, summary, origin = yield from self._lineage(head)
        messages = Messages(self._given, self._session, model=model)
        live = inactive = 0
        for row in self._store.messages(key):
            self._count(row)
            time = parts.moment(row.values.get("timestamp"))[0]
            yield from beside.until(time, messages)
            one = self._row(row)
            if row.values.get("active") == 0:
                inactive += 1
            elif head is not None:
                if live in copies:
                    one.content_key = _content_key(origin, copies[live])
                    one.copied_from = (origin,)
                elif live == summary:
                    one.marks |= {"copied_context": True, "is_summary": True}
                live += 1
            yield from messages.take(one)
        yield from messages.end()
        yield from beside.rest()
        rewinds = head.values.get("rewind_count") if head else None
        if isinstance(rewinds, int) and rewinds > 0 and not inactive:
            yield Loss("rewound_rows", rewinds)
            yield Session(self._session, {"scope": [f"{rewinds} rewind(s) of which no row is left"]})

    def _lineage(self, head: TableRow | None) -> Generator[Item, None, _Lineage]:
        """Yield the link to the session this one comes from; return which rows repeat it, and from where."""
        if head is None:
            return {}, None, ""
        found = session.lineage(head.values)
        parent = next(self._store.head(found[1]), None) if found else None
        if found is None or parent is None:
            if found:
                yield Link(self._session, *found)
            return {}, None, ""
        end = parent.values.get("end_reason")
        kind, target = session.lineage(head.values, end) or found
        yield Link(self._session, kind, target)
        if kind == "parent":
            return {}, None, ""
        own = [said for _, said in self._store.said(self._given.unit, active=True)]
        earlier = self._store.said(target, active=True)
        copies, summary = session.copied(
            own, [said for _, said in earlier], compacted=end == "compression" and kind == "resume"
        )
        return {place: earlier[there][0] for place, there in copies.items()}, summary, target

    def _row(self, row: TableRow) -> MessageRow:
        marks: dict[str, Any] = {}
        if row.values.get("active") == 0:
            marks["branch"] = "abandoned"
        if row.values.get("compacted") == 1:
            marks = {"copied_context": True}
        return MessageRow(
            row.values,
            self._line,
            row.sha256,
            key=f"message:{message_key(row)}",
            escaped=[f"/{name}" for name in row.escaped],
            nonfinite=[f"/{name}" for name in row.nonfinite],
            duplicates=row.duplicates,
            marks=marks,
            content_key=_content_key(self._session, message_key(row)),
        )

    def _count(self, row: TableRow) -> None:
        self._line += 1
        self.digests.append(row.sha256)


def _content_key(session_id: str, message: str) -> str:
    """Return what names a message wherever it is repeated; hashed, since it is kept as it is."""
    return hashlib.sha256(f"{session_id}\0{message}".encode()).hexdigest()[:32]
