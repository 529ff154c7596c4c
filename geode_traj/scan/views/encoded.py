"""Encodings of bytes in text: base64 and hex in their many layouts, and what compression put inside them."""

from __future__ import annotations

import re
import zlib
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

import re2

from geode_traj.contract.gate_filter import Look
from geode_traj.scan.rules import options
from geode_traj.scan.views.trail import Part, Trail, replaced, spliced

MAX_INFLATED: Final = 1 << 20
"""Bytes that all compressed parts of one text are inflated to: a bomb ends there."""


_ALPHABET: Final = (*ascii_uppercase, *ascii_lowercase, *digits, r"+\-", "/_")


def _sixbit(fits: Callable[[int], bool]) -> str:
    """Return the class of the base64 digits, of either alphabet, whose value fits."""
    return f"[{''.join(digit for value, digit in enumerate(_ALPHABET) if fits(value))}]"


_RUN: Final = r"[A-Za-z0-9+/_]++(?:-[A-Za-z0-9+/_]++)*+"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_])(?=[A-Za-z0-9+/_-]{{16}}){_RUN}"
    rf"(?:(?<=[A-Za-z0-9+/_]{{40}})\\?\r?\n[ \t]*+(?=[A-Za-z0-9+/_-]{{16}}){_RUN})*+(?:-(?!-))?={{0,2}}"
)


def _digits_like(bits: re.Pattern[str]) -> str:
    return _sixbit(lambda value: bits.match(f"{value:06b}") is not None)


_BEGUN: Final = ("0.......", "110.....", "1110....", "11110...")
_GOES_ON: Final = "10......"
"""The bits of the bytes of UTF-8: how many that go on each of the others begins."""


def _three_bytes(due: int, bits: str = "") -> Iterator[tuple[str, int]]:
    """Yield the bits of three bytes of UTF-8, of which the first `due` go on, and how many are due then."""
    if len(bits) == 24:
        yield bits, due
    elif due:
        yield from _three_bytes(due - 1, bits + _GOES_ON)
    else:
        for more, begun in enumerate(_BEGUN):
            yield from _three_bytes(more, bits + begun)


def _utf8(threes: int, due: int = 0) -> str:
    """Return the pattern of the base64 of so many times three bytes of UTF-8; see `_three_bytes`."""
    if not threes:
        return ""
    ways: dict[int, list[str]] = {}
    for bits, after in _three_bytes(due):
        four = (re.compile(bits[at : at + 6]) for at in range(0, 24, 6))
        ways.setdefault(after, []).append("".join(map(_digits_like, four)))
    joined = (f"(?:{'|'.join(way)}){_utf8(threes - 1, after)}" for after, way in ways.items())
    return f"(?:{'|'.join(joined)})"


_BEGINNING: Final = (
    rf"(?:^|[^A-Za-z0-9+/_])(?:{_utf8(2)}[A-Za-z0-9+/_-]{{8}}"
    rf"|[A-Za-z0-9+/_][A-Za-z0-9+/_-]{{39}}(?:[A-Za-z0-9+/_-]{{8}}|[A-Za-z0-9+/_-]{{0,7}}\\?\r?\n))"
).encode()
"""What base64 that says something begins with, after another character: most names and numbers are none.

A run on one line with less than `_SHORT` digits is one whole text.
"""
_BEGINS: Final = re2.compile(_BEGINNING, options(captures=False))
BASE64_BEGINS: Final = Look(_BEGINNING)

_FIRST: Final = _sixbit(lambda value: value in (2, 3) or 8 <= value < 32)
_SECOND: Final = _sixbit(lambda value: value & 0b1111 in (0, 2, 3, 4, 5, 6, 7))
_LEGIBLE: Final = Look(
    (
        rf"(?:{_FIRST}{_SECOND}[A-Za-z0-9+/]{{2}}){{3}}"
        rf"|{_FIRST}[AQgw][AB]|^.{{0,3}}(?:H4[s-v]|eA[E-H]|eF[4-7]|eJ[w-z]|eN[o-r])"
    ).encode()
)
"""In longer runs: nine readable bytes, a readable one in UTF-16, or the head of something compressed."""

