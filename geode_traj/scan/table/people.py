"""Numbers that belong to people, for the publish profile only; a person decides about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from geode_traj.scan import numbers
from geode_traj.scan.rules import Profile, Rule

PUBLISH: Final[tuple[Profile, ...]] = ("publish",)
_BEFORE: Final = rb"(?:^|[^0-9A-Za-z_.+/#-])"
_AFTER: Final = rb"(?:[^0-9A-Za-z_/=+-]|-[^0-9A-Za-z]|$)"
_WORDS: Final = "|".join(("전화", "휴대", "연락", "핸드폰", "電話", "携帯", "手机")).encode()
_TOLD: Final = (
    rb"(?:(?i:phone|mobile|tel(?:ephone|efon)?|cell|fax|call|whatsapp|sms|contact|handy|m\xc3\xb3vil)"
    rb"[^0-9\r\n+(]{0,16}|(?:" + _WORDS + rb")[^0-9\r\n+(]{0,24})"
)
_EIGHT: Final = rb"[0-9](?:[ .()-]{0,2}[0-9]){7}"
_TELEPHONE: Final = rb"|".join(
    (
        rb"(?:" + _TOLD + rb"|" + _BEFORE + rb")(?:\+\(?|\()" + _EIGHT,
        _BEFORE + rb"0(?:[ .()-]{0,2}[0-9]){7}",
        _TOLD + _EIGHT,
    )
)
"""What `numbers.phone` takes: a number with `+`, `(` or `0` before, or any that a word tells; no date."""

Check = Callable[[str, str], bool]


def _number(
    name: str,
    pattern: bytes,
    trigger: bytes,
    accept: Check,
    *examples: tuple[str, ...],
    misses: tuple[tuple[str, ...], ...],
) -> Rule:
    return Rule(
        id=name,
        cls=name,
        pattern=pattern,
        trigger=trigger,
        examples=examples,
        misses=misses,
        band="review",
        accept=accept,
        profiles=PUBLISH,
    )


RULES: tuple[Rule, ...] = (
    _number(
        "phone_number",
        rb"(?:" + _TOLD + rb"|^|[^0-9A-Za-z_.+/#-])"
        rb"((?:\+|00)?(?:\([0-9]{1,4}\)|[0-9]{1,4})(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{2,5})){2,5})" + _AFTER,
        _TELEPHONE,
        numbers.phone,
        ("call me at ", "+82 10" + "-2345-6789", " please"),
        ("휴대폰 ", "010-" + "2345-6789", " 입니다"),
        ("office (", "+1 (212) " + "736-5000", ")"),
        misses=(
            ("at 2026", "-04-11 09:14"),
            ("id 1234567890", "123"),
            ("took 010", "1234 ms"),
            ("1-2-", "3-4-5"),
        ),
    ),
    _number(
        "payment_card",
        _BEFORE
        + rb"([2-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{1,7}|3[0-9]{3}[ -]?[0-9]{6}[ -]?[0-9]{4,5})"
        + _AFTER,
        rb"[2-6][0-9]{3}[ -]?[0-9]{4}",
        numbers.card,
        ("card ", "4539 1488" + " 0343 6467", " ok"),
        ("pan=", "4539" + "148803436467", "\n"),
        misses=(("order 4539148803", "436468"), ("550e8400-e29b-41d4-a716-4466", "55440000")),
    ),
    _number(
        "iban",
        _BEFORE + rb"([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?)" + _AFTER,
        rb"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}",
        numbers.iban,
        ("to ", "DE89 3704" + " 0044 0532 0130 00", "."),
        misses=(("to DE89 3704", " 0044 0532 0130 01"),),
    ),
    _number(
        "resident_number",
        _BEFORE + rb"([0-9]{6}-[0-9]{7})" + _AFTER,
        rb"[0-9]{6}-[0-9]{7}",
        numbers.resident,
        ("주민등록번호 ", "900101" + "-1234568", ""),
        misses=(("991301", "-1234567"),),
    ),
    _number(
        "business_number",
        _BEFORE + rb"([0-9]{3}-[0-9]{2}-[0-9]{5})" + _AFTER,
        rb"[0-9]{3}-[0-9]{2}-[0-9]{5}",
        numbers.business,
        ("사업자등록번호 ", "116-" + "82-00276", " (주)"),
        misses=(("116-82", "-00277"),),
    ),
    _number(
        "social_security_number",
        _BEFORE + rb"([0-9]{3}-[0-9]{2}-[0-9]{4})" + _AFTER,
        rb"[0-9]{3}-[0-9]{2}-[0-9]{4}",
        numbers.social_security,
        ("SSN ", "536-" + "90-4399", ""),
        misses=(("000-12", "-3456"), ("666-12", "-3456")),
    ),
    _number(
        "ipv6_address",
        rb"(?:^|[^0-9A-Za-z:.])([0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){2,7}(?:::)?)(?:[^0-9A-Za-z:]|$)",
        rb"[0-9A-Fa-f](?::{1,2}[0-9A-Fa-f]{1,4}:{1,2}[0-9A-Fa-f]{1,4}:|::[0-9A-Fa-f]{1,4}:|:[0-9A-Fa-f]{1,4}::)",
        numbers.ipv6_address,
        ("from ", "2a02:2e0:" + "3fe:1001:302::7", " on"),
        misses=(("at 12:34", ":56"), ("fe80::1:2", ":3:4"), ("std::a::b", "::c")),
    ),
)
