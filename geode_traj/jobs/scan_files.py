"""Scanning files for secrets and personal data: JSON by its strings and keys, JSON lines, any other text.

Files are cut into units that processes of their own search (`jobs.scan_workers`), and what these find comes
back in the order of the files: the report is the same however many are at work.
"""

from __future__ import annotations

import codecs
import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final, cast

from geode_traj.codec import framed
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import CHUNK, reading
from geode_traj.codec.framed import MAX_WHOLE
from geode_traj.codec.jsonl import MAX_LINE, lines
from geode_traj.codec.reading import tolerant
from geode_traj.errors import DataError, TrajError, WorldError
from geode_traj.jobs.scan_known import learned
from geode_traj.jobs.scan_parts import Label, Mac, Part, Unscanned, keyed
from geode_traj.jobs.scan_report import FailOn, Scanned, exit_code, report
from geode_traj.jobs.scan_streams import Observer, scan_streams
from geode_traj.jobs.scan_workers import SECONDS, Unit
from geode_traj.model.report import Report
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding, without
from geode_traj.scan.known import VALUE
from geode_traj.scan.rules import Profile

STDIN: Final = "-"
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPOOLED: Final = 8 << 20
_UNIT: Final = 1 << 16
_TOO_LONG: Final = Unscanned(None, "", "a line was too long to scan")


def scan(
    paths: Iterable[Path],
    *,
    profile: Profile,
    fail_on: FailOn = "high",
    sensitive: Iterable[str] = (),
    jobs: int = 1,
    seconds: float = SECONDS,
    stdin: BinaryIO | None = None,
) -> tuple[Report, int]:
    """Scan files and return the report and the exit code; raise `WorldError` TE104 where no file matched.

    What holds JSON is scanned by its leaves, so that escapes hide nothing. What is no text, has a line over
    the limit, or takes longer than `seconds` for a text (`jobs.scan_workers`), is searched as far as that
    goes and quarantined: it never counts as clean. What a stream has cut over several lines is found in each
    of them (`scan.chunks`). The path `-` stands for `stdin`.
    """
    found = scan_with(
        Scanner(profile, sensitive), paths, fail_on=fail_on, jobs=jobs, seconds=seconds, stdin=stdin
    )
    return found, exit_code(found)


def scan_with(
    scanner: Scanner,
    paths: Iterable[Path],
    *,
    fail_on: FailOn = "high",
    jobs: int = 1,
    seconds: float = SECONDS,
    stdin: BinaryIO | None = None,
    learn: bool = False,
    observer: Observer = lambda _: None,
) -> Report:
    """Scan files with a scanner that was set up elsewhere; see `scan`.

    `learn`: names of users and hosts that one text shows are found in all of them. It takes a pass before, of
    which `observer` is told as well.
    """
    key = secrets.token_bytes(32)  # numbers join equal values inside one report only
    files = _Files(tuple(paths), scanner, keyed(key), stdin)
    missed: list[tuple[int, Unscanned]] = []
    with closing(files):
        if learn:
            scanner, missed = learned(files.units(), scanner, jobs, seconds=seconds, observer=observer)
        for unit, result in scan_streams(
            files.units(), scanner, key, jobs, seconds=seconds, observer=observer
        ):
            files.done[unit.owner].add(result)
    for owner, why in missed:
        files.done[owner].unscanned[why] = None
    if not files.done:
        raise WorldError("TE104")
    return report(files.done, scanner, fail_on)


