"""The shape of a value: is it drawn, typed to fill a place, a word, a name of something, a cipher?

Each check is linear in the value's length.
"""

from __future__ import annotations

import re
from string import ascii_letters, ascii_lowercase, digits
from typing import Final

from geode_traj.contract.gate_filter import Look

_PLACEHOLDER: Final = Look(
    rb"(?i)\$\{|\{\{|\$\(|%\(|<[^<>]*>|\.\.\.|(?-i:\xe2\x80\xa6)|\*{3}|x{5}|^x{4}|x{4}$|^\$"
    rb"|^%[\w\x80-\xff]+%$|^\{[\w\x80-\xff]*\}$"
    rb"|example|placeholder|redacted|changeme|change[-_]me|replace[-_]|dummy|sample|insert|foobar|goes[-_]here"
    rb"|\(\?|\[(?:0-9|a-z|\^)|\\[dswx]|^\[[\w\x80-\xff -]*\]$"
    rb"|\b(?:your|my|the|some)(?:[-_ ]|$)|^(?:your|my)(?-i:[A-Z])"
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
_STAND_IN = re.compile(
    r"[.:!](?:short|secret|signature|token|payload|password|passwd|key|value|here|rest|fake|dummy|invalid)$",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"([a-z]{4,12}?)\1{3}")
_COUNT: Final = 8
"""So many letters or digits in order are no chance."""


def _in_order(row: str, between: str) -> str:
    """Return the pattern of these characters one after another, each as often as it likes, others between."""
    return f"{between}*".join(f"{one}(?:{between}*{one})*" for one in row)


_FILLED: Final = Look(
    "|".join(
        (
            *(f"{one}{{6}}" for one in ascii_letters + digits),
            "EXAMPLE|(?i:(?:^|[_-])your|your[_-]|placeholder|x{5}|redacted)",
            # `Aa1Bb2Cc3`, too
            *(
                f"(?i:{_in_order(ascii_lowercase[i : i + _COUNT], '[^a-z]')})"
                for i in range(len(ascii_lowercase) - _COUNT + 1)
            ),
            *((digits + digits)[i : i + _COUNT] for i in range(10)),
            *("[^0-9]*".join((digits + digits)[i : i + 10]) for i in range(10)),
        )
    ).encode()
)
_LOOKED_AT: Final = 512
_SCRAMBLED: Final = 12
_LONG: Final = 24
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_HEX = re.compile(r"[0-9a-fA-F-]+")


def placeholder(value: str) -> bool:
    """Tell whether `value` only stands for a secret: `<your-key>`, `${TOKEN}`, `xxxx`, nothing."""
    if not value or _NOTHING.issuperset(value) or (len(value) > 2 and not value.strip(value[0])):
        return True
    return bool(_PLACEHOLDER(value.encode("utf-8", "surrogatepass")))


def filled(value: str) -> bool:
    """Tell whether `value` was typed to fill a place.

    One character or word over and over, `abcdefg`, `1234567`, or a word for its secret part (`id:secret`).
    """
    if _STAND_IN.search(value, max(0, len(value) - _SCRAMBLED)) is not None:
        return True
    value = value[:_LOOKED_AT]
    return bool(_FILLED(value.encode("utf-8", "surrogatepass"))) or _AGAIN.search(value) is not None


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
