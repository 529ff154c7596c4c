"""Keys and recovery phrases of wallets."""

from __future__ import annotations

from typing import Final

from geode_traj.scan import checksums, plausible
from geode_traj.scan.rules import EDGE, Rule

_WORD: Final = rb"[a-z]{3,8}"
_PHRASE: Final = "|".join(("시드", "니모닉", "복구", "助记词", "シード", "ニーモニック")).encode()

RULES: tuple[Rule, ...] = (
    Rule(
        id="chain_key",
        cls="wallet_key",
        pattern=EDGE + rb"([a-z]prv[1-9A-HJ-NP-Za-km-z]{100,112}|(?:5[HJK]|9)[1-9A-HJ-NP-Za-km-z]{49,50}"
        rb"|[KLc][1-9A-HJ-NP-Za-km-z]{51})(?:[^0-9A-Za-z]|$)",
        trigger=rb"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{8}|(?i)wif[^a-z]|bitcoin|wallet|priv(?:ate)?[ _.-]?key",
        examples=(
            (
                "",
                "xp",
                "rv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvv",
                "NKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
                " x",
            ),
        ),
        misses=(("5K", "a1B2" * 12),),
        accept=plausible.key,
        sure=checksums.wallet,
    ),
    Rule(
        id="wallet_hex",
        cls="wallet_key",
        pattern=rb"""(?i)(?:private[ _.-]?key|priv[ _.-]?key|mnemonic[ _.-]?key"""
        rb"""|eth[ _.-]?key|signer|wallet)"""
        rb"""[^\r\n0-9a-f]{1,24}?((?:0x)?[0-9a-f]{64})(?:[^0-9a-f]|$)""",
        trigger=rb"(?i)(?:priv(?:ate)?|mnemonic|eth)[ _.-]?key|signer|wallet",
        examples=(("privateKey: '", "0x" + "a1b2" * 16, "'"),),
        misses=(("private key ", "a1b2c3"),),
        vague=1,
    ),
    Rule(
        id="seed_phrase",
        cls="seed_phrase",
        pattern=rb"(?i)((?:" + _WORD + rb"\s{1,2}){11,}" + _WORD + rb")",
        trigger=rb"(?i)seed|mnemonic|phrase|recover|wallet|backup|words|" + _PHRASE,
        examples=(
            (
                "seed: ",
                "legal winner thank year wave ",
                "sausage worth useful legal winner thank yellow",
                "\n",
            ),
        ),
        misses=(("seed: ", "legal winner thank year wave sausage worth useful legal winner thank year"),),
        within=checksums.seed_phrases,
    ),
)
