"""The shape of a value: is it drawn, typed to fill a place, a word, a name of something, a cipher?

Each check is linear in the value's length.
"""

from __future__ import annotations

import re
from string import ascii_lowercase, digits
from typing import Final

_PLACEHOLDER = re.compile(
    r"\$\{|\{\{|\$\(|%\(|<[^<>]*>|\.\.\.|…|\*{3}|[xX]{5}|^[xX]{4}|[xX]{4}$|^\$|^%\w+%$|^\{\w*\}$"
    r"|example|placeholder|redacted|changeme|change[-_]me|replace[-_]|dummy|sample|insert|foobar|goes[-_]here"
    r"|\(\?|\[(?:0-9|a-z|\^)|\\[dswx]|^\[[\w -]*\]$|^(.)\1{2,}$"
    r"|\b(?:your|my|the|some)(?:[-_ ]|$)|^(?:your|my)(?-i:[A-Z])",
    re.IGNORECASE,
)
_NOTHING: Final = frozenset("xX*.-_•●#0?=/ ")
_WORDS: Final = frozenset(
    "null none nil true false undefined empty string str bytes int bool any object optional required hidden "
    "password passwd pass passw0rd pwd secret token apikey api_key key value text default disabled enabled "
    "unset missing invalid bearer basic oauth oauth2 jwt session refresh access username user email login "
    "test testing foo bar baz".split()
)
_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WORDY = re.compile(r"[A-Za-z]+(?:[-_.:/][A-Za-z]+)*[-_.]?v?[0-9]{0,2}")
_LABEL = re.compile(r"(?:[A-Za-z]+[0-9]{0,2}|v?[0-9]{1,4})(?:[-_.:/](?:[A-Za-z]+[0-9]{0,2}|v?[0-9]{1,4}))*")
_ALGORITHM = re.compile(
    r"(?>padding|camellia|blowfish|twofish|argon|scrypt|bcrypt|pbkdf|ecdhe?|ecdsa|x?chacha|poly|x?salsa|hmac"
    r"|pbes?|pkcs|oaep|wrap|with|shake|aria|x?aes|3?des|ede|rsa|dsa|sha|mgf|gcm|cbc|ctr|ecb|cfb|ofb|ccm|xts"
    r"|siv|and|base|utf|md|sm|rc|hs|rs|es|ps|ed|kw|no|a|x|[-_/+.]|[0-9]{1,4})++"
)
_SEALED = re.compile(r"\{cipher\}|Salted__|ENC[(\[]|vault:v[0-9]+:|U2FsdGVkX1|\$ANSIBLE_VAULT")
_FILLED = re.compile(r"([A-Za-z0-9])\1{5}|EXAMPLE|(?i:(?:^|[_-])your|your[_-]|placeholder|x{5}|redacted)")
_STAND_IN = re.compile(
    r"[.:!](?:short|secret|signature|token|payload|password|passwd|key|value|here|rest|fake|dummy|invalid)$",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"([a-z]{4,12}?)\1{3}")
_REPEAT = re.compile(r"(.)\1+")
_NOT_LETTER = re.compile(r"[^a-z]+")
_COUNT: Final = 8
"""So many letters or digits in order are no chance."""

_COUNTED = re.compile(
    "|".join(
        row[i : i + _COUNT]
        for row in (ascii_lowercase, digits + digits[: _COUNT - 1])
        for i in range(len(row) - _COUNT + 1)
    )
)
_COUNTED_TEN = re.compile("|".join(digits[i:] + digits[:i] for i in range(10)))
_NOT_DIGIT = re.compile(r"[^0-9]+")
_LOOKED_AT: Final = 512
_SCRAMBLED: Final = 12
_LONG: Final = 24
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_HEX = re.compile(r"[0-9a-fA-F-]+")


def placeholder(value: str) -> bool:
    """Tell whether `value` only stands for a secret: `<your-key>`, `${TOKEN}`, `xxxx`, nothing."""
    return not value or _NOTHING.issuperset(value) or _PLACEHOLDER.search(value) is not None


def filled(value: str) -> bool:
    """Tell whether `value` was typed to fill a place.

    One character or word over and over, `abcdefg`, `1234567`, or a word for its secret part (`id:secret`).
    """
    if _STAND_IN.search(value, max(0, len(value) - _SCRAMBLED)) is not None:
        return True
    value = value[:_LOOKED_AT]
    if _FILLED.search(value) is not None or _AGAIN.search(value) is not None:
        return True
    lower = value.lower()
    letters = _REPEAT.sub(r"\1", _NOT_LETTER.sub("", lower))  # `Aa1Bb2Cc3`, too
    if any(_COUNTED.search(part) is not None for part in (lower, letters)):
        return True
    return _COUNTED_TEN.search(_NOT_DIGIT.sub("", lower)) is not None


def nothing(value: str) -> bool:
    """Tell whether `value` is no secret whatever it goes by: a placeholder, a word, a cipher, ciphertext."""
    return (
        placeholder(value)
        or value.lower() in _WORDS
        or _SEALED.match(value) is not None
        or (len(value) < 64 and not value.isdecimal() and _ALGORITHM.fullmatch(value.lower()) is not None)
    )


def scrambled(value: str) -> bool:
    """Tell whether letters change case as in drawn passwords, not as in `camelCaseNames`."""
    if len(value) < _SCRAMBLED or value.islower() or value.isupper() or digit(value):
        return False
    return 0 < _evenly(value) < (4 if len(value) >= _LONG else 3)


def _evenly(value: str) -> float:
    """Return the mean length of the runs of letters of a case, and of digits, in `value`."""
    chunks = _CHUNK.findall(value)
    return sum(map(len, chunks)) / len(chunks) if chunks else 0.0


def random(value: str) -> bool:
    """Tell whether letters and digits alternate as they do in keys, not as in `sha256Token` or `node18`."""
    if not _DIGIT.search(value) or not _LETTER.search(value):
        return scrambled(value)
    if len(value) >= 16 and _HEX.fullmatch(value):
        return True
    return 0 < _evenly(value) < 3


def digit(value: str) -> bool:
    """Tell whether `value` holds a digit."""
    return _DIGIT.search(value) is not None


def letter(value: str) -> bool:
    """Tell whether `value` holds a letter of any script."""
    return _LETTER.search(value) is not None


def word(value: str) -> bool:
    """Tell whether `value` is one of the words that stand for a value, as `null` and `password` do."""
    return value.lower() in _WORDS


def wordy(value: str) -> bool:
    """Tell whether `value` is made of words, with two digits after them at most: `created_at`, `node18`."""
    return _WORDY.fullmatch(value) is not None


def label(value: str) -> bool:
    """Tell whether `value` names something: words, versions and short numbers, `tls-2026-prod`."""
    return _LABEL.fullmatch(value) is not None
