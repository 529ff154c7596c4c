"""Numbers that belong to people: is this digit run a telephone, a card, an account, an identity number?

The libraries that know the plans of the world are loaded when the first candidate is met.
"""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from typing import Final

from geode_traj.scan.checksums import luhn

_NO_DIGIT = re.compile(r"[^0-9]")
_CARD = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})"
    r"|(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}"
    r"|3[47][0-9]{13}|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12}|35[2-8][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|62[0-9]{14,17}|9[4-5][0-9]{14}"
)
_KOREAN = re.compile(r"0(?:1[016789]|2|[3-6][1-5]|70|50[2-8])[ .-]?[0-9]{3,4}[ .-]?[0-9]{4}")
_CONTEXT = re.compile(
    r"phone|mobile|tel|cell|fax|call|whatsapp|sms|contact|handy|móvil|전화|휴대|연락|핸드폰|電話|携帯|手机",
    re.IGNORECASE,
)
_REGIONS: Final = ("US", "GB", "DE", "FR", "JP", "IN")
_BRN_WEIGHTS: Final = (1, 3, 7, 1, 3, 7, 1, 3, 5)
_RRN_WITHOUT_CHECK: Final = date(2020, 10, 1)


def phone(value: str, match: str) -> bool:
    """Accept a number of a plan: international, Korean, or, where a word or its shape says so, of others."""
    digits = _NO_DIGIT.sub("", value)
    if not 8 <= len(digits) <= 15 or len(set(digits)) < 4:
        return False
    if value.startswith(("+", "00")):
        return _valid("+" + digits.removeprefix("00"), None)
    if _KOREAN.fullmatch(value) and digits != value and _valid(value, "KR"):
        return True
    told = _CONTEXT.search(match) is not None
    if _KOREAN.fullmatch(value) and (told or digits.startswith("010")):
        return _valid(value, "KR")
    if re.fullmatch(r"\([2-9][0-9]{2}\) ?[0-9]{3}-[0-9]{4}", value):
        return _valid(value, "US")
    return told and any(_valid(value, region) for region in _REGIONS)


def _valid(value: str, region: str | None) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(value, region))
    except phonenumbers.NumberParseException:
        return False


def card(value: str, match: str) -> bool:
    """Accept a payment card's number: of an issuer's range, with its check digit, grouped as on a card."""
    del match
    digits = _NO_DIGIT.sub("", value)
    return _CARD.fullmatch(digits) is not None and len(set(digits)) > 3 and luhn(digits)


def iban(value: str, match: str) -> bool:
    """Accept an account number whose country, length and checksum agree."""
    del match
    from stdnum import iban as plan

    return bool(plan.is_valid(value))


def resident(value: str, match: str) -> bool:
    """Accept a Korean resident registration number; since October 2020 they carry no checksum."""
    del match
    digits = _NO_DIGIT.sub("", value)
    century = {"1": 19, "2": 19, "5": 19, "6": 19, "3": 20, "4": 20, "7": 20, "8": 20, "9": 18, "0": 18}
    try:
        born = date(century[digits[6]] * 100 + int(digits[:2]), int(digits[2:4]), int(digits[4:6]))
    except (ValueError, KeyError):
        return False
    if born >= _RRN_WITHOUT_CHECK or "-" in value:
        return born <= date(2100, 1, 1)
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    return (11 - sum(w * int(d) for w, d in zip(weights, digits, strict=False)) % 11) % 10 == int(digits[12])


def business(value: str, match: str) -> bool:
    """Accept a Korean business registration number."""
    del match
    from stdnum.kr import brn

    if not brn.is_valid(value):
        return False
    digits = [int(c) for c in _NO_DIGIT.sub("", value)]  # the library knows the parts, not the check digit
    total = sum(w * d for w, d in zip(_BRN_WEIGHTS, digits, strict=False)) + digits[8] * 5 // 10
    return (10 - total % 10) % 10 == digits[9]


def social_security(value: str, match: str) -> bool:
    """Accept a United States social security number that can have been issued."""
    del match
    from stdnum.us import ssn

    return bool(ssn.is_valid(value))


def ipv6_address(value: str, match: str) -> bool:
    """Accept a global IPv6 address; times and module paths (`a::b`) are none."""
    del match
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return address.is_global and not address.is_multicast and value.count(":") >= 3
