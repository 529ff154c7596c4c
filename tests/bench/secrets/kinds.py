"""What is planted: every kind draws a secret and the text that it stands in."""

from __future__ import annotations

import base64
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.bench.secrets import held
from tests.bench.secrets.contexts import (
    BLOCKS,
    BY_VENDOR,
    CONTEXTS,
    FIELDS,
    PEM_LABELS,
    SEED_CONTEXTS,
    STRUCTURES,
)
from tests.bench.secrets.mnemonic import phrase
from tests.bench.secrets.people import PERSONAL
from tests.bench.secrets.shapes import bytes_of, draw
from tests.bench.secrets.vendors import VENDORS

SLOT: Final = "§"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret; `group` is vendor, structure or personal."""

    name: str
    group: str
    secret: Callable[[random.Random], str]
    contexts: tuple[str, ...]

    def planted(self, rng: random.Random) -> tuple[str, str, str]:
        """Return what stands before a new secret, the secret, and what stands after it."""
        secret = self.secret(rng)
        before, after = rng.choice(self.contexts).split(SLOT, 1)
        return _filled(before, rng), secret, _filled(after, rng)


def _filled(text: str, rng: random.Random) -> str:
    return draw(text.replace("{id}", "AK" + "IA<b16>"), rng) if "{id}" in text or "<uuid>" in text else text


def _by(vendor: str) -> tuple[str, ...]:
    """Return the places that name a vendor, twice: about two tokens in five stand in one."""
    name = vendor.split()[0]
    upper = name.upper().replace("-", "_")
    return 2 * tuple(text.replace("{vendor}", name).replace("{VENDOR}", upper) for text in BY_VENDOR)


def _of_shapes(shapes: tuple[str, ...]) -> Callable[[random.Random], str]:
    return lambda rng: draw(rng.choice(shapes), rng)


_NAMES: Final = "minjun seoyeon jihoon haruka tobias ingrid rafael oksana pieter lucia".split()
_HOSTS: Final = ("quarrystone-mail.org", "bluefern.co.kr", "mail.tidewater.dev", "naver.com", "gmail.com")


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))


def _rrn(rng: random.Random) -> str:
    born = f"{rng.randrange(60, 99)}{rng.randrange(1, 13):02}{rng.randrange(1, 29):02}"
    body = born + rng.choice("12") + draw("<d5>", rng)
    check = (11 - _weighted(body, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10
    return f"{body[:6]}-{body[6:]}{check}"


def _brn(rng: random.Random) -> str:
    body = f"{rng.randrange(101, 700)}{rng.randrange(1, 80):02}{rng.randrange(1, 10**4):04}"
    total = _weighted(body, (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(body[8]) * 5 // 10
    return f"{body[:3]}-{body[3:5]}-{body[5:]}{-total % 10}"


def _iban(rng: random.Random) -> str:
    body = draw("<d18>", rng)
    check = 98 - int(body + "131400") % 97  # D is 13, E is 14
    text = f"DE{check:02}{body}"
    return text if rng.random() < 0.5 else " ".join(textwrap.wrap(text, 4))


def _address(rng: random.Random) -> str:
    first = rng.choice((62, 81, 91, 121, 185, 211))
    return ".".join(map(str, (first, *(rng.randrange(1, 255) for _ in range(3)))))


_PEOPLE: Final[dict[str, Callable[[random.Random], str]]] = {
    "{name}": lambda rng: rng.choice(_NAMES),
    "{name2}": lambda rng: rng.choice(_NAMES),
    "{host}": lambda rng: rng.choice(_HOSTS),
    "{d4}": lambda rng: draw("<d4>", rng),
    "{d3}": lambda rng: draw("<d3>", rng),
    "{n3}": lambda rng: str(rng.randrange(234, 900)),
    "{h4}": lambda rng: f"{rng.randrange(4096, 65536):x}",
    "{h3}": lambda rng: f"{rng.randrange(256, 4096):x}",
    "{rrn}": _rrn,
    "{brn}": _brn,
    "{ssn}": lambda rng: f"{rng.randrange(100, 650)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}",
    "{iban}": _iban,
    "{ip}": _address,
    "{mac}": lambda rng: ":".join(f"{byte:02x}" for byte in b"\x3c" + bytes_of(rng, 5)),
}


def _person(shapes: tuple[str, ...]) -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        text = rng.choice(shapes)
        for name, value in _PEOPLE.items():
            while name in text:
                text = text.replace(name, value(rng), 1)
        return draw(text, rng)

    return make


def armoured(label: str, size: int, rng: random.Random, width: int = 64) -> str:
    """Return `size` random bytes between BEGIN and END lines."""
    body = "\n".join(textwrap.wrap(base64.b64encode(bytes_of(rng, size)).decode(), width))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def _pem(rng: random.Random) -> str:
    return armoured(rng.choice(PEM_LABELS) + " KEY", rng.choice((120, 600)), rng)


def _putty(rng: random.Random) -> str:
    body = "\n".join(textwrap.wrap(base64.b64encode(bytes_of(rng, 180)).decode(), 64))
    head = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 4\n"
    return f"{head}{body}\nPrivate-MAC: {draw('<h64>', rng)}"


def _service_account(rng: random.Random) -> str:
    return armoured("PRIVATE" + " KEY", 600, rng).replace("\n", "\\n") + "\\n"


def kinds() -> list[Kind]:
    """Return every kind."""
    found = [
        Kind(name, "vendor", _of_shapes(shapes), CONTEXTS + _by(name)) for name, shapes in VENDORS.items()
    ]
    found += [
        Kind(name, "structure", _of_shapes(shapes), places) for name, (shapes, places) in STRUCTURES.items()
    ]
    found += [
        Kind("private key", "structure", _pem, BLOCKS),
        Kind("pgp key", "structure", lambda rng: armoured("PGP PRIVATE KEY BLOCK", 700, rng), BLOCKS),
        Kind("putty key", "structure", _putty, BLOCKS),
        Kind("seed phrase", "structure", phrase, SEED_CONTEXTS),
        Kind("field by name", "structure", _of_shapes(("<pass>", "<a32>")), FIELDS),
        Kind("service account", "structure", _service_account,
             ('{"type": "service_account", "private_key": "§"}', 'GOOGLE_PRIVATE_KEY="§"')),
    ]  # fmt: skip
    return found + [
        Kind(name, "personal", _person(shapes), places) for name, (shapes, places) in PERSONAL.items()
    ]


def held_out() -> list[Kind]:
    """Return the kinds that have places which are kept apart."""
    found = [Kind(name, "vendor", _of_shapes(shapes), held.CONTEXTS) for name, shapes in VENDORS.items()]
    for name, places in held.STRUCTURES.items():
        found.append(Kind(name, "structure", _of_shapes(STRUCTURES[name][0]), places))
    return found
