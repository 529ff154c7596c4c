"""Encodings that secrets come in: from a text with a secret to the text that stands in a log."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import quopri
import random
import textwrap
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from typing import Final, NamedTuple


class Carrier(NamedTuple):
    """A text with a secret between `start` and `end`."""

    before: str
    secret: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


Form = Callable[[Carrier, random.Random], list[Carrier]]
"""Gives texts whose `secret` is what the encoding made of the secret; several for the pieces of a stream."""

_BLOB_PLACES: Final = (
    ("payload: ", "\n"),
    ('{"body": "', '"}'),
    ("$ cat blob\n", "\n$ "),
    ("<data>", "</data>"),
    ("out=", "; ok"),
    ("", ""),
)


def _blob(encode: Callable[[str], str]) -> Form:
    """Encode the whole text; what it gives is one opaque run."""

    def form(carrier: Carrier, rng: random.Random) -> list[Carrier]:
        before, after = rng.choice(_BLOB_PLACES)
        return [Carrier(before, encode(carrier.text), after)]

    return form


def _inner(encode: Callable[[str], str]) -> Form:
    """Encode the secret alone and leave what stands around it."""
    return lambda carrier, rng: [Carrier(carrier.before, encode(carrier.secret), carrier.after)]


def _whole(encode: Callable[[str], str]) -> Form:
    """Encode everything; the secret's place is what its own encoding is."""
    return lambda carrier, rng: [Carrier(*(encode(part) for part in carrier))]


def _cut(secret: str, rng: random.Random, least: int = 4, most: int = 13) -> list[str]:
    """Return a secret in pieces, none of them long enough to be told by itself."""
    pieces, place = [], 0
    while place < len(secret):
        size = rng.randrange(least, most)
        pieces.append(secret[place : place + size])
        place += size
    return pieces


