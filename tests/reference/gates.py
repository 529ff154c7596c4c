"""The eight gate classes over raw text, as plain `re`: simple; slow on hostile text (record contract §8)."""

from __future__ import annotations

import re

_HOME = r"/(?:Users|home)/(?!REDACTED(?:/|\Z))[^/\s]+"
_WINDOWS_HOME = r"[A-Za-z]:\\Users\\(?!REDACTED(?:\\|\Z))[^\\\s]+"
_KNOWN = (
    r"sk-(?:ant|proj)-[A-Za-z0-9_-]{20,}",
    r"sk-[A-Za-z0-9]{20,}",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16,}",
    r"gh[po]_[A-Za-z0-9]{36,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+",
    r"xox[bp]-[A-Za-z0-9-]+",
    r"xapp-[A-Za-z0-9-]+",
)
KNOWN_SECRET = re.compile("|".join(_KNOWN))
GATES = {
    "absolute_home": re.compile(f"{_HOME}|{_WINDOWS_HOME}"),
    "email": re.compile(r"\b[A-Z0-9._%+-]+@[A-Z0-9.-]+\.[A-Z]{2,}\b", re.IGNORECASE),
    "github_token": re.compile(r"\bgh[opsu]_[A-Za-z0-9_]{20,}\b"),
    "openai_key": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}\b"),
    "bearer": re.compile(r"\bBearer\s+[A-Z0-9._~+/=-]{12,}\b", re.IGNORECASE),
    "aws_access_key": re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    "url_query_secret": re.compile(
        r"[?&](?:api[_-]?key|access[_-]?token|token|secret)=[^&\s]{8,}", re.IGNORECASE
    ),
}


def gate_hits(text: str) -> dict[str, int]:
    """Count the hits of each class in `text`; `known_secret` is 1 for a text that holds any."""
    hits = {name: sum(1 for _ in pattern.finditer(text)) for name, pattern in GATES.items()}
    return {**hits, "known_secret": int(KNOWN_SECRET.search(text) is not None)}
