"""Tokens of platforms and tools for developers, and of smaller services."""

from __future__ import annotations

from geode_traj.scan import plausible
from geode_traj.scan.rules import CLOSERS, EDGE, Rule, token

WORD = rb"[A-Za-z0-9]"
DASH = rb"[A-Za-z0-9_-]"
HEX = rb"[0-9a-f]"
UUID = rb"[0-9a-f-]"

RULES: tuple[Rule, ...] = (
    token("intra42_secret", rb"s-s4t2(?:ud|af)-", HEX, 64, "s-s4", "t2ud-", "a1b2" * 16),
    token(
        "infracost_key",
        rb"ico-",
        WORD,
        32,
        "ic",
        "o-",
        "a1B2" * 8,
        edge=rb"(?:^|[^A-Za-z0-9.])",  # file.ico-
        misses=(("demo.ic", "o-", "a1b2" * 8),),
    ),
    token("duffel_token", rb"duffel_(?:live|test)_", rb"[A-Za-z0-9_=-]", 43, "duf", "fel_test_", "a1B2" * 11),
    token("frameio_token", rb"fio-u-", rb"[A-Za-z0-9_=-]", 64, "fi", "o-u-", "a1B2" * 16),
    token(
        "plaid_token",
        rb"access-(?:sandbox|development|production)-",
        UUID,
        36,
        "acc",
        "ess-sandbox-",
        "a1b2-" * 8,
    ),
    token("settlemint_token", rb"sm_[aps]at_", WORD, 16, "s", "m_aat_", "a1B2" * 4),
    token("scalingo_token", rb"tk-us-", DASH, 48, "t", "k-us-", "a1B2" * 12),
    token("openshift_token", rb"sha256~", DASH, 43, "sha", "256~", "a1B2" * 11),
    Rule(
        id="octopus_key",
        cls="octopus_key",
        pattern=EDGE + rb"(API-[A-Z0-9]{25,27})(?:[^A-Za-z0-9]|$)",
        trigger=rb"API-[A-Z0-9]{10}",
        examples=(("", "AP", "I-", "A1B2" * 6 + "AB", ""),),
        misses=(("/API-", "A1B2C3D4" * 4),),
        accept=plausible.issued,
    ),
    token(
        "harness_token",
        rb"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.",
        WORD,
        20,
        "pa",
        "t.",
        "a1B2" * 5 + "ab.",
        "a1b2" * 6,
        ".",
        "a1B2" * 5,
        trigger=rb"[ps]at\.[A-Za-z0-9_-]{10}",
    ),
    token(
        "defined_key",
        rb"dnkey-[a-z0-9=_-]{26}-",
        rb"[a-z0-9=_-]",
        52,
        "dnk",
        "ey-",
        "a1b2" * 6 + "ab-",
        "a1b2" * 13,
    ),
    token(
        "cockroach_key", rb"CCDB1_[A-Za-z0-9]{22}_", WORD, 40, "CCD", "B1_", "a1B2" * 5 + "ab_", "a1B2" * 10
    ),
    token("adobe_secret", rb"p8e-", DASH, 32, "p8", "e-", "a1B2" * 8),
    token(
        "onepassword_secret",
        rb"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-(?:[A-Z0-9]{5}-){2}",
        rb"[A-Z0-9]",
        5,
        "A",
        "3-",
        "A1B2C3-A1B2C3-A1B2C-" + "B2C3D-A1B2C-C3D4E",
        trigger=rb"A3-[A-Z0-9]{6}-[A-Z0-9]{6}",
        cls="onepassword_token",
    ),
    token(
        "authress_key",
        rb"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.",
        rb"[A-Za-z0-9+/_=-]",
        30,
        "s",
        "c_",
        "a1b2c3d4e5.a1b2.acc_" + "a1b2c3d4e5f6.",
        "a1B2" * 8,
        trigger=rb"\.acc[_-]",
    ),
    token(
        "maxmind_key",
        rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mm",
        rb"[k]",
        1,
        "a1B2c3_",
        "a1B2" * 7 + "a",
        "_mmk",
        trigger=rb"_mmk",
    ),
    token("live_key", rb"live_", rb"[A-Za-z0-9=-]", 35, "liv", "e_", "a1b2" * 9, accept=plausible.drawn),
    token("klaviyo_key", rb"pk_", rb"[a-z0-9]", 34, "p", "k_", "a1b2" * 8 + "ab", accept=plausible.drawn),
    token("cfx_key", rb"cfxk_", WORD, 20, "cf", "xk_", "a1B2" * 6),
    token("wakatime_key", rb"waka_", UUID, 36, "wa", "ka_", "a1b2-" * 8),
    token("rootly_key", rb"rootly_", HEX, 64, "root", "ly_", "a1b2" * 16),
    token("xendit_key", rb"xnd_(?:production|development)_", WORD, 40, "xn", "d_production_", "a1B2" * 12),
    token("dropbox_token", rb"sl\.", DASH, 130, "s", "l.", "a1B2" * 34),
    token(
        "grafana_key", rb"eyJrIjoi", rb"[A-Za-z0-9=]", 60, "ey", "JrIjoi", "a1B2" * 18, cls="grafana_token"
    ),
    token(
        "salesforce_session",
        rb"00D[A-Za-z0-9]{9,15}!",
        rb"[A-Za-z0-9._]",
        80,
        "00",
        "Da1B2c3D4e5F6!",
        "a1B2" * 24,
        trigger=rb"00D[A-Za-z0-9]+!",
    ),
    token(
        "facebook_app_token",
        rb"[0-9]{15,16}\|",
        DASH,
        27,
        "204174930625813",
        "|",
        "a1B2" * 7,
        cls="facebook_token",
        trigger=rb"[0-9]\|[A-Za-z0-9_-]{10}",
    ),
    Rule(
        id="x_bearer",
        cls="bearer",
        pattern=EDGE + rb"(A{18,}[A-Za-z0-9]{6,80}%(?:2[BbFf]|3[Dd])[A-Za-z0-9%]{20,})",
        trigger=rb"AAAAAAAAAAAAAAAAAA",
        examples=(("", "A" * 21, "a1B2" * 8, "%3D", "a1B2" * 12, " ok"),),
        misses=(("A" * 64, "%3D" + "A" * 30),),
        accept=plausible.tail_drawn,
    ),
    Rule(
        id="bundle_pair",
        cls="basic_auth",
        pattern=rb"BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM"
        + CLOSERS
        + rb"[ ]?[=:][ \t\\\"']*([0-9a-f]{8}:[0-9a-f]{8})",
        trigger=rb"__CONTRIBSYS__COM",
        examples=(("export BUNDLE_GEMS__CONTRIBSYS__COM=", "a1b2c3d4:e5f6a7b8", "\n"),),
    ),
)