class _Files:
    """The files of one scan: what they are cut into, and what is known of each."""

    def __init__(self, paths: Sequence[Path], scanner: Scanner, mac: Mac, stdin: BinaryIO | None) -> None:
        self.done: list[Scanned] = []
        self._paths = paths
        self._scanner = scanner
        self._credentials = {rule.cls for rule in scanner.ruleset.rules if "import" in rule.profiles}
        self._credentials.add(VALUE)
        self._mac = mac
        self._stdin = stdin
        self._copy: BinaryIO | None = None
        self._stack = ExitStack()

    def close(self) -> None:
        """Let go of what was read from stdin."""
        self._stack.close()

    def units(self) -> Iterator[Unit]:
        """Yield what is to be searched, file by file; each time anew."""
        self.done = []
        for path in self._paths:
            one = self._named(path)
            self.done.append(one)
            try:
                with self._opened(path) as stream:
                    one.sha256, one.bytes = _digest(stream)
                    yield from self._of_stream(stream, one)
            except TrajError as error:
                one.error = error.message.replace(path.name, Path(one.name).name)

    def _named(self, path: Path) -> Scanned:
        """Return the entry of a file, called by its path without credentials: these are findings, too."""
        name = str(path)
        spans = [span for span in self._scanner.find(name) if span.cls in self._credentials]
        told: list[tuple[Label, ScanFinding]] = []
        for span in spans:
            number = self._mac("value", span.value)
            told.append((None, ScanFinding(span.rule, span.cls, span.band, "", None, number, "path")))
        return Scanned(without(name, spans), findings=told)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[BinaryIO]:
        if self._stdin is None or str(path) != STDIN:
            with reading(path) as stream:
                yield stream
            return
        if self._copy is None:  # it can be read once, and is read twice
            copy = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115 - closed by the stack
            self._copy = cast(BinaryIO, self._stack.enter_context(copy))
            while chunk := self._stdin.read(CHUNK):
                self._copy.write(chunk)
        self._copy.seek(0)
        yield self._copy

    def _of_stream(self, stream: BinaryIO, one: Scanned) -> Iterator[Unit]:
        if stream.read(2) not in _UTF16:
            yield from self._of_text(stream, one.bytes or 0, one)
            return
        with SpooledTemporaryFile(max_size=_SPOOLED) as copy:
            size, sound = _recode(stream, cast(BinaryIO, copy))
            if not sound:
                one.unscanned[Unscanned(None, "", "it is no UTF-16 text")] = None
            yield from self._of_text(cast(BinaryIO, copy), size, one)

    def _of_text(self, stream: BinaryIO, size: int, one: Scanned) -> Iterator[Unit]:
        """Cut what a stream holds in the first of the ways that reads it."""
        owner = len(self.done) - 1
        stream.seek(0)
        head = _framed_head(stream, size)
        stream.seek(0)
        if head is None and size <= MAX_WHOLE and _may_be_whole(stream):
            stream.seek(0)
            data = stream.read().removeprefix(codecs.BOM_UTF8)
            if b"\n" in data.strip():
                yield Unit(owner, (Part(None, data, "whole"),))
                return
            del data
        stream.seek(0)
        batch: list[Part] = []
        held = 0
        for line in lines(stream):
            if line.data is None:
                one.unscanned[_TOO_LONG] = None
            elif head is None or (line.number > 1 and line.data[:1] == b"{"):
                batch.append(Part(line.number, line.data))
                held += line.length + 1
            if held >= _UNIT:
                yield Unit(owner, tuple(batch))
                batch, held = [], 0
        if head is not None:
            batch.append(Part(None, head))
        if batch:
            yield Unit(owner, tuple(batch))


def _digest(stream: BinaryIO) -> tuple[str, int]:
    """Return the SHA-256 and size of a stream, and go back to its beginning."""
    digest = hashlib.sha256()
    size = 0
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
    stream.seek(0)
    return digest.hexdigest(), size


def _recode(stream: BinaryIO, copy: BinaryIO) -> tuple[int, bool]:
    """Write UTF-16 text as UTF-8 and return its size, and whether it was sound.

    Lone surrogates pass: whoever reads the copy judges them.
    """
    decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
    size = 0
    stream.seek(0)
    try:
        chunk = stream.read(CHUNK)
        while chunk:
            more = stream.read(CHUNK)
            text = decoder.decode(chunk, final=not more)
            size += copy.write(text.encode("utf-8", "surrogatepass"))
            chunk = more
    except UnicodeDecodeError:
        return size, False
    return size, True


def _framed_head(stream: BinaryIO, size: int) -> bytes | None:
    """Return all but the events of a line-framed trajectory; None where it is none, or not sound."""
    if not framed.is_framed(stream.readline(MAX_LINE).rstrip(b"\r\n")):
        return None
    stream.seek(0)
    try:
        document = framed.read(stream, size=size)
        for text in document.events:
            # The lines of events are read again, so they must be what a line looks like.
            if text.data is None or text.data[:1] != b"{":
                return None
        return dumps(document.head) if document.framed else None
    except DataError:
        return None


def _may_be_whole(stream: BinaryIO) -> bool:
    """Tell whether a stream may be one JSON value over several lines: its first line is no value by itself.

    What stands on one line is told with its number.
    """
    first = stream.readline(_UNIT).removeprefix(codecs.BOM_UTF8).strip()
    while not first and (line := stream.readline(_UNIT)):
        first = line.strip()
    if first[:1] not in (b"{", b"["):
        return False
    try:
        return tolerant(first) is None
    except (ValueError, RecursionError):
        return True
