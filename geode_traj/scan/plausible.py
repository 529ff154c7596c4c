"""Is this value a secret, or a placeholder, a piece of code, a word?

Used by the rules that know a secret only by the name before it. Each check is linear in the value's length.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from geode_traj.scan import shapes
from geode_traj.scan.shapes import (
    digit,
    filled,
    label,
    letter,
    nothing,
    random,
    scrambled,
    wordy,
)

placeholder = shapes.placeholder

_ISSUER = re.compile(r"(?:[a-z]{1,10}[0-9]{0,2}[_-]){0,3}")
_SHORTEST: Final = 10
"""A key has so many characters, those that only name its issuer (`key_`) not counted."""

_LONG: Final = 24
"""No name is so long without a separator."""

_CODE = re.compile(
    r"[(){}\[\]]|^(?:self|this|os|process|config|settings|env|args|options|params)\.|^(?:\.{0,2}/|~|\.[a-z])[\w./~-]*$|://|::|->"
)
_TAIL: Final = 20
_ATTRIBUTES: Final = frozenset("path domain expires max-age samesite version comment priority".split())
_TYPED: Final = 12
_LOOKED_AT: Final = 512
_SIGN = re.compile(r"[!@#$%^&*+=~?]")
_BLANK = re.compile(r"\s")
_TEMPLATE = re.compile(r"\{\w+\}")
_REFERENCE = re.compile(r"^[./~]|://|^[A-Za-z_.]+\(")
_PASSWORD_NAME = re.compile(r"pass|pwd|psw|pw\b|비밀번호|암호", re.IGNORECASE)
_SECRET_NAME = re.compile(r"secret", re.IGNORECASE)
_SHORT_NAME = re.compile(r"[_.-]pass\W*$", re.IGNORECASE)
_PUBLIC_NAME = re.compile(
    r"(?:public|publishable|client|consumer|csrf|xsrf|next|page|cursor|continuation|eos|bos|pad|unk)"
    r"[ _.-]?(?:page[ _.-]?)?"
    r"(?:token|key)",
    re.IGNORECASE,
)
_OTHER = re.compile(r"[A-Za-z_]\w*=|[^@]+@[\w.-]+\.[A-Za-z]{2,}\Z")
_ADDRESSED = re.compile(r"[a-z]|[^a-z]?(?://|@)", re.IGNORECASE)
_RESERVED = re.compile(r"(?:^|[._-])example(?:\.(?:com|net|org))?\.?(?::[0-9]*)?$", re.IGNORECASE)
_SEPARATOR = re.compile(r"[:=]")


def _mixed(value: str) -> bool:
    """Tell whether `value` has letters and digits, or letters and signs, and is no name of something."""
    if not letter(value) or wordy(value):
        return scrambled(value)
    return digit(value) or _SIGN.search(value[:-1]) is not None


def _password(value: str, quoted: bool) -> bool:
    has_digits = digit(value)
    if scrambled(value):
        return True
    if wordy(value) and not (has_digits and quoted):
        lower = value.lower()
        told = any(part in lower for part in ("pass", "pwd", "secret", "token", "word", "user"))
        return len(value) >= 7 + quoted and not told and (has_digits or quoted)
    return len(value) >= (6 if quoted or has_digits else 8)


def assigned(value: str, match: str) -> bool:
    """Accept the value of `name = value` as a secret; `match` begins with the name and tells the quotes."""
    name = _SEPARATOR.split(match, maxsplit=1)[0]
    before = match[: match.rfind(value)] if value else match
    return named(value, name, quoted=before.endswith(("'", '"', "`")))


def named(value: str, name: str, *, quoted: bool) -> bool:
    """Accept `value` as a secret, knowing only the name it goes by."""
    if len(value) < 6 or nothing(value) or _BLANK.search(value):
        return False
    is_password = _PASSWORD_NAME.search(name) is not None
    if _CODE.search(value) and not (is_password and quoted and not value.startswith((".", "/", "~"))):
        return False
    if is_password:
        return spoken(value, "") if _SHORT_NAME.search(name) else _password(value, quoted)
    return _PUBLIC_NAME.search(name) is None and _key(value, quoted, _SECRET_NAME.search(name) is not None)


def _key(value: str, quoted: bool, secret: bool) -> bool:
    """Accept what is called a key or token; `secret`: it is called a secret, so people may have typed it."""
    rest = value if secret else _ISSUER.sub("", value, count=1)
    if len(rest) < _SHORTEST or label(value) or filled(value):
        return False
    if random(value) or (len(rest) >= _LONG and rest.isalnum() and digit(rest[1:-1])):
        return True
    if not quoted or not digit(value):
        return False
    return len(value) >= 16 or secret or _SIGN.search(value) is not None


def environment(value: str, match: str) -> bool:
    """Accept the value of `NAME=value` in an environment listing."""
    if nothing(value) or filled(value) or _REFERENCE.search(value):
        return False
    name = match.partition("=")[0]
    if _PASSWORD_NAME.search(name) is None:
        return _PUBLIC_NAME.search(name) is None and not label(value) and _mixed(value)
    return not wordy(value) or scrambled(value)


def credential(value: str, match: str) -> bool:
    """Accept what follows `Authorization:` or `Bearer`: any token that is neither placeholder nor word."""
    del match
    if nothing(value) or filled(value) or "://" in value or "[" in value:
        return False
    return (digit(value) and not label(value)) or (len(value) >= 20 and not wordy(value))


def cookie(value: str, match: str) -> bool:
    """Accept a cookie line of which some value is neither short nor a word nor an attribute's."""
    del match
    for part in value[:_LOOKED_AT].split(";"):
        name, _, one = part.strip().partition("=")
        told = len(one) >= 8 and not nothing(one) and not label(one)
        if told and name.lower() not in _ATTRIBUTES:
            return True
    return False


