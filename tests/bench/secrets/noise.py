"""What transcripts are full of and what is no secret: the clean ground that secrets are planted in."""

from __future__ import annotations

import base64
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.bench import words
from tests.bench.secrets.shapes import bytes_of, draw

_FOLDER: Final = Path(__file__).parent
_TEMPLATES: Final = tuple(
    text.replace("␛", "\x1b") for text in (_FOLDER / "clean.txt").read_text("utf-8").split("%%\n")
)
"""Shapes of clean texts; ␛ is an escape character."""


class Noise:
    """Draws clean text; the same for the same random source."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._makers: tuple[Callable[[], str], ...] = (
            self._prose,
            self._prose,
            self._code,
            self._output,
            self._template,
        )

    def text(self, size: int) -> str:
        """Return about `size` characters of a mixture."""
        parts, length = [], 0
        while length < size:
            part = self._rng.choice(self._makers)()
            parts.append(part)
            length += len(part)
        return "".join(parts)

    def image(self) -> str:
        """Return a data address of a small picture."""
        rows = b"".join(b"\0" + bytes_of(self._rng, 48) for _ in range(self._rng.randrange(20, 90)))
        head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x20\x08\x02\0\0\0"
        return "data:image/png;base64," + base64.b64encode(head + zlib.compress(rows)).decode()

    def _prose(self) -> str:
        rng = self._rng
        some = rng.choices(words.WORDS, k=rng.randrange(8, 30))
        if rng.random() < 0.4:
            some[3:3] = rng.choices(words.WIDE, k=rng.randrange(1, 6))
        return " ".join(some).capitalize() + rng.choice((". ", ".\n", ":\n"))

    def _code(self) -> str:
        return self._filled(self._rng.choice(words.CODE))

    def _output(self) -> str:
        return self._filled(self._rng.choice(words.OUTPUT))

    def _template(self) -> str:
        return draw(self._rng.choice(_TEMPLATES), self._rng)

    def _filled(self, template: str) -> str:
        choice, number = self._rng.choice, self._rng.randrange
        name = choice(words.NAMES)
        return template.format(
            name=name, camel=name.title().replace("_", ""), word=choice(words.WORDS[-60:]),
            wide=choice(words.WIDE), file=choice(words.FILES), n=number(9000), m=number(9000),
            d=number(1, 29), q=number(10), dots="." * number(5, 60),
        )  # fmt: skip
