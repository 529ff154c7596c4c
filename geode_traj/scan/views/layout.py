"""Layout: what editors, terminals, logs and diffs put into a text, and strings that code puts together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from geode_traj.contract.gate_filter import Look
from geode_traj.scan.views.trail import Part, Trail, replaced, spliced

_INSIDE: Final = r"[A-Za-z0-9_./+=-]"
# `re` skips quickly to what a pattern begins with, if that is one character: these begin with the rare one.
_LINE: Final = "\\n(?:" + "|".join(rf"(?<={_INSIDE}{end}\n)" for end in ("", r"\r", r"\\", r"\\\r")) + ")"
"""The end of a line, after what may be a part of a token, with or without `\\`."""

_BREAK = re.compile(rf"{_LINE}[ \t]*+(?={_INSIDE})")
_CONCATENATED = re.compile(
    r"""(["'`])(?:[ \t]*(?:(?:\\?\r?\n[ \t]*|[+.&~]|\.\.|\|\||<<)[ \t\r\n]*)++[bBrRuUfF]?\1"""
    r"""|(?<=')"(?=\S)|(?<=")'(?=\S))"""
)
_TIME: Final = (
    r"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]?"
)
_PREFIXES: Final = (
    rf"(?:{_TIME}[ \t]+(?:(?:stdout|stderr) [FP] |[\[(]?[A-Za-z]{{4,8}}[\])]?:?[ \t]+)?"
    r"(?:\[?[\w./-]{1,64}(?:\[[0-9]{1,7}\]|\])?: )?"
    r"|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [\w.-]{1,64} [\w./-]{1,64}(?:\[[0-9]{1,7}\])?: "
    r"|\[[A-Za-z]{4,8}\][ \t]"
    r"|[\w.-]{1,40}[ \t]+(?:\||│) ?"
    r"|[\w./-]{1,120}[:-][0-9]{1,7}[:-]"
    r"|[ \t]{0,8}[0-9]{1,7}(?:→|[ \t]?(?:[|:]|│)[ \t]?|\t)"
    r"|[+>-] ?|[ \t]{0,8}(?:[|>#*;]|│|┃|▏|▕|//|--(?=[ \t]))[ \t]?"
    r")+"
)
_PREFIXED = re.compile(rf"{_LINE}{_PREFIXES}[ \t]*+(?={_INSIDE})")


def _torn(prefixes: str) -> Look:
    """Return what is in the bytes of every text of which a token goes on in the next line, behind `prefixes`.

    What goes on there is believed if it has a letter and a digit (`View.torn`).
    """
    letter, digit, any_ = rb"[A-Za-z\x80-\xff]", rb"[0-9\x80-\xff]", rb"[!-\xff]*"
    bytes_of = re.sub(r"\{1,[0-9]+\}", "+", prefixes.replace(r"\w", r"\w\x80-\xff").replace(r"(?=[ \t])", ""))
    rest = any_ + letter + any_ + digit + b"|" + any_ + digit + any_ + letter
    return Look(rb"[A-Za-z0-9_./+=-]\\?\r?\n" + bytes_of.encode() + rb"[ \t]*(?:" + rest + b")")


JOINED_TORN: Final = _torn("")
UNPREFIXED_TORN: Final = _torn(_PREFIXES)


def joined(text: str) -> tuple[str, Trail]:
    """Take out line breaks inside runs of token characters."""
    return spliced(text, _breaks(text, _BREAK))


def concatenated(text: str) -> tuple[str, Trail]:
    """Take out what stands between two string literals that code puts together."""
    return replaced(text, _CONCATENATED, _nothing)


def unprefixed(text: str) -> tuple[str, Trail]:
    """Take out line breaks with what a diff, a listing, a search, a quote or a log puts before each line."""
    return spliced(text, _breaks(text, _PREFIXED))


def joined_text(text: str) -> str:
    """Return the text of `joined`, without the way back."""
    return _without_breaks(text, _BREAK)


def unprefixed_text(text: str) -> str:
    """Return the text of `unprefixed`, without the way back."""
    return _without_breaks(text, _PREFIXED)


def _without_breaks(text: str, pattern: re.Pattern[str]) -> str:
    if "\r\n" in text or "\\\n" in text:
        return spliced(text, _breaks(text, pattern))[0]
    return pattern.sub("", text)


def _breaks(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, Part]]:
    for match in pattern.finditer(text):
        start, end = match.span()
        start -= text[start - 1] == "\r"
        start -= text[start - 1] == "\\"
        yield start, end, ("", 0)


def _nothing(match: re.Match[str]) -> Part:
    del match
    return "", 0