# `re` skips quickly to what a pattern begins with, if that is one class of characters.
_HEX = re.compile(
    r"[0-9A-Fa-f](?<![0-9A-Fa-f]{2})(?:(?<=0)x[0-9A-Fa-f]{2}|[0-9A-Fa-f])"
    r"(?:(?:[0-9A-Fa-f]{2}){11,}+|(?:[ :,\t\r\n]{1,3}(?:0x)?[0-9A-Fa-f]{2}){11,}+)"
)
HEX: Final = rb"[0-9A-Fa-f]{24}|(?:[0-9A-Fa-f]{2}[ :,\t\r\n]{1,3}(?:0x)?){11}"
"""What is in the bytes of every text with such a run, from its first digit or the one after `0x`."""

_HEX_BEGINS: Final = re2.compile(HEX, options(captures=False))
_BYTES = re.compile(
    r"(?<![0-9])(?:\[[ \t\r\n]*+)?[0-9]{2,3}(?:,[ \t\r\n]*+[0-9]{1,3}){11,}+(?![0-9.])(?:[ \t\r\n]*+\])?"
)
_DUMP = re.compile(
    r"^[ \t]*[0-9A-Fa-f]{4,16}[: \t][ \t]*"
    r"((?:[0-9A-Fa-f]{2,4}[ \t]{1,2}){1,16}(?:[0-9A-Fa-f]{2,4}(?![^\s|]))?)[^\r\n]*$",
    re.MULTILINE,
)
_NO_DIGIT = re.compile(r"[^0-9A-Fa-f]|0x")
_NO_SIXBIT = re.compile(r"[^A-Za-z0-9+/]")
_STRANGE = re.compile(r"[^\t\r\n -~\xa0-\ud7ff\ue000-\U0010ffff]")
_ASCII = re.compile(rb"[\t\r\n -~]{12,}")
_WIDE = re.compile(rb"(?:[\t\r\n -~]\0){8,}|(?:\0[\t\r\n -~]){8,}")
_STRETCHES: Final = Look(rb"[\t\r\n -~]{12}", rb"(?:[\t\r\n -~]\x00){8}", rb"(?:\x00[\t\r\n -~]){8}")
"""Whether either is there, sooner told: in most runs neither is."""

_COMPRESSED: Final = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_URLSAFE: Final = str.maketrans("-_", "+/")
_SHORT: Final = 48
"""A run this short is one whole text or a name that looks like base64; only a longer one is searched."""

_ALIGNMENTS: Final = range(4)