def _halves(between: str) -> Form:
    def form(carrier: Carrier, rng: random.Random) -> list[Carrier]:
        middle = rng.randrange(len(carrier.secret) // 3, 2 * len(carrier.secret) // 3 + 1)
        secret = carrier.secret[:middle] + between + carrier.secret[middle:]
        return [Carrier(carrier.before, secret, carrier.after)]

    return form


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _wrapped(data: bytes, width: int, indent: str = "") -> str:
    return "\n".join(indent + line for line in textwrap.wrap(_b64(data), width))


def _utf16_units(text: str) -> list[str]:
    data = text.encode("utf-16-be")
    return [f"{data[i]:02x}{data[i + 1]:02x}" for i in range(0, len(data), 2)]


def _json_inner(text: str) -> str:
    return json.dumps(text)[1:-1]


def _nested(levels: int) -> Form:
    def form(carrier: Carrier, rng: random.Random) -> list[Carrier]:
        parts = [
            '{"command": "run", "output": "' + _json_inner(carrier.before),
            _json_inner(carrier.secret),
            _json_inner(carrier.after) + '"}',
        ]
        for _ in range(levels - 1):
            parts = [_json_inner(part) for part in parts]
            parts = ['{"result": "' + parts[0], parts[1], parts[2] + '"}']
        return [Carrier(*parts)]

    return form


def _xxd(text: str, canonical: bool = False) -> str:
    lines = []
    data = text.encode()
    for place in range(0, len(data), 16):
        row = data[place : place + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        if canonical:
            cells = (
                " ".join(f"{byte:02x}" for byte in row[:8])
                + "  "
                + " ".join(f"{byte:02x}" for byte in row[8:])
            )
            lines.append(f"{place:08x}  {cells:<48}  |{shown}|")
        else:
            cells = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
            lines.append(f"{place:08x}: {cells:<39}  {shown}")
    return "\n".join(lines)


def _zip(text: str) -> str:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("env.txt", (2026, 4, 11, 0, 0, 0)), text + "\nLANG=C.UTF-8\n" * 4)
    return _b64(out.getvalue())


def _prefixed(prefix: Callable[[int], str], width: int) -> Form:
    """Break the secret over lines, each with what a tool writes before its lines."""

    def form(carrier: Carrier, rng: random.Random) -> list[Carrier]:
        lines = textwrap.wrap(carrier.secret, width)
        secret = lines[0] + "".join("\n" + prefix(number) + line for number, line in enumerate(lines[1:], 2))
        return [Carrier(prefix(1) + carrier.before, secret, carrier.after)]

    return form


def _concatenated(between: str, quote: str) -> Form:
    def form(carrier: Carrier, rng: random.Random) -> list[Carrier]:
        pieces = _cut(carrier.secret, rng, 8, 20)
        return [Carrier(f"value = {quote}", between.join(pieces), f"{quote}\n")]

    return form


def _stream(carrier: Carrier, rng: random.Random) -> list[Carrier]:
    pieces = _cut(carrier.secret, rng)
    last = len(pieces) - 1
    return [
        Carrier(carrier.before if n == 0 else "", piece, carrier.after if n == last else "")
        for n, piece in enumerate(pieces)
    ]


def _misaligned(carrier: Carrier, rng: random.Random) -> list[Carrier]:
    skipped = "".join(rng.choices("ABCDEFGHIJ", k=rng.randrange(1, 4)))
    return [Carrier("tail of blob: ", skipped + _b64(carrier.text.encode()), "")]


def _image_text(carrier: Carrier, rng: random.Random) -> list[Carrier]:
    return [Carrier("![x](data:text/plain;base64,", _b64(carrier.text.encode()), ")")]


def _as_key(carrier: Carrier, rng: random.Random) -> list[Carrier]:
    return [Carrier("@key:", carrier.secret, "")]


_SPECIAL: Final = str.maketrans({c: f"\\u{ord(c):04x}" for c in "-_.:/=+"})


def _json_units(text: str) -> str:
    return "".join(f"\\u{unit}" for unit in _utf16_units(text))


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _some_percent(text: str) -> str:
    return "".join(_percent(c) if not c.isalnum() or i % 9 == 1 else c for i, c in enumerate(text))


def _html(text: str) -> str:
    return html.escape(text).replace("_", "&#95;").replace("-", "&#45;")


def _printable(text: str) -> str:
    """Return quoted-printable that encodes `_` too, as mailers do; NUL stands for it meanwhile."""
    return quopri.encodestring(text.encode().replace(b"_", b"\0")).decode().replace("=00", "=5F")


def _gzip(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def _indented(carrier: Carrier, rng: random.Random) -> list[Carrier]:
    lines = _wrapped(b"LANG=C.UTF-8\n" + carrier.text.encode() + b"\n", 64, "    ")
    return [Carrier("data: |\n    ", lines[4:], "\n")]


def _dump(canonical: bool) -> Form:
    """Give the rows that hold a byte of the secret; a carrier's other rows stand around them."""

    def form(carrier: Carrier, rng: random.Random) -> list[Carrier]:
        rows = _xxd(carrier.text, canonical).split("\n")
        start = len(carrier.before.encode())
        first, last = start // 16, (start + len(carrier.secret.encode()) - 1) // 16 + 1
        parts = (
            "".join(row + "\n" for row in some) for some in (rows[:first], rows[first:last], rows[last:])
        )
        return [Carrier(*parts)]

    return form


FORMS: Final[dict[str, Form]] = {
    "JSON \\u escapes": _inner(_json_units),
    "JSON \\u escapes, some": _inner(
        lambda text: text[0] + _json_units(text[1]) + text[2:].translate(_SPECIAL)
    ),
    "\\x escapes": _inner(lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode())),
    "octal escapes": _inner(lambda text: "".join(f"\\{byte:03o}" for byte in text.encode())),
    "percent, all": _inner(_percent),
    "percent, some": _inner(_some_percent),
    "percent twice": _inner(lambda text: urllib.parse.quote(_percent(text))),
    "HTML hexadecimal": _inner(lambda text: "".join(f"&#x{ord(c):x};" for c in text)),
    "base64 of secret": _inner(lambda text: _b64(text.encode())),
    "NUL between": _inner(lambda text: "\0".join(text)),
    "soft wrap": _halves("\n"),
    "soft wrap, indented": _halves("\n    "),
    "shell continuation": _halves("\\\n"),
    "quote marks": _prefixed(lambda number: "> ", 24),
    "diff marks": _prefixed(lambda number: "+", 24),
    "line numbers": _prefixed(lambda number: f"{number + 40:>6}\t", 24),
    "log prefixes": _prefixed(lambda number: f"2026-04-11T09:14:{number:02}Z app[7]: ", 24),
    "concatenation": _concatenated('" + "', '"'),
    "concatenation, lines": _concatenated("' +\n    '", "'"),
    "adjacent strings": _concatenated('"\n    "', '"'),
    "ANSI inside": _halves("\x1b[0m\x1b[01;31m"),
    "ANSI around": lambda carrier, rng: [
        Carrier(carrier.before + "\x1b[33m", carrier.secret, "\x1b[0m" + carrier.after)
    ],
    "zero-width inside": _halves("\u200b"),
    "bidi inside": _halves("\u202a\u202c"),
    "soft hyphen inside": _halves("\u00ad"),
    "stream chunks": _stream,
    "object key": _as_key,
}
"""Forms of the secret alone."""

WHOLE: Final[dict[str, Form]] = {
    "JSON in JSON": _nested(1),
    "JSON, three deep": _nested(3),
    "percent, of text": _whole(lambda text: urllib.parse.quote(text, safe="")),
    "HTML of text": _whole(_html),
    "quoted-printable": _whole(_printable),
    "base64": _blob(lambda text: _b64(text.encode())),
    "base64url": _blob(lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")),
    "base64, 76 columns": _blob(lambda text: _wrapped(b"# settings, please keep them\n" + text.encode(), 76)),
    "base64, indented": _indented,
    "base64 of UTF-16": _blob(lambda text: _b64(text.encode("utf-16-le"))),
    "base64 twice": _blob(lambda text: _b64(_b64(text.encode()).encode())),
    "base64 misaligned": _misaligned,
    "base64 data address": _image_text,
    "base64 of gzip": _blob(lambda text: _b64(_gzip(text))),
    "base64 of zlib": _blob(lambda text: _b64(zlib.compress(text.encode()))),
    "base64 of zip": _blob(_zip),
    "hex": _blob(lambda text: text.encode().hex()),
    "hex, spaced": _blob(lambda text: text.encode().hex(" ").upper()),
    "hex of gzip": _blob(lambda text: _gzip(text).hex()),
    "hexdump": _dump(canonical=False),
    "hexdump -C": _dump(canonical=True),
    "list of bytes": _blob(lambda text: json.dumps({"type": "Buffer", "data": list(text.encode())})),
}
"""Forms that encode what stands around the secret too, so that a password keeps the word that tells it."""
