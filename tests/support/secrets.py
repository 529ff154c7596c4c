"""Fake secrets, each built at run time from parts, so that no file of this repository holds one.

`make(kind)` is deterministic: the same kind gives the same text everywhere. Shapes are the vendors' own,
checksums included (GitHub and npm: CRC-32 in base 62; cards: Luhn), so that a checking rule finds these.
"""

from __future__ import annotations

import base64
import hashlib
import json
import string
import zlib
from collections.abc import Iterator

_ALNUM = string.ascii_letters + string.digits
_URL_SAFE = _ALNUM + "-_"
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_HEX = "0123456789abcdef"
_BASE32 = string.ascii_uppercase + "234567"


def _stream(seed: str) -> Iterator[int]:
    counter = 0
    while True:
        yield from hashlib.sha256(f"{seed}:{counter}".encode()).digest()
        counter += 1


def _body(seed: str, size: int, alphabet: str = _ALNUM) -> str:
    """Return `size` characters of `alphabet` that look random and are the same for the same seed."""
    stream = _stream(seed)
    return "".join(alphabet[next(stream) % len(alphabet)] for _ in range(size))


def _with_crc(prefix: str, seed: str) -> str:
    body = _body(seed, 30)
    rest, digits = zlib.crc32(body.encode()), ""
    while rest:
        rest, digit = divmod(rest, 62)
        digits = _BASE62[digit] + digits
    return prefix + body + digits.rjust(6, "0")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _jwt() -> str:
    header = json.dumps({"alg": "HS256", "typ": "JWT"}, separators=(",", ":"))
    claims = json.dumps({"sub": "demo_user", "iat": 1750000000}, separators=(",", ":"))
    signature = hashlib.sha256(b"jwt").digest()
    return ".".join((_base64url(header.encode()), _base64url(claims.encode()), _base64url(signature)))


def _pem_body(label: str) -> str:
    stream = _stream(label)
    body = base64.b64encode(bytes(next(stream) for _ in range(240))).decode()
    return "\n".join(body[start : start + 64] for start in range(0, len(body), 64))


def _luhn(digits: str) -> str:
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(reversed(digits))]
    return digits + str(-sum(number // 10 + number % 10 for number in doubled) % 10)


def _slack_token() -> str:
    return "-".join(
        ("xo" + "xb", _body("s1", 12, string.digits), _body("s2", 12, string.digits), _body("s3", 24))
    )


def _slack_app_token() -> str:
    parts = (_body("sa1", 11), _body("sa2", 13, string.digits), _body("sa3", 64, _HEX))
    return "-".join(("xa" + "pp", "1", *parts))


_BASIC = base64.b64encode(b"demo_user:" + b"Tr0ub4dor").decode()
_LABEL = "RSA PRIVATE" + " KEY"
# kind -> the secret, or what stands before it, the secret, and what stands after it
_MAKERS: dict[str, str | tuple[str, str, str]] = {
    # credentials: redacted while importing
    "openai_key": "sk-" + "proj-" + _body("oa1", 40) + "T3" + "BlbkFJ" + _body("oa2", 40),
    "openai_key_legacy": "sk-" + _body("ol1", 20) + "T3" + "BlbkFJ" + _body("ol2", 20),
    "anthropic_key": "sk-" + "ant-" + "api03-" + _body("ant", 93, _URL_SAFE) + "AA",
    "github_token": _with_crc("gh" + "p_", "github"),
    "github_oauth": _with_crc("gh" + "o_", "github-oauth"),
    "gitlab_token": "gl" + "pat-" + _body("gitlab", 20),
    "npm_token": _with_crc("np" + "m_", "npm"),
    "huggingface_token": "hf" + "_" + _body("huggingface", 34, string.ascii_letters),
    "google_api_key": "AI" + "za" + _body("google", 35, _URL_SAFE),
    "stripe_key": "sk" + "_live_" + _body("stripe", 24),
    "aws_access_key": "AK" + "IA" + _body("aws", 16, _BASE32),
    "aws_secret": ("aws_secret_access_key=", _body("aws-secret", 40, _ALNUM + "/+"), ""),
    "hex_pair_key": _body("hex-pair", 32, _HEX) + "." + _body("hex-pair-tail", 16),
    "bearer": ("Authorization: " + "Bearer ", _body("bearer", 40), ""),
    "basic_auth": ("Authorization: Basic ", _BASIC, ""),
    "cookie": ("Cookie: session=", _body("cookie", 32, _HEX), ""),
    "jwt": _jwt(),
    "slack_token": _slack_token(),
    "slack_app_token": _slack_app_token(),
    "private_key_pem": (f"-----BEGIN {_LABEL}-----\n", _pem_body(_LABEL), f"\n-----END {_LABEL}-----"),
    "url_query_secret": ("https://api.example.org/v1/items?api" + "_key=", _body("query", 24), "&page=2"),
    "url_credentials": ("postgres://demo_user:", _body("url", 16), "@db.example.org/app"),
    "password_assignment": ("pass" + 'word = "', _body("password", 18), '"'),
    # personal data: kept locally, dealt with in review
    "email": "demo_user" + "@" + "quarrystone-mail.org",
    "email_example": "demo_user" + "@" + "example.org",
    "home_path_linux": ("/home" + "/", "demo_user", "/project/notes.txt"),
    "home_path_mac": ("/Users" + "/", "demo_user", "/project/notes.txt"),
    "home_path_windows": ("C:" + "\\Users" + "\\", "demo_user", "\\project\\notes.txt"),
    "phone_us": "+1 " + "202-555-" + "0143",
    "phone_kr": "010" + "-5550-" + "0143",
    "card": _luhn("4" + "5390" + "1234567890"),
    "ipv4": ".".join(("203", "0", "113", "77")),
    "mac_address": ":".join(("02", "1a", "7f", "33", "c9", "5e")),
}
CREDENTIALS = tuple(_MAKERS)[: tuple(_MAKERS).index("email")]
PERSONAL = tuple(_MAKERS)[tuple(_MAKERS).index("email") :]


def make(kind: str) -> str:
    """Return the fake secret of `kind` as it stands in text; the kinds are `CREDENTIALS` and `PERSONAL`."""
    return "".join(_MAKERS[kind])


def core(kind: str) -> str:
    """Return the part of `make(kind)` that must not leak, without what stands around it."""
    parts = _MAKERS[kind]
    return parts if isinstance(parts, str) else parts[1]
