"""Personal data, for the publish profile only; the gate classes add e-mail addresses and plain home paths."""

from __future__ import annotations

from typing import Final

from geode_traj.scan import plausible
from geode_traj.scan.rules import Profile, Rule

PUBLISH: Final[tuple[Profile, ...]] = ("publish",)
USER: Final = rb"(?:[A-Za-z0-9_.@+-]|[\x80-\xff])+"

RULES: tuple[Rule, ...] = (
    Rule(
        id="email_in_script",  # the gate class asks for a word's end, which no letter of another script is
        cls="email",
        pattern=rb"(?:^|[^A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})[\x80-\xff]",
        trigger=rb"@[A-Za-z0-9.-]+\.[A-Za-z]{2,24}(?:[\x80-\xff]|\\u)",
        examples=(("담당자 ", "demo_user@" + "mail.example.org", "에게"),),
        profiles=PUBLISH,
    ),
    Rule(
        id="windows_home",
        cls="absolute_home",
        pattern=rb"(?i)(?:^|[^A-Za-z0-9])[a-z](?::|%3a)(?:\\+|/+)users(?:\\+|/+)(" + USER + rb")",
        trigger=rb"(?i)users[\\/]",
        examples=(
            ("C:\\Users\\", "demo_user", "\\src"),
            ("c:\\\\users\\\\", "demo_user", "\\\\src"),
            ("d:/Users/", "demo_user", "/x"),
        ),
        misses=(("C:\\Users\\", "REDACTED\\src"),),
        accept=plausible.user_name,
        profiles=PUBLISH,
    ),
    Rule(
        id="wsl_home",
        cls="absolute_home",
        pattern=rb"(?i)wsl(?:\$|\.localhost)(?:\\+|/+)[a-z0-9_.-]+(?:\\+|/+)home(?:\\+|/+)(" + USER + rb")",
        trigger=rb"(?i)home[\\/]",
        examples=(
            ("\\\\wsl$\\Debian\\home\\", "demo_user", "\\src"),
            ("\\\\wsl.localhost\\Debian\\home\\", "demo_user", ""),
        ),
        accept=plausible.user_name,
        profiles=PUBLISH,
    ),
    Rule(
        id="dashed_home",
        cls="absolute_home",
        pattern=rb"""(?:^|[\s"'`/\\=(:]|(?:^|[\s"'`/\\=(:])[A-Za-z]-)-(?:Users|home)-([A-Za-z0-9_.]+)""",
        trigger=rb"-(?:Users|home)-",
        examples=(("~/.claude/projects/-Users-", "demo", "-src-app/x"), ("C--Users-", "demo_user", "-src")),
        misses=(("nav-home-", "button"), ("~/projects/-Users-", "REDACTED-src")),
        accept=plausible.user_name,
        profiles=PUBLISH,
    ),
    Rule(
        id="ip_address",
        cls="ip_address",
        pattern=rb"(?:(?i:ip|addr(?:ess)?|host(?:name)?|from|to|by|ping|ssh|peer|client|server|remote|listen)"
        rb"""[\\"'` =:(\[]{1,4}|//|@|^|[^0-9A-Za-z.])((?:[0-9]{1,3}\.){3}[0-9]{1,3})"""
        rb"(?:[^0-9A-Za-z.]|\.(?:[^0-9]|$)|$)",
        trigger=rb"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
        examples=(("from ", "93.184" + ".216.34", " port 22"),),
        misses=(
            ("at 127.0.0", ".1"),
            ("v1.2", ".3.4"),
            ("10.0", ".0.7"),
            ("build 1.2", ".3.4.5"),
            ("lib==4.1", ".0.78"),
            ("lib 28.4", ".1.53"),
        ),
        band="review",
        accept=plausible.public_address,
        profiles=PUBLISH,
    ),
    Rule(
        id="hardware_address",
        cls="hardware_address",
        pattern=rb"(?:^|[^0-9A-Fa-f:])((?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2})(?:[^0-9A-Fa-f:]|$)",
        trigger=rb"[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:",
        examples=(("ether ", "a4:83" + ":e7:12:34:56", " txq"),),
        misses=(("ether 00:00", ":00:00:00:00"),),
        band="review",
        accept=plausible.hardware_address,
        profiles=PUBLISH,
    ),
)
