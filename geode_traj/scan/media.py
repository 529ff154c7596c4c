"""What images inside a text tell besides the picture: EXIF and XMP, with places, devices and names.

An image is whole or gone: one that carries such data is one finding, and redacting it drops it. With the
extra `media` its picture stays, made anew without that data. Without it the data is still seen, by its marks
in the file.
"""

from __future__ import annotations

import re
import warnings
from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from geode_traj.scan.matching import Span

CLASS: Final = "image_metadata"

_STARTS: Final = ("/9j/", "iVBORw0KGgo", "UklGR", "SUkqA", "TU0AK", "Z2lm", "R0lGOD")
_IMAGE = re.compile(
    rf"(?<![A-Za-z0-9+/])(?:{'|'.join(_STARTS)})[A-Za-z0-9+/]{{120,}}+(?:\r?\n[A-Za-z0-9+/]+)*+={{0,2}}"
)
TRIGGER: Final = rf"(?:{'|'.join(_STARTS)})[A-Za-z0-9+/]{{8}}".encode()
"""What is in the bytes of every text in which `find` finds anything."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]++={0,2}")
_MARKS: Final = (
    b"Exif\0\0",
    b"eXIf",
    b"EXIF",
    b"http://ns.adobe.com/xap/1.0/",
    b"<x:xmpmeta",
    b"II*\0",
    b"MM\0*",
)
_LOOKED_AT: Final = 1 << 20
_MAX_PIXELS: Final = 64_000_000
_PIXELS: Final = 4_000_000
_PIXELS_A_BYTE: Final = 200
"""A picture of more pixels, in all or beyond some for each of its bytes, is dropped: it may be a bomb."""


def find(text: str) -> Iterator[Span]:
    """Yield every base64 image in `text` that carries metadata; each span is the whole image."""
    for match in _IMAGE.finditer(text):
        head = match.group()[: _LOOKED_AT + 3 & ~3]
        data = _decoded(head)
        if data is not None and any(mark in data for mark in _MARKS):
            start, end = match.span()
            yield Span(start, end, CLASS, CLASS, "review", match.group(), blob=True)


def cleaned(text: str) -> str | None:
    """Return a base64 image without its metadata; None where it cannot be cleaned and has to go.

    Needs the extra `media`; the same version of it makes the same bytes. The pixels stay as they are seen:
    the turn that EXIF asks for is made.
    """
    data = _decoded(text) if _IMAGE.fullmatch(text) else None
    if data is None:
        return None
    most = min(_MAX_PIXELS, _PIXELS + _PIXELS_A_BYTE * len(data))
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return None
    out = BytesIO()
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(BytesIO(data)) as image:
            if image.width * image.height > most or getattr(image, "n_frames", 1) != 1:
                return None
            form = image.format or ""
            seen = ImageOps.exif_transpose(image)
            bare = Image.new(seen.mode, seen.size)
            if seen.mode == "P":
                bare.putpalette(seen.getpalette() or [])
            bare.paste(seen)
            bare.save(out, form, **({"quality": 90} if form in ("JPEG", "WEBP") else {}))
    except Exception:  # Pillow's readers raise whatever a broken file makes them raise
        return None
    new = b2a_base64(out.getvalue(), newline=False).decode()
    return new if is_bare(new) else None


def is_bare(text: str) -> bool:
    """Tell whether a text is a base64 image without metadata, as `cleaned` leaves one."""
    data = _decoded(text) if text.startswith(_STARTS) and _BASE64.fullmatch(text) else None
    return data is not None and not any(mark in data for mark in _MARKS)


def _decoded(text: str) -> bytes | None:
    try:
        return a2b_base64(text)
    except Error:
        return None
