"""Random texts of a given shape: `hf_<a34>` is a prefix and 34 letters and digits, drawn anew each time."""

from __future__ import annotations

import base64
import random
import re
import string
import urllib.parse
import zlib
from collections.abc import Callable
from typing import Final

_ALNUM: Final = string.ascii_letters + string.digits
_BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ALPHABETS: Final = {
    "a": _ALNUM,
    "A": string.ascii_letters,
    "u": _ALNUM + "-_",
    "w": _ALNUM + "_",
    "s": _ALNUM + "+/",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "l": string.ascii_lowercase + string.digits,
    "L": string.ascii_uppercase + string.digits,
    "b": string.ascii_uppercase + "234567",
    "z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "x": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "p": _ALNUM + "!#%*+-_.",
}
_PIECE: Final = re.compile(r"<([a-zA-Z]+?)([0-9]*)>")


def draw(shape: str, rng: random.Random) -> str:
    """Return a text of `shape`; `<uuid>`, `<crc>`, `<json40>`, `<pass>`, `<words12>` are drawn as a whole."""

    def piece(match: re.Match[str]) -> str:
        name, size = match[1], int(match[2] or 1)
        if name in _ALPHABETS:
            return "".join(rng.choices(_ALPHABETS[name], k=size))
        return _SPECIAL[name](rng, size)

    return _PIECE.sub(piece, shape)


def bytes_of(rng: random.Random, size: int) -> bytes:
    """Return random bytes."""
    return rng.getrandbits(8 * size).to_bytes(size, "big")


def uuid(rng: random.Random, _: int = 0) -> str:
    """Return a random UUID of version 4."""
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{rng.choice('89ab')}{text[17:20]}-{text[20:]}"


def _crc(rng: random.Random, size: int) -> str:
    """Thirty characters with the six check digits that GitHub and npm append."""
    body = "".join(rng.choices(_ALNUM, k=size if size > 1 else 30))
    rest, digits = zlib.crc32(body.encode()), ""
    while rest:
        rest, digit = divmod(rest, 62)
        digits = _BASE62[digit] + digits
    return body + digits.rjust(6, "0")


def _json(rng: random.Random, size: int) -> str:
    """Return base64url of a JSON object with `size` random characters."""
    body = "".join(rng.choices(_ALNUM, k=size))
    return (
        base64.urlsafe_b64encode(f'{{"iat":17{rng.randrange(10**8):08},"k":"{body}"}}'.encode())
        .decode()
        .rstrip("=")
    )


def _base64(rng: random.Random, size: int) -> str:
    return base64.b64encode(bytes_of(rng, size)).decode()


_SYLLABLES: Final = "ba ke lo mi nu ra so te vi wu zan tor pel gri dal mop fen kur sil hex".split()


def _password(rng: random.Random, _: int) -> str:
    """Return a password as people and generators make them: words with digits and a sign, or random."""
    word = "".join(rng.choices(_SYLLABLES, k=rng.randrange(3, 5)))
    return rng.choice(
        (
            word.capitalize() + str(rng.randrange(10, 9999)) + rng.choice("!#*?"),
            word[:4] + rng.choice("_-.") + word[4:] + f"{rng.randrange(100):02}" + rng.choice("!xQZ"),
            draw("<a16>", rng),
            draw("<p20>", rng),
        )
    )


def _alg(rng: random.Random, _: int) -> str:
    """Return the head of a JSON web token."""
    head = f'{{"alg":"{rng.choice(("HS256", "RS256", "ES256"))}","typ":"JWT"}}'
    return base64.urlsafe_b64encode(head.encode()).decode().rstrip("=")


def _quoted(rng: random.Random, size: int) -> str:
    """Return a password as it stands in an address."""
    return urllib.parse.quote(_password(rng, size), safe="")


def _luhn(rng: random.Random, size: int) -> str:
    """Return the last `size` digits of a card that begins with 4, the check digit included."""
    digits = "".join(rng.choices(string.digits, k=size - 1))
    total = 0
    for place, digit in enumerate(reversed("4" + digits)):
        number = int(digit) * (2 if place % 2 == 0 else 1)
        total += number // 10 + number % 10
    return digits + str(-total % 10)


_SPECIAL: Final[dict[str, Callable[[random.Random, int], str]]] = {
    "uuid": uuid,
    "crc": _crc,
    "json": _json,
    "base": _base64,
    "pass": _password,
    "quoted": _quoted,
    "luhn": _luhn,
    "alg": _alg,
}
