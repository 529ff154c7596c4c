"""Reading on where a strict reader stops, so that one bad byte does not hide what else is wrong.

Each flaw is a value with its code and place. An event whose line gives no JSON value is lost; one with
repeated keys, bytes that are no text, or numbers that are none is judged as `codec.reading.tolerant` mends
it. Whatever happens here, the file is not valid: at least one flaw is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, NamedTuple

from geode_traj.codec import framed
from geode_traj.codec.framed import Document, EventText
from geode_traj.codec.jsonl import MAX_LINE, Line, lines
from geode_traj.codec.reading import MAX_DEPTH, loads, tolerant
from geode_traj.errors import DataError

BOM: Final = b"\xef\xbb\xbf"
CODES: Final = {"TE203": "GT112", "TE204": "GT111", "TE209": "GT108"}
"""Errors of reading that have a check of their own; all others are GT101."""
_MAX_POINTER: Final = 300
_MAX_FLAWS: Final = 50


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong: check, message, pointer in its value, line, position of its event, span of bytes.

    `lost` says that the event could not be read for it, or, without a position, the document.
    """

    code: str
    message: str
    pointer: str | None = None
    line: int | None = None
    position: int | None = None
    span: tuple[int, int] | None = None
    lost: bool = False


class Mended(NamedTuple):
    """A JSON value and the flaws in its text; without `read` there is none, and one flaw tells why."""

    read: bool
    value: Any
    flaws: list[Flaw]


def mend(data: bytes) -> Mended:
    """Read one JSON value as far as it can be read."""
    try:
        return Mended(True, loads(data), [])
    except DataError as error:
        if error.code == "TE204":
            return _none("GT111", error.message)
        why = error.message
    if b"\0" in data:
        return _none("GT110", "holds NUL bytes", data)
    try:
        found = tolerant(data)
    except RecursionError:
        return _none("GT111", f"nested deeper than {MAX_DEPTH}")
    except ValueError:
        return _none("GT113", why)
    flaws = [
        *(_at("GT104", f"a key stands {len(v) + 1} times", p) for p, v in found.duplicates.items()),
        *(_at("GT105", "a number is not finite, or too large for a float", p) for p in found.nonfinite),
        *_characters(data, list(found.escaped)),
    ]
    return Mended(True, found.value, flaws[:_MAX_FLAWS] or [Flaw("GT113", why)])


def _none(code: str, message: str, data: bytes = b"") -> Mended:
    at = data.find(b"\0")
    return Mended(False, None, [Flaw(code, message, span=(at, at + 1) if at >= 0 else None)])


def _at(code: str, message: str, pointer: str) -> Flaw:
    cut = pointer if len(pointer) <= _MAX_POINTER else pointer[: _MAX_POINTER - 1] + "…"
    return Flaw(code, message, cut)


def _characters(data: bytes, places: list[str]) -> Iterator[Flaw]:
    """Tell lone surrogates from bytes that are not UTF-8: a text without such bytes still has the former."""
    try:
        data.decode()
        surrogates = places
    except UnicodeDecodeError as error:
        span = (error.start, error.end)
        yield Flaw("GT108", "bytes are not UTF-8", places[0] if len(places) == 1 else None, span=span)
        surrogates = list(tolerant(data.decode(errors="replace").encode()).escaped)
    for pointer in surrogates:
        yield _at("GT107", "a text holds half of a surrogate pair", pointer)


def salvage(stream: BinaryIO, size: int, document: Document) -> Iterator[EventText | Flaw]:
    """Yield the events and flaws of a file that strict reading refused; fills in `document` as it goes.

    `document.head` stays empty where the file has none that can be read.
    """
    stream.seek(0)
    first = stream.readline(min(MAX_LINE, size))
    mark = first.startswith(BOM)
    stream.seek(0)
    if mark:
        yield Flaw("GT109", "begins with a byte order mark", line=1, span=(0, len(BOM)))
    if framed.is_framed(first.removeprefix(BOM).rstrip(b"\r\n")) and _reads_by_line(stream, size):
        stream.seek(0)
        yield from _framed(stream, size, document)
    else:
        stream.seek(0)
        yield from _whole(stream, size, document)


