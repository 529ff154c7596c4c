"""Checksums that issuers put into their tokens and numbers. Each check is linear in the value's length."""

from __future__ import annotations

import json
import re
import string
import zlib
from binascii import Error, a2b_base64
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Final

_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_CRC_DIGITS: Final = 6
_PHRASES: Final = (24, 21, 18, 15, 12)
_WORD = re.compile(r"[a-z]+")


def crc_token(value: str) -> bool:
    """Tell whether a token of GitHub or npm ends in the CRC-32 of its random part, in base 62."""
    body = value.rpartition("_")[2]
    number = zlib.crc32(body[:-_CRC_DIGITS].encode("utf-8", "surrogatepass"))
    return body[-_CRC_DIGITS:] == _base62(number)


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(_CRC_DIGITS, "0")


def jwt(value: str) -> bool:
    """Tell whether the head of a JSON web token is an object that names an algorithm."""
    head = value.partition(".")[0].replace("-", "+").replace("_", "/")
    try:
        read = json.loads(a2b_base64(head + "=" * (-len(head) % 4)))
    except (Error, ValueError, RecursionError):
        return False
    return isinstance(read, dict) and ("alg" in read or "enc" in read)


def wallet(value: str) -> bool:
    """Tell whether base 58 carries the checksum of a wallet's key (Base58Check)."""
    number = 0
    for char in value:
        number = number * 58 + _BASE58.index(char)
    data = number.to_bytes(-(-number.bit_length() // 8) or 1, "big")
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def luhn(digits: str) -> bool:
    """Tell whether the last of some decimal digits is the check digit of the others."""
    twice = [int(c) * 2 for c in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in twice)) % 10 == 0


def seed_phrases(text: str) -> Iterator[tuple[int, int]]:
    """Yield the BIP-39 phrases in a run of words: their last bits are the checksum of the others."""
    index = _words()
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text.lower()):
        if word.group() not in index:
            yield from _phrases(run, index)
            run = []
        else:
            run.append(word)
    yield from _phrases(run, index)


def _phrases(run: list[re.Match[str]], index: dict[str, int]) -> Iterator[tuple[int, int]]:
    first = 0
    while first + _PHRASES[-1] <= len(run):
        for count in _PHRASES:
            words = run[first : first + count]
            if len(words) == count and _checked([index[word.group()] for word in words]):
                yield words[0].start(), words[-1].end()
                first += count - 1
                break
        first += 1


def _checked(numbers: list[int]) -> bool:
    if len(set(numbers)) < 6 or numbers == sorted(numbers):  # a list of all words is sorted
        return False
    bits = 0
    for number in numbers:
        bits = bits << 11 | number
    check = len(numbers) // 3
    entropy = (bits >> check).to_bytes(check * 4, "big")
    return sha256(entropy).digest()[0] >> (8 - check) == bits & ((1 << check) - 1)


@cache
def _words() -> dict[str, int]:
    from mnemonic import Mnemonic

    return {word: number for number, word in enumerate(Mnemonic("english").wordlist)}
