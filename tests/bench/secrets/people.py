"""Personal data: shapes, with braces for what is drawn, and the texts they stand in."""

from __future__ import annotations

from typing import Final

from tests.bench.secrets.contexts import Structure

PERSONAL: Final[dict[str, Structure]] = {
    "email": (
        ("{name}@{host}", "{name}.{name2}@{host}", "{name}+ci@{host}"),
        (
            "Contact § for access.",
            "Author: Demo <§>",
            '"owner": "§"',
            "담당자 §에게 문의",
            "git config user.email §",
            "mailto:§?subject=hi",
        ),
    ),
    "korean mobile": (
        ("010-{d4}-{d4}", "010{d4}{d4}", "+82 10-{d4}-{d4}", "010.{d4}.{d4}"),
        ("연락처: §", "전화 §로 주세요", '"phone": "§"', "tel § (demo)"),
    ),
    "phone": (
        ("+1 202-{n3}-{d4}", "+49 30 {n3}{d4}1", "+44 20 7{d3} {d4}", "(212) {n3}-{d4}"),
        ("call me at §", "phone: §", '"mobile": "§"'),
    ),
    "rrn": (("{rrn}",), ("주민등록번호: §", "주민번호 § 확인", '"rrn": "§"')),
    "brn": (("{brn}",), ("사업자등록번호: §", "사업자번호 §")),
    "ssn": (("{ssn}",), ("SSN: §", "social security number §", '"ssn": "§"')),
    "card": (("4<luhn15>",), ("card §", '"pan": "§"', "charged §, exp 04/29", "카드번호 §")),
    "iban": (("{iban}",), ("IBAN: §", "transfer to § by Friday", '"iban": "§"')),
    "ipv4": (
        ("{ip}",),
        (
            "ssh svc@§",
            "connected from § port 51422",
            '"remote_addr": "§"',
            '§ - - [11/Apr/2026:09:14:02 +0000] "GET / HTTP/1.1" 200',
        ),
    ),
    "ipv6": (("2a01:{h4}:{h4}:{h4}::{h3}",), ("inet6 § scope global", "client § connected")),
    "mac": (("{mac}",), ("ether § txqueuelen 1000", "HWaddr §", '"mac": "§"')),
    "home linux": (
        ("{name}",),
        (
            "/home/§/src/app/main.py",
            "cd /home/§ && ls",
            "PATH=/home/§/.local/bin:/usr/bin",
            "file:///home/§/notes.md",
        ),
    ),
    "home macos": (
        ("{name}",),
        ("/Users/§/Library/Logs/app.log", "open /Users/§/Desktop", "cwd: /Users/§/src"),
    ),
    "home windows": (
        ("{name}",),
        (
            "C:\\Users\\§\\AppData\\Local",
            "C:/Users/§/src/app",
            "/mnt/c/Users/§/src",
            "C:\\\\Users\\\\§\\\\src",
        ),
    ),
    "home dashed": (
        ("{name}",),
        ("~/.agent/projects/-Users-§-src-app/log.jsonl", "projects/-home-§-work/1.jsonl"),
    ),
}