def _reads_by_line(stream: BinaryIO, size: int) -> bool:
    """Tell whether a file that begins like a framed one is best read line by line.

    It is where the line after the first is an event or the end, or where the whole gives no value either.
    """
    if size > framed.MAX_WHOLE:
        return True
    second = next((line.data for line in lines(stream, size=size) if line.number > 1), None)
    if second is None or second.startswith(b"]") or mend(second.removesuffix(b",")).read:
        return True
    stream.seek(0)
    return not mend(stream.read(size).removeprefix(BOM)).read


def _whole(stream: BinaryIO, size: int, document: Document) -> Iterator[EventText | Flaw]:
    document.framed = False
    if size > framed.MAX_WHOLE:
        yield Flaw("GT112", f"larger than the limit of {framed.MAX_WHOLE} bytes", lost=True)
        return
    data = stream.read(size).removeprefix(BOM)
    padded = data.rstrip(b"\0\r\n")
    if b"\0" in data[len(padded) :]:
        yield Flaw("GT110", "ends in NUL bytes", span=(len(padded), len(data)))
        data = padded
    found = mend(data)
    yield from _told(found)
    if isinstance(found.value, dict) and isinstance(found.value.get("events"), list):
        events = found.value.pop("events")
        document.head.update(found.value)
        for position, value in enumerate(events, start=1):
            yield EventText(position, value)


def _told(found: Mended, line: int | None = None) -> Iterator[Flaw]:
    """Yield the flaws of a document; that it is no JSON at all is for strict reading to tell."""
    for flaw in found.flaws:
        if found.read or flaw.code != "GT113":
            yield replace(flaw, line=line, lost=not found.read)


def _framed(stream: BinaryIO, size: int, document: Document) -> Iterator[EventText | Flaw]:
    opening = b""
    position = 0
    comma = True
    done = False
    for line in lines(stream, size=size):
        data = line.data
        if line.number == 1:
            opening = data or b""
        elif done:
            if data is None or data.strip():
                nul = data is not None and not data.strip(b"\0\r ")
                text = "NUL bytes" if nul else "text"
                yield _on(line, Flaw("GT110" if nul else "GT113", f"{text} after the end of the document"))
        elif data is not None and data.startswith(b"]"):
            if position and comma:
                yield _on(line, Flaw("GT113", "a comma before the end of the events"))
            done = True
            yield from _head(opening, line, document)
        else:
            if not comma:
                yield _on(line, Flaw("GT113", "no comma between two events"))
            position += 1
            comma = data is None or data.endswith(b",")
            yield from _event(line, position)


def _event(line: Line, position: int) -> Iterator[EventText | Flaw]:
    if line.data is None:
        flaw = Flaw("GT112", f"larger than the limit of {MAX_LINE} bytes", position=position, lost=True)
        yield _on(line, flaw)
        return
    data = line.data.removesuffix(b",")
    found = mend(data)
    for flaw in found.flaws:
        if line.ended or flaw.code != "GT113":  # else the file is cut short there, which is told of the whole
            yield _on(line, flaw, position, lost=not found.read)
    if found.read:
        yield EventText(position, found.value, data, line.number, line.offset)


def _head(opening: bytes, line: Line, document: Document) -> Iterator[Flaw]:
    found = mend(opening + (line.data or b""))
    yield from _told(found, line.number)
    if isinstance(found.value, dict):
        document.head.update(found.value)
        document.head.pop("events", None)


def _on(line: Line, flaw: Flaw, position: int | None = None, lost: bool = False) -> Flaw:
    """Return the flaw with the place of its line; its span is then one of the file."""
    start, end = flaw.span or (0, line.length)
    pointer = flaw.pointer
    if position is not None and pointer is not None:
        pointer = f"/events/{position - 1}{pointer}"
    span = (line.offset + start, line.offset + end)
    position = flaw.position or position
    return Flaw(flaw.code, flaw.message, pointer, line.number, position, span, lost or flaw.lost)
