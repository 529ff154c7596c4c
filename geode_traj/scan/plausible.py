"""Is this value a secret, or a placeholder, a piece of code, a word?

Used by the rules that know a secret only by the name before it. Each check is linear in the value's length.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from hashlib import sha256
from typing import Final

_PLACEHOLDER = re.compile(
    r"\$\{|\{\{|\$\(|%\(|<[^<>]*>|\.\.\.|…|\*{3}|[xX]{4}|^\$|^%\w+%$|^\{\w*\}$"
    r"|example|placeholder|redacted|changeme|change[-_]me|replace[-_]|dummy|sample|insert|foobar"
    r"|\b(?:your|my|the|some)(?:[-_ ]|$)|^(?:your|my)[A-Z]",
    re.IGNORECASE,
)
_NOTHING: Final = frozenset("xX*.-_•●#0?=/ ")
_WORDS: Final = frozenset(
    "null none nil true false undefined empty string str bytes int bool any object optional required hidden "
    "password passwd secret token apikey api_key key value text default disabled enabled unset missing "
    "invalid "
    "bearer basic oauth oauth2 jwt session refresh access username user email login test testing".split()
)
_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WORDY = re.compile(r"[A-Za-z]+(?:[-_.:/][A-Za-z]+)*[-_.]?v?[0-9]{0,2}")
_CODE = re.compile(
    r"[(){}\[\]]|^(?:self|this|os|process|config|settings|env|args|options|params)\.|^[./~]|://|::|->"
)
_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_FILLED = re.compile(r"([A-Za-z0-9])\1{5}|EXAMPLE|(?i:your[_-]?|placeholder|x{4}|redacted)")
_TAIL: Final = 20
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_SIGN = re.compile(r"[!@#$%^&*+=~?]")
_BLANK = re.compile(r"\s")
_HEX = re.compile(r"[0-9a-fA-F-]+")
_TEMPLATE = re.compile(r"\{\w+\}")
_REFERENCE = re.compile(r"^[./~]|://|^[A-Za-z_.]+\(")
_PASSWORD_NAME = re.compile(r"pass|pwd|pw$|비밀번호|암호", re.IGNORECASE)
_ADDRESSED = re.compile(r"[a-z]|[^a-z]?(?://|@)", re.IGNORECASE)
_SEPARATOR = re.compile(r"[:=]")


def placeholder(value: str) -> bool:
    """Tell whether `value` only stands for a secret: `<your-key>`, `${TOKEN}`, `xxxx`, nothing."""
    return not value or _NOTHING.issuperset(value) or _PLACEHOLDER.search(value) is not None


def _random(value: str) -> bool:
    """Tell whether letters and digits alternate as they do in keys, not as in `sha256Token` or `node18`."""
    if not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    if len(value) >= 16 and _HEX.fullmatch(value):
        return True
    chunks = _CHUNK.findall(value)
    return bool(chunks) and sum(map(len, chunks)) / len(chunks) < 3


def _password(value: str, quoted: bool) -> bool:
    digits = _DIGIT.search(value) is not None
    if _WORDY.fullmatch(value) and not (digits and quoted):
        lower = value.lower()
        named = any(word in lower for word in ("pass", "pwd", "secret", "token", "word", "user"))
        return len(value) >= 8 and not named and (digits or quoted)
    return len(value) >= (6 if quoted or digits else 8)


def assigned(value: str, match: str) -> bool:
    """Accept the value of `name = value` as a secret; `match` begins with the name and tells the quotes."""
    name = _SEPARATOR.split(match, maxsplit=1)[0]
    before = match[: match.rfind(value)] if value else match
    return named(value, name, quoted=before.endswith(("'", '"', "`")))


def named(value: str, name: str, *, quoted: bool) -> bool:
    """Accept `value` as a secret, knowing only the name it goes by."""
    if len(value) < 6 or placeholder(value) or value.lower() in _WORDS or _BLANK.search(value):
        return False
    is_password = _PASSWORD_NAME.search(name) is not None
    if _CODE.search(value) and not (is_password and quoted and not value.startswith((".", "/", "~"))):
        return False
    if is_password:
        return _password(value, quoted)
    if len(value) < 8 or _WORDY.fullmatch(value):
        return False
    return _random(value) or (quoted and len(value) >= 16 and _DIGIT.search(value) is not None)


def environment(value: str, match: str) -> bool:
    """Accept the value of `NAME=value` in an environment listing."""
    del match
    if placeholder(value) or value.lower() in _WORDS or _REFERENCE.search(value):
        return False
    return not _WORDY.fullmatch(value) or (len(value) >= 12 and value.isalpha() and not value.isupper())


def credential(value: str, match: str) -> bool:
    """Accept what follows `Authorization:` or `Bearer`: any token that is neither placeholder nor word."""
    del match
    if placeholder(value) or value.lower() in _WORDS or "://" in value:
        return False
    return _DIGIT.search(value) is not None or (len(value) >= 20 and not _WORDY.fullmatch(value))


def cookie(value: str, match: str) -> bool:
    """Accept a cookie line that holds at least one `name=value`."""
    del match
    _, sep, rest = value.partition("=")
    return bool(sep) and len(rest) >= 4 and not placeholder(rest.partition(";")[0])


def field(value: str) -> bool:
    """Accept the string value of a sensitive field met in text, which may be a template or source code."""
    return len(value) >= 4 and not placeholder(value) and _TEMPLATE.search(value) is None


def header(value: str) -> bool:
    """Accept the whole value of a header that carries credentials."""
    return credential(value, "") or cookie(value, "")


def spoken(value: str, match: str) -> bool:
    """Accept what prose calls a password: no word, but a mix of letters and digits or signs."""
    value = value.rstrip(".,;:!?)")
    if len(value) < 6 or placeholder(value) or value.lower() in _WORDS or _CODE.search(value):
        return False
    mixed = _DIGIT.search(value) is not None and _LETTER.search(value) is not None
    return mixed or (
        not value.isalpha() and not _WORDY.fullmatch(value) and _SIGN.search(value[:-1]) is not None
    )


def pair(value: str, match: str) -> bool:
    """Accept `user:password` given to a program, but no pair of ids or names."""
    return spoken(value.partition(":")[2], match)


def wallet(value: str, match: str) -> bool:
    """Accept a wallet's key whose base 58 carries the right checksum."""
    del match
    number = 0
    for char in value:
        number = number * 58 + _BASE58.index(char)
    data = number.to_bytes(-(-number.bit_length() // 8) or 1, "big")
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def issued(value: str, match: str) -> bool:
    """Accept a token that can have been issued: `AKIAXXXXXXXXXXXXXXXX` and `re_AAAAAAAA_AAA…` are none."""
    del match
    return _FILLED.search(value) is None and len(set(value[-_TAIL:])) > 3


def shown(value: str, match: str) -> bool:
    """Accept anything but a placeholder or a lone word."""
    del match
    return not placeholder(value) and value.lower() not in _WORDS


def parameter(value: str, match: str) -> bool:
    """Accept `name=value` of a query unless the value is a placeholder."""
    return shown(value.partition("=")[2], match)


def basic(value: str, match: str) -> bool:
    """Accept base64 of `user:password`."""
    del match
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    return ":" in text and text.isprintable() and not placeholder(text.partition(":")[2])


def user_name(value: str, match: str) -> bool:
    """Accept a home directory's name that is not redacted already."""
    del match
    return value != "REDACTED"


def public_address(value: str, match: str) -> bool:
    """Accept a global IPv4 address; a version or section number is none, and they have small parts."""
    try:
        address = ipaddress.IPv4Address(value)
    except ValueError:
        return False
    if not address.is_global or address.is_multicast or max(address.packed) < 32:
        return False
    return max(address.packed) >= 100 or _ADDRESSED.match(match) is not None


def hardware_address(value: str, match: str) -> bool:
    """Accept a MAC address that is neither all zeros nor broadcast."""
    del match
    return len(set(value.replace(":", "").replace("-", "").lower())) > 1