def drawn_cookie(value: str, match: str) -> bool:
    """Accept `name=value; …` of which some value was drawn; what stands there may be no cookie at all."""
    pairs = (part.partition("=")[2] for part in value[:_LOOKED_AT].split(";"))
    return any(len(one) >= 16 and key(one, match) for one in pairs)


def field(value: str) -> bool:
    """Accept the string value of a sensitive field met in text, which may be a template or source code."""
    return len(value) >= 4 and not placeholder(value) and _TEMPLATE.search(value) is None


def header(value: str) -> bool:
    """Accept the whole value of a header that carries credentials."""
    return credential(value, "") or cookie(value, "")


def spoken(value: str, match: str) -> bool:
    """Accept what prose calls a password: no word, but a mix of letters and digits or signs."""
    del match
    value = value.rstrip(".,;:!?)")
    if len(value) < 6 or nothing(value) or _CODE.search(value):
        return False
    mixed = digit(value) and letter(value)
    return mixed or scrambled(value) or _mixed(value)


def typed(value: str, match: str) -> bool:
    """Accept what stands where a password may stand, but so may a file, a port, a name or an address."""
    value = value.rstrip(".,;:?)")
    told = (digit(value) and not label(value)) or (len(value) >= _TYPED and random(value))
    return told and spoken(value, match) and _OTHER.match(value) is None


def pair(value: str, match: str) -> bool:
    """Accept `user:password` given to a program, but no pair of ids or names."""
    user, _, password = value.partition(":")
    return spoken(password or user, match)


def key(value: str, match: str) -> bool:
    """Accept a drawn key: no word, no number, nothing that was only typed to fill a place."""
    del match
    return not nothing(value) and not filled(value) and random(value)


def issued(value: str, match: str) -> bool:
    """Accept a token that can have been issued: `AKIAXXXXXXXXXXXXXXXX` and `re_AAAAAAAA_AAA…` are none."""
    del match
    return not filled(value) and len(set(value[-_TAIL:])) > 3


def last_issued(value: str, match: str) -> bool:
    """Accept a token of ids and a secret, with dashes between them, if the secret can have been issued."""
    return issued(value.rpartition("-")[2], match)


def drawn(value: str, match: str) -> bool:
    """Accept a token whose prefix also begins names in code: what follows it must be drawn."""
    return issued(value, match) and random(value.rpartition("_")[2])


def tail_drawn(value: str, match: str) -> bool:
    """Accept a token that begins with filling, if it ends drawn."""
    return issued(value[-2 * _TAIL :], match)


def shown(value: str, match: str) -> bool:
    """Accept anything but a placeholder or a lone word."""
    del match
    return not nothing(value)


def login(value: str, match: str) -> bool:
    """Accept `user:password`, and a key in the place of either, unless it is a placeholder or a word."""
    user, _, password = value.partition(":")
    return shown(value, match) and shown(password or user, match)


def in_address(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bytes of the password in `password@host`.

    Hosts that nobody can have (RFC 2606) stand in examples: there a password must look drawn.
    """
    password, _, hosts = text.rpartition("@")
    reserved = all(_RESERVED.search(host) for host in hosts.split(","))
    if nothing(password) or (reserved and (len(password) < 8 or label(password))):
        return
    yield 0, len(password.encode("utf-8", "surrogatepass"))


def parameter(value: str, match: str) -> bool:
    """Accept `name=value` of a query unless the value is a placeholder."""
    return shown(value.partition("=")[2], match)


def drawn_parameter(value: str, match: str) -> bool:
    """Accept `name=value` of a query whose value was drawn; its name says little."""
    return key(value.partition("=")[2], match)


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
