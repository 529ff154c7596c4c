"""The vectors of the checks (docs/conformance.md): finding them and making their files real."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.support import secrets

VECTORS = Path(__file__).resolve().parents[2] / "fixtures" / "verify"
_SECRET = re.compile(r"\{\{secret:([a-z0-9_]+)\}\}")


def cases() -> list[Path]:
    """Return the folders of all vectors, sorted by name."""
    return sorted(path.parent for path in VECTORS.glob("*/expect.json"))


def code_of(case: Path) -> str:
    """Return the code that a vector is of."""
    return case.name.partition("-")[0]


def expect(case: Path) -> dict[str, Any]:
    """Return what a vector expects, defaults filled in."""
    given = json.loads((case / "expect.json").read_text("utf-8"))
    return {
        "places": [],
        "given": {},
        **given,
        "pass": {"codes": [], "verdict": "valid", **given.get("pass", {})},
    }


def data(case: Path, which: str) -> bytes:
    """Return the bytes of a vector's `fail` or `pass` file."""
    path = case / f"{which}.json"
    if path.exists():
        return _SECRET.sub(lambda found: _secret(found[1]), path.read_text("utf-8")).encode()
    chunks = json.loads((case / "build.json").read_text("utf-8"))[f"{which}.bin"]
    return b"".join(_chunk(chunk) for chunk in chunks)


def _secret(kind: str) -> str:
    return json.dumps(secrets.make(kind), ensure_ascii=False)[1:-1]


def _chunk(chunk: Any) -> bytes:
    if isinstance(chunk, str):
        return chunk.encode()
    if "hex" in chunk:
        return bytes.fromhex(chunk["hex"]) * chunk.get("times", 1)
    first, times = chunk.get("from", 1), chunk.get("times", 1)
    if "{{n}}" not in chunk["text"]:
        return chunk["text"].encode() * times
    return "".join(chunk["text"].replace("{{n}}", str(n)) for n in range(first, first + times)).encode()
