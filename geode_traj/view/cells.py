"""Rows of a screen: cells of text with a style, wrapped to a width; in them is nothing a terminal obeys."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, Literal, NamedTuple

from geode_traj.codec.text import neutralise

Style = Literal["", "mark", "mask", "title", "dim", "error"]

LINE_END: Final = "\n"
_TAB: Final = "    "
_MAX_MARKS: Final = 4
"""Marks that may stand above and below one letter before they would reach into other lines."""


class Span(NamedTuple):
    """A piece of a row in one style."""

    text: str
    style: Style = ""


Row = tuple[Span, ...]


class Cell(NamedTuple):
    """What one character of a text looks like: its columns, its style, and its place in the text."""

    text: str
    columns: int
    style: Style
    at: int


class Line(NamedTuple):
    """One row of a wrapped text: what is shown, and where in the text it begins."""

    row: Row
    at: int


def cell(char: str, style: Style, at: int) -> Cell:
    """Return the cell of one character of untrusted text; a line end stays one."""
    if " " <= char <= "~" or char == LINE_END:
        return Cell(char, 1, style, at)
    text = _TAB if char == "\t" else visible(char)
    return Cell(text, columns(text), style, at)


def visible(text: str) -> str:
    """Return text without what hides or moves anything, line ends included."""
    safe = neutralise(text)
    if safe.isascii():
        return safe
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in ("Cf", "Cn", "Co") else char for char in safe
    )


def columns(text: str) -> int:
    """Return how many columns of a terminal a visible text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str, style: Style = "", at: int = 0) -> Iterator[Cell]:
    """Yield the cells of our own words, all standing for the same place `at`."""
    return (cell(char, style, at) for char in text)


def wrap(stream: Iterable[Cell], width: int) -> Iterator[Line]:
    """Yield the rows of a text, broken at line ends, and between words where a row is full."""
    line: list[Cell] = []
    used = marks = 0
    for given in stream:
        if given.text == LINE_END:
            yield _line(line or [given])
            line, used = [], 0
            continue
        marks = 0 if given.columns else marks + 1
        one = given if marks <= _MAX_MARKS else _escaped(given)
        if line and used + one.columns > width:
            end = _break(line)
            yield _line(line[:end])
            line = line[end:]
            used = sum(cell.columns for cell in line)
        line.append(one)
        used += one.columns
    if line:
        yield _line(line)


def _escaped(one: Cell) -> Cell:
    text = f"\\u{ord(one.text):04x}"
    return one._replace(text=text, columns=len(text))


def _break(line: list[Cell]) -> int:
    """Return where a full row ends: after its last space, if that leaves most of it."""
    for end in range(len(line), len(line) * 3 // 4, -1):
        if line[end - 1].text == " ":
            return end
    return len(line)


def _line(line: list[Cell]) -> Line:
    return Line(row(cell for cell in line if cell.text != LINE_END), line[0].at)


def row(stream: Iterable[Cell]) -> Row:
    """Return cells as a row."""
    return tuple(
        Span("".join(cell.text for cell in group), style)
        for style, group in groupby(stream, key=lambda cell: cell.style)
    )


def fit(parts: Iterable[Span], width: int) -> Row:
    """Return spans as a row of at most `width` columns, made visible, an ellipsis where it was cut."""
    line: list[Cell] = []
    used = 0
    for text, style in parts:
        for one in cells(visible(text[: width + 1]), style):
            used += one.columns
            line.append(one)
    if used <= width:
        return row(line)
    while line and used > width - 1:
        used -= line.pop().columns
    return row([*line, Cell("…", 1, line[-1].style if line else "", 0)])
