"""Untrusted text made safe to look at."""

from __future__ import annotations

import re
from typing import Final

# Control, escape, bidi, zero-width and line-separating characters, and lone surrogates.
_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def neutralise(text: str) -> str:
    r"""Return `text` with hidden and control characters written as `\x1b` or `\u202e`; one line stays one."""
    return _HIDDEN.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}.get(code, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape(text: str) -> str:
    r"""Return `text` with hidden and control characters as JSON escapes, line ends and tabs as they are.

    JSON text keeps its value: inside its strings each escape stands for the character it replaces.
    """
    return _HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    if match[0] in "\n\t":
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def clip(text: str, width: int) -> str:
    """Return neutralised text of at most `width` characters, an ellipsis at its end where it was cut."""
    safe = neutralise(text[: width + 1])
    return safe if len(safe) <= width else safe[: width - 1] + "…"
