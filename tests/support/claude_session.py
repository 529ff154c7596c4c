"""A realistic Claude Code session of any size, the same bytes for the same seed and size.

Every turn has a queued prompt, one to six calls and a closing text; each response with a call stands on three
lines (thoughts, text, call) that repeat its ids and its growing usage. A result's text is told twice, as in
real files. About one result in a hundred holds a fake credential and an address, one in a hundred is not
ASCII, one in twenty-five is an error. What is true of the file is counted while it is written.
"""

from __future__ import annotations

import argparse
import json
import random
import string
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
SIZE = 21_000_000
_START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
_WIDE = "größer Prüfung naïve café 检查 記録 세션 запись ✓ → “quoted” 📎".split()
_TOOLS = ("Bash", "Read", "Grep", "Edit")


@dataclass
class Facts:
    """What is true of a written session: tokens are those of whole responses, `keys` the planted ones."""

    session_id: str = ""
    bytes: int = 0
    lines: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    calls: int = 0
    responses: int = 0
    errors: int = 0
    tokens: Counter[str] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)


class Session:
    """Writes one session; `facts` is complete once `lines` is exhausted."""

    def __init__(self, size: int = SIZE, seed: int = 1) -> None:
        self._size = size
        self._random = random.Random(seed)
        self._pool = [self._letters(self._random.randint(2, 9)) for _ in range(5000)]
        self._now = _START
        self._parent: str | None = None
        self._context = 9_000
        self.facts = Facts(session_id=self._uuid())

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the file, with their ends."""
        yield self._line({"type": "summary", "summary": self._words(6), "leafUuid": self._uuid()})
        while self.facts.bytes < self._size:
            yield from map(self._line, self._turn())

    def _turn(self) -> Iterator[dict[str, Any]]:
        began = self._now
        prompt = self._words(self._random.randint(5, 60))
        facts = self.facts
        facts.turns += 1
        yield {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": self._stamp(),
            "content": prompt,
            "sessionId": facts.session_id,
        }
        yield self._row("user", {"message": {"role": "user", "content": prompt}})
        for _ in range(self._random.randint(1, 6)):
            yield from self._round()
        yield from self._response(
            [{"type": "text", "text": self._words(self._random.randint(20, 200))}], "end_turn"
        )
        spent = int((self._now - began) / timedelta(milliseconds=1))
        yield self._row("system", {"subtype": "turn_duration", "durationMs": spent, "isMeta": False})

    def _round(self) -> Iterator[dict[str, Any]]:
        """Yield a response with one call, and its result."""
        chance, call_id = self._random.random, "toolu_" + self._letters(24)
        tool = self._random.choice(_TOOLS)
        thought = {
            "type": "thinking",
            "thinking": self._words(self._random.randint(20, 160)),
            "signature": self._letters(120),
        }
        said = {"type": "text", "text": self._words(self._random.randint(10, 80))}
        given = {"command": self._words(8), "description": self._words(4)}
        call = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
        yield from self._response([thought, said, call], "tool_use")
        body = self._words(self._random.randint(40, 1800))
        if chance() < 0.01:
            body = f"{body} {self._key()} {self._letters(6)}@example.org"
        if chance() < 0.01:
            body = f"{body} {' '.join(self._random.choices(_WIDE, k=20))}"
        error = chance() < 0.04
        block = {"tool_use_id": call_id, "type": "tool_result", "content": body, "is_error": error}
        self.facts.calls += 1
        self.facts.errors += error
        told = {"stdout": body, "stderr": "", "interrupted": False, "isImage": False}
        yield self._row("user", {"message": {"role": "user", "content": [block]}, "toolUseResult": told})

    def _response(self, blocks: list[dict[str, Any]], stop: str) -> Iterator[dict[str, Any]]:
        facts = self.facts
        message_id, request = "msg_" + self._letters(24), "req_" + self._letters(24)
        written = self._random.randint(200, 900)
        usage = {
            "input_tokens": self._random.randint(3, 40),
            "cache_creation_input_tokens": self._random.randint(100, 4000),
            "cache_read_input_tokens": self._context,
        }
        self._context = 9_000 + (self._context + usage["cache_creation_input_tokens"]) % 160_000
        facts.responses += 1
        facts.tokens.update({**usage, "output_tokens": written})
        for n, block in enumerate(blocks, start=1):
            last = n == len(blocks)
            told = {**usage, "output_tokens": written if last else n, "service_tier": "standard"}
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": "claude-demo-1",
                "content": [block],
                "stop_reason": stop if last else None,
                "stop_sequence": None,
                "usage": told,
            }
            yield self._row("assistant", {"message": message, "requestId": request})

    def _row(self, kind: str, own: dict[str, Any]) -> dict[str, Any]:
        row = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/demo_user/project",
            "sessionId": self.facts.session_id,
            "version": "2.0.14",
            "gitBranch": "main",
            "type": kind,
            **own,
            "uuid": self._uuid(),
            "timestamp": self._stamp(),
        }
        self._parent = row["uuid"]
        return row

    def _line(self, row: dict[str, Any]) -> bytes:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self.facts.bytes += len(line)
        self.facts.lines[row["type"]] += 1
        return line

    def _stamp(self) -> str:
        self._now += timedelta(milliseconds=self._random.randint(5, 9000))
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _letters(self, count: int) -> str:
        return "".join(self._random.choices(string.ascii_lowercase, k=count))

    def _words(self, count: int) -> str:
        return " ".join(self._random.choices(self._pool, k=count))

    def _key(self) -> str:
        body = "".join(self._random.choices(string.ascii_letters + string.digits, k=48))
        self.facts.keys.append("-".join(("sk", "proj", body)))
        return self.facts.keys[-1]


def write(path: Path, size: int = SIZE, seed: int = 1) -> Facts:
    """Write a session of `size` bytes or a little more and return what is true of it."""
    session = Session(size, seed)
    with path.open("wb") as out:
        out.writelines(session.lines())
    return session.facts


def parse_size(text: str) -> int:
    """Return bytes of a number with an optional decimal unit (20MB, 1GB)."""
    number, unit = (text[:-2], text[-2:].upper()) if text[-2:].upper() in UNITS else (text, "")
    return int(float(number) * UNITS.get(unit, 1))


def main() -> int:
    """Write a session to a file; print what is true of it as JSON, without the planted keys."""
    parser = argparse.ArgumentParser(
        prog="scripts/generate-claude-session", description=__doc__.split("\n")[0]
    )
    parser.add_argument("out", type=Path, help="file to write")
    parser.add_argument("--size", type=parse_size, default=SIZE, help="bytes, or with KB, MB, GB (21MB)")
    parser.add_argument("--seed", type=int, default=1, help="other text for another number (1)")
    given = parser.parse_args()
    facts = write(given.out, given.size, given.seed)
    print(json.dumps({**vars(facts), "keys": len(facts.keys)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
