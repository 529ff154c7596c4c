"""Escapes: one character written as several, or characters that nobody sees."""

from __future__ import annotations

import html
import re
from typing import Final
from urllib.parse import unquote_to_bytes

from geode_traj.scan.views.trail import Part, Trail, replaced

# `re` finds a pattern quickest by a literal that all branches begin with, so the first of a run stands apart.
_JSON = re.compile(r'\\u[0-9A-Fa-f]{4}(?:\\u[0-9A-Fa-f]{4})*+|\\["\\/bfnrt](?:\\["\\/bfnrt])*+')
_SHORT: Final = str.maketrans({"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"})
_C_ESCAPES = re.compile(
    r"\\x[0-7][0-9A-Fa-f](?:\\x[0-7][0-9A-Fa-f])*+|\\[01][0-7]{2}(?:\\[01][0-7]{2})*+|\\e(?=\[)"
)
_PERCENT = re.compile(
    r"%[0-7][0-9A-Fa-f](?:%[0-7][0-9A-Fa-f])*+|%[89A-Fa-f][0-9A-Fa-f](?:%[89A-Fa-f][0-9A-Fa-f])*+"
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_QUOTED = re.compile(r"=\r?\n|=[2-7][0-9A-F](?:=[2-7][0-9A-F])*+|=[89A-F][0-9A-F](?:=[89A-F][0-9A-F])*+")
_NO_WIDTH: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
)
_CONTROL: Final = "[0-?]*+[ -/]*+[@-~]?"
_UNSEEN = re.compile(
    f"[\x1b\x9b\0{_NO_WIDTH}](?:(?<=\x9b){_CONTROL}"
    f"|(?<=\x1b)(?:\\[{_CONTROL}|\\][^\x07\x1b\r\n]{{0,2048}}+(?:\x07|\x1b\\\\)?|[@-Z\\\\^_=>78]?)"
    f"|(?<=\0)(?<!\0\0)(?!\0)|(?<=[{_NO_WIDTH}])[{_NO_WIDTH}]*+)"
)
_OVERSTRUCK = re.compile(f".?\x08|{_UNSEEN.pattern}")


def json_escapes(text: str) -> tuple[str, Trail]:
    """Undo the escapes of a JSON string; lone surrogates stay lone."""
    return replaced(text, _JSON, _json_run)


def c_escapes(text: str) -> tuple[str, Trail]:
    """Undo `\\x41`, `\\101` and `\\e`, as shells and programs write them."""
    return replaced(text, _C_ESCAPES, _c_run)


def percent(text: str) -> tuple[str, Trail]:
    """Undo percent-encoding."""
    return replaced(text, _PERCENT, _percent_run)


def entities(text: str) -> tuple[str, Trail]:
    """Undo HTML entities."""
    return replaced(text, _ENTITY, _entity)


def quoted_printable(text: str) -> tuple[str, Trail]:
    """Undo quoted-printable encoding, soft line breaks included."""
    return replaced(text, _QUOTED, _quoted_run)


def unseen(text: str) -> tuple[str, Trail]:
    """Take out what a terminal or a page does not show: its control sequences, zero-width, bidi."""
    return replaced(text, _OVERSTRUCK if "\x08" in text else _UNSEEN, lambda match: ("", 0))


def _json_run(match: re.Match[str]) -> Part:
    run = match.group()
    if run[1] == "u":
        return run.encode().decode("unicode_escape"), 6
    return run[1::2].translate(_SHORT), 2


def _c_run(match: re.Match[str]) -> Part:
    run = match.group()
    if run[1] == "x":
        return _hex(run.replace("\\x", "")), 4
    return ("\x1b", 2) if run[1] == "e" else (run.encode().decode("unicode_escape"), 4)


def _percent_run(match: re.Match[str]) -> Part:
    run = match.group()
    if run[1] in "01234567":
        return _hex(run.replace("%", "")), 3
    return unquote_to_bytes(run).decode("utf-8", "replace"), 0


def _entity(match: re.Match[str]) -> Part | None:
    entity = match.group()
    plain = html.unescape(entity)
    return None if plain == entity else (plain, 0)


def _quoted_run(match: re.Match[str]) -> Part:
    run = match.group()
    if run[1] in "\r\n":
        return "", 0
    data = bytes.fromhex(run.replace("=", ""))
    return (data.decode(), 3) if run[1] in "234567" else (data.decode("utf-8", "replace"), 0)


def _hex(digits: str) -> str:
    return bytes.fromhex(digits).decode()
