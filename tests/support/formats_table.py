"""The page that lists every transcript format: what it reads, and what its files cannot give.

`python -m tests.support.formats_table` rewrites docs/formats.md from the sources as they are now.
"""

from __future__ import annotations

from pathlib import Path

from geode_traj.sources.base import Source, all_sources

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
_HEAD = """# Formats

Every format is told by content, never by a file's name. What a format cannot give stays unknown: it is
neither zero, nor empty, nor made up. What a file lost by itself is told by its receipt, each cause by name.

| format | reads | cannot give |
|---|---|---|
"""


def written() -> str:
    """Return the page as it should be."""
    return _HEAD + "".join(map(_row, all_sources().values()))


def _row(source: Source) -> str:
    gives_not = "; ".join(source.gives_not)
    if source.no_transcript:
        gives_not = f"never imported: {source.no_transcript}"
    return f"| `{source.name}` | {_cell(source.reads)} | {_cell(gives_not)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(written(), "utf-8")