class Reader:
    """Makes text of the bytes in one text and its views; what a run says is looked for once.

    `MAX_INFLATED` is the one allowance for all that it inflates.
    """

    def __init__(self) -> None:
        self._left = MAX_INFLATED
        self._known: dict[tuple[str, str], str | None] = {}

    def base64(self, run: str) -> str | None:
        """Return the text in a base64 or base64url run, wherever it begins; None if there is none."""
        key = ("base64", run)
        if key not in self._known:
            self._known[key] = self._base64(run)
        return self._known[key]

    def hex(self, run: str) -> str | None:
        """Return the text in hex digits, whatever stands between them; None if there is none."""
        key = ("hex", run)
        if key not in self._known:
            self._known[key] = self._text(_unhex(run))
        return self._known[key]

    def numbers(self, run: str) -> str | None:
        """Return the text in a list of byte values; None if there is none."""
        values = [int(number) for number in run.strip("[] \t\r\n").split(",")]
        return self._text(bytes(values)) if max(values) < 256 else None

    def _base64(self, run: str) -> str | None:
        run = run.rstrip("=").translate(_URLSAFE)
        if len(run) < _SHORT:
            return _whole(a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4)))
        if "\n" in run:
            run = _NO_SIXBIT.sub("", run)
        for skip in _ALIGNMENTS if _LEGIBLE(run.encode()) else (0,):
            if len(run) % 4 == (skip + 1) % 4:
                data = a2b_base64(run[skip:-1])  # one character more holds no byte
            else:
                data = a2b_base64(run[skip:] + "=" * ((skip - len(run)) % 4))
            found = self._text(data, whole=not skip)
            if found is not None:
                return found
        return None

    def _text(self, data: bytes, *, whole: bool = True) -> str | None:
        """Return what `data` says: all of it, inflated, or the readable stretches of it; None for noise."""
        if data.startswith(_COMPRESSED):
            data = self._inflated(data) or data
        if whole and (plain := _whole(data)) is not None:
            return plain
        if not _STRETCHES(data):
            return None
        if b"\0" in data and (wide := _WIDE.findall(data)):
            return b"\n".join(wide).replace(b"\0", b"").decode()
        return b"\n".join(_ASCII.findall(data)).decode()

    def _inflated(self, data: bytes) -> bytes | None:
        if self._left <= 0:
            return None
        try:
            out = zlib.decompressobj(wbits=47).decompress(data, self._left)
        except zlib.error:
            return None
        self._left -= len(out)
        return out


def base64_text(text: str, reader: Reader) -> tuple[str, Trail]:
    """Replace every base64 or base64url run, over lines too, by the text that is in it."""
    return spliced(text, _runs(text, _BEGINS, 0, _BASE64, reader.base64))


def hex_text(text: str, reader: Reader) -> tuple[str, Trail]:
    """Replace every run of hex digits, apart or together, by the text that is in it."""
    return spliced(text, _runs(text, _HEX_BEGINS, len("0x"), _HEX, reader.hex))


def _runs(
    text: str, begins: Any, before: int, pattern: re.Pattern[str], decode: Callable[[str], str | None]
) -> Iterator[tuple[int, int, Part | None]]:
    """Yield the runs of `pattern`, of which none begins more characters `before` what `begins` finds."""
    data = text.encode("ascii", "replace")  # a byte for each character: places are the same in both
    end = 0
    while (found := begins.search(data, end - (data[end - 1 : end] in (b"=", b"-")))) is not None:
        run = pattern.search(text, max(end, found.start() - before))
        if run is None:
            return
        end = run.end()
        yield run.start(), end, _part(decode(run.group()))


def listed_bytes(text: str, reader: Reader) -> tuple[str, Trail]:
    """Replace every list of byte values by the text that is in it."""
    return replaced(text, _BYTES, lambda match: _part(reader.numbers(match.group())))


def dumped(text: str, reader: Reader) -> tuple[str, Trail]:
    """Replace the lines of a hex dump (`xxd`, `hexdump -C`, `od -tx1`) by the text that is in them."""
    return spliced(text, _blocks(text, reader))


def _blocks(text: str, reader: Reader) -> Iterator[tuple[int, int, Part | None]]:
    start = end = -1
    digits: list[str] = []
    for match in _DUMP.finditer(text):
        if end < 0 or match.start() > end + 2:
            yield start, end, _part(reader.hex(" ".join(digits)))
            start, digits = match.start(), []
        end = match.end()
        digits.append(match.group(1))
    yield start, end, _part(reader.hex(" ".join(digits)))


def _whole(data: bytes) -> str | None:
    """Return `data` as text, None where it is not UTF-8 that can be read."""
    try:
        plain = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return plain if len(_STRANGE.findall(plain)) * 20 <= len(plain) else None


def _part(found: str | None) -> Part | None:
    return (found, 0) if found else None


def _unhex(run: str) -> bytes:
    digits = _NO_DIGIT.sub("", run)
    return bytes.fromhex(digits[: len(digits) & ~1])
