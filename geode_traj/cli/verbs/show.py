"""`show`: one session or file at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from geode_traj.cli.options import format_option, store_option
from geode_traj.cli.output import say, show_report
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading, sha256_file
from geode_traj.codec.framed import Document, EventText, read
from geode_traj.codec.text import clip
from geode_traj.errors import DataError, WorldError
from geode_traj.export.trajectory import Export
from geode_traj.jobs.verify_files import report
from geode_traj.jobs.verify_inputs import verify_input
from geode_traj.store import events, imports, opening
from geode_traj.verify import Verified, verify_document
from geode_traj.verify.engine import unreadable


@click.command()
@click.argument("what", metavar="SESSION|FILE")
@store_option()
@click.option(
    "--damaged", is_flag=True, help="Print the session's damaged lines instead: place, reason, text."
)
@format_option("text", "json")
def command(what: str, store: Path, damaged: bool, form: str) -> int:
    """Show a session or a file at a glance.

    Head, counts, completeness, findings. A name that is an existing file is that file: whatever verify takes,
    each session of it by itself. What is printed is safe for a terminal; --damaged --format json gives the
    damaged lines as they were kept.

    Exit: 1 false claims, 3 unreadable, or no such session or store, 4 a newer version wrote the store.
    """
    if damaged:
        return _damaged(what, store, form)
    path = Path(what)
    shown = _Shown()
    if _is_file(path):
        results = list(verify_input(path, shown.watch, shown.file))
    else:
        with opening.open_reader(store) as connection:
            if events.last(connection, what) is None:
                raise WorldError("TE504", session=what)
            document = shown.watch(Export(connection, [what]).document())
            results = [verify_document(document, name=what)]
    found, code = report(results)
    if form == "text":
        for line in shown.lines():
            say(line)
    show_report(found, form)
    return code


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a session id may be longer than any file's name
        return False


def _damaged(session_id: str, store: Path, form: str) -> int:
    with opening.open_reader(store) as connection:
        for line in imports.damaged(connection, session_id):
            text = None if line.redacted is None else line.redacted.decode("utf-8", "backslashreplace")
            if form == "json":
                say(dumps({**asdict(line), "redacted": text}).decode())
            else:
                place = f"{clip(line.source_path, 200)}:{line.line} at byte {line.offset}"
                say(f"{place}, {line.length} byte(s), {line.reason}")
                say(f"  {clip(text, 400) if text is not None else '(too long to keep)'}")
    return 0


class _Shown:
    """The heads of the documents that are verified, and how many events of each kind they hold."""

    def __init__(self) -> None:
        self._seen: list[tuple[Document, Counter[str]]] = []

    def watch(self, document: Document) -> Document:
        """Count a document's events as they are read."""
        kinds: Counter[str] = Counter()
        inner = document.events

        def events() -> Iterator[EventText]:
            for text in inner:
                kinds[_kind(text)] += 1
                yield text

        document.events = events()
        self._seen.append((document, kinds))
        return document

    def file(self, path: Path) -> Verified:
        """Verify a trajectory file and keep its head."""
        sha256, size = sha256_file(path)
        with reading(path) as stream:
            try:
                document = self.watch(read(stream, place=str(path), size=size))
                return verify_document(document, name=str(path), sha256=sha256, size=size)
            except DataError as error:
                self._seen.clear()
                return unreadable(str(path), error, sha256=sha256, size=size)

    def lines(self) -> Iterator[str]:
        """Yield what stands above the findings, for people."""
        for document, kinds in self._seen:
            yield from _head(document.head, kinds)


def _kind(text: EventText) -> str:
    kind = text.value.get("kind") if isinstance(text.value, dict) else None
    return kind if isinstance(kind, str) else "(malformed)"


def _head(head: dict[str, object], kinds: Counter[str]) -> list[str]:
    lines = []
    source = head.get("source")
    for name, value in (
        ("trajectory", head.get("trajectory_id")),
        ("captured", head.get("captured_at")),
        ("harness", source.get("harness") if isinstance(source, dict) else None),
        ("session", source.get("session") if isinstance(source, dict) else None),
    ):
        if isinstance(value, str):
            lines.append(f"{name:<12}{clip(value, 200)}")
    for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{'':<12}{count:>7}  {clip(kind, 80)}")
    return lines
