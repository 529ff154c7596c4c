"""Lines of 64 KB made to be slow: runs, near misses and nests of what scanners look for."""

from __future__ import annotations

import base64
from typing import Final

SIZE: Final = 65_536

_REPEATED: Final = {
    "letters": "a",
    "digits": "1",
    "spaces": " ",
    "dashes": "-",
    "equals": "a=",
    "at signs": "a@",
    "dotted address": "a.",
    "address parts": "a@a.",
    "quotes": '"',
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "unicode escapes": "\\u0041",
    "torn escapes": "\\u00",
    "percent": "%25",
    "entities": "&#38;",
    "torn entities": "&#x",
    "base64 padding": "QUFB=",
    "hex": "deadbeef",
    "hex pairs": "de ad ",
    "colons": "::1:",
    "paths": "/home/a",
    "backslash paths": "C:\\Users\\a\\",
    "urls": "http://a:b",
    "url passwords": "http://a:b@c/",
    "queries": "?token=&",
    "passwords": "password=",
    "password words": "password is ",
    "bearers": "Bearer ",
    "cookies": "Cookie: a=b; ",
    "pem heads": "-----BEGIN RSA PRIVATE" + " KEY-----",
    "pem ends": "-----END RSA PRIVATE" + " KEY-----",
    "jwt heads": "eyJhbGciOi",
    "jwt dots": "eyJ.",
    "sk": "sk-",
    "github": "gh" + "p_",
    "phones": "+1 202 555 ",
    "numbers": "4111 ",
    "version numbers": "1.2.3.4.",
    "ibans": "DE89 3704 ",
    "ansi": "\x1b[",
    "ansi colours": "\x1b[31mx\x1b[0m",
    "zero width": "\u200ba",
    "korean": "비밀번호",
    "korean labels": "비밀번호: ",
    "surrogates": "\ud800",
    "wide": "😀",
    "combining": "e\u0301",
    "dotless": "\u0130\u212a",
    "newlines": "a\n",
    "soft wraps": "aB3\n",
    "concatenation": '"a" + ',
    "concatenated": '"aB3x" + "',
    "json nests": '{"a":',
    "json strings": '"{\\"a\\":',
    "lists": "[",
    "byte lists": "[103,104,",
    "commands": "curl -u a:",
    "options": "--password ",
    "words": "abandon ",
    "diff": "+a\n",
    "log prefixes": "2026-04-11T09:14:02Z a\n",
    "placeholders": "[REDACTED:a:1]",
    "placeholder heads": "[REDACTED:",
    "semicolons": "a;b=c;",
    "quoted-printable": "=41",
    "nul": "a\0",
    "equals signs": "=",
    "dots": ".",
    "underscores": "_",
}


def lines() -> dict[str, str]:
    """Return the texts by name."""
    made = {
        name: (part * (SIZE // len(part.encode("utf-8", "surrogatepass")) + 1))[:SIZE]
        for name, part in _REPEATED.items()
    }
    made["base64 of base64"] = _nested(6)
    made["base64 of zeros"] = base64.b64encode(b"\0" * (SIZE * 3 // 4)).decode()
    made["base64 of text"] = base64.b64encode(b"password = " * (SIZE * 3 // 44)).decode()
    made["one at sign"] = "a" * (SIZE // 2) + "@" + "a" * (SIZE // 2)
    made["address, no end"] = "a@" + "a." * (SIZE // 2)
    made["pem, no end"] = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + "A" * SIZE
    made["assignment, no end"] = 'password = "' + "a" * SIZE
    return made


def _nested(depth: int) -> str:
    text = b"x" * (SIZE // 6)
    for _ in range(depth):
        text = base64.b64encode(text)
    return text.decode()[:SIZE]
