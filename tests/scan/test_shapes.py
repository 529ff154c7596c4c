from __future__ import annotations

import random as chance
import string
from functools import partial

import pytest

from geode_traj.scan import plausible, shapes

DRAWN = "a8Kd02jfPq71Zm3x"
SCRAMBLED = "qZwXkRbTnLcVhJ"

YES = [
    (shapes.filled, "sk_" + "0" * 24),
    (shapes.filled, "AKIA" + "X" * 16),
    (shapes.filled, "token-abcdefghij"),
    (shapes.filled, "AbCdEfGhIjKl"),
    (shapes.filled, "aa1bb2cc3dd4ee5ff6gg7hh8"),
    (shapes.filled, "1x2y3z4x5y6z7x8y9z0x"),
    (shapes.filled, "deadbeef" * 4),
    (shapes.filled, "sk_live_" + "example" * 6),
    (shapes.filled, DRAWN + ":short"),
    (shapes.filled, "e" + "yJhbGciOiJub25lIn0.body.signature"),
    (shapes.nothing, "<your-key>"),
    (shapes.nothing, "[PASSWORD]"),
    (shapes.nothing, "AES_256_CBC-HMAC"),
    (shapes.nothing, "{cipher}" + DRAWN),
    (shapes.nothing, "ENC(" + DRAWN + ")"),
    (shapes.nothing, "[0-9a-f]{32}"),
    (shapes.nothing, "undefined"),
    (shapes.random, DRAWN),
    (shapes.random, "0123456789abcdef"[::-1]),
    (shapes.random, SCRAMBLED),
    (shapes.label, "tls-2026-prod"),
    (shapes.label, "node18"),
    (shapes.label, "a.b/c:80"),
    (shapes.wordy, "created_at"),
    (plausible.typed, "wumo-plo19x"),
    (plausible.typed, "Torg16!"),
]
NO = [
    (shapes.filled, DRAWN),
    (shapes.filled, "a1b2c3d4" * 4),
    (shapes.filled, DRAWN + ":shortly"),
    (shapes.nothing, DRAWN),
    (shapes.nothing, "40961234"),
    (shapes.nothing, "my" + "aes256pass"),
    (shapes.random, "sha256Token"),
    (shapes.random, "requiredCharacteristicTypes"),
    (shapes.random, "getUserName"),
    (shapes.label, DRAWN),
    (plausible.typed, "uint32_t"),
    (plausible.typed, "sha256"),
    (plausible.typed, "demo_user2@example.org"),
    (plausible.typed, "database"),
]


def ask(check: object, value: str) -> bool:
    assert callable(check)
    return bool(check(value, "") if check is plausible.typed else check(value))


@pytest.mark.parametrize(("check", "value"), YES)
def test_shape_is_seen(check: object, value: str) -> None:
    assert ask(check, value)


@pytest.mark.parametrize(("check", "value"), NO)
def test_other_shape_is_not(check: object, value: str) -> None:
    assert not ask(check, value)


@pytest.mark.parametrize("alphabet", [string.ascii_letters + string.digits, string.hexdigits[:16]])
def test_what_is_drawn_is_never_filled_and_nearly_always_random(alphabet: str) -> None:
    draw = partial(chance.Random(7).choices, alphabet)
    values = ["".join(draw(k=40)) for _ in range(2000)]
    assert not any(map(shapes.filled, values))
    assert sum(map(shapes.random, values)) >= 1990


@pytest.mark.parametrize(
    ("name", "value", "quoted", "secret"),
    [
        ("password", "hunter2!", False, True),
        ("password", "hunter2", True, True),
        ("password", "incorrect", False, False),
        ("db_pass", "k1m2n3p4", False, True),
        ("tests_pass", "1200000", False, False),
        ("api_key", DRAWN, False, True),
        ("api_key", "key_" + DRAWN, False, True),
        ("api_key", "key_short1", False, False),
        ("api_key", "Torgrizan16#", True, True),
        ("clientSecret", "fenb-abate76x", True, True),
        ("secret", "tls-2026-prod", True, False),
        ("token", "access-token-v2", True, False),
        ("nextPageToken", DRAWN, True, False),
        ("publishable_key", DRAWN, True, False),
    ],
)
def test_name_and_value_decide_together(name: str, value: str, quoted: bool, secret: bool) -> None:
    assert plausible.named(value, name, quoted=quoted) == secret


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("k1m2n3p4@db.example.org", "k1m2n3p4"),
        ("hunter2@db.demo.internal", "hunter2"),
        ("hunter2@db.example.org", ""),
        ("hunter2@db.example.org,db.demo.internal", "hunter2"),
        ("password@db.demo.internal", ""),
    ],
)
def test_password_in_an_address(text: str, found: str) -> None:
    assert "".join(text[start:end] for start, end in plausible.in_address(text)) == found
