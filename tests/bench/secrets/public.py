"""Public code and prose as agents read it: sources of installed packages, in tool results of a transcript."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from tests.bench.secrets.corpus import Corpus, Writer

_ENDINGS: Final = frozenset(
    ".py .pyi .md .rst .txt .json .js .css .html .toml .h .c .pyx .sh .xml .yaml".split()
)
_LONGEST: Final = 100_000
_OWN: Final = "geode-traj"


def files() -> Iterator[Path]:
    """Yield the text files of all installed packages but this one, in a stable order."""
    for found in sorted(distributions(), key=lambda found: found.metadata["Name"].lower()):
        if found.metadata["Name"] != _OWN:
            for name in sorted(found.files or (), key=str):
                if name.suffix in _ENDINGS and ".dist-info" not in str(name):
                    yield Path(str(found.locate_file(name)))


def transcript(size: int, seed: int = 3) -> Corpus:
    """Return about `size` bytes of such files, drawn evenly from all of them."""
    writer = Writer(random.Random(seed))
    every = list(files())
    writer.rng.shuffle(every)
    written = 0
    for path in every:
        if written >= size:
            break
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if 200 < len(text) < _LONGEST:
            writer.leaf(text)
            written += len(writer.corpus.lines[-1])
    return writer.corpus
