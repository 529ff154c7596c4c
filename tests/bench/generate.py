"""Legacy GEODE session transcripts that look like real ones, the same bytes for the same seed.

Prose in several scripts, code, JSON arguments and tool output, at `EVENT_BYTES` a line on average. About one
event in a hundred holds what the import's filter must look at twice, one in twenty-five a home path: the
shares that real transcripts have.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.bench.words import CODE, DECORATED, FILES, NAMES, OUTPUT, WIDE, WORDS

EVENT_BYTES: Final = 1024
START: Final = 1_772_000_000.0
_POOL: Final = 400
# Mean characters of a text, such that a line with its frame and escapes comes to EVENT_BYTES.
_TEXT: Final = 705


class Writer:
    """Writes sessions; one writer with one seed always writes the same."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._prose = [self._sentence() for _ in range(_POOL)]
        self._code = [self._filled(self._random.choice(CODE)) for _ in range(_POOL)]
        self._output = [self._filled(self._random.choice(OUTPUT)) for _ in range(_POOL)]
        self._time = START

    def session(self, session_id: str, size: int) -> Iterator[bytes]:
        """Yield the lines of one ended session of `size` bytes or a little more."""
        written = seq = calls = 0
        for row in self._rows(session_id):
            seq += 1
            if row["event"] == "tool_call":
                calls += 1
            if row["event"] in ("tool_call", "tool_result"):
                row["call_id"] = f"call_{session_id}_{calls:06}"
            line = self._line(row, seq)
            written += len(line)
            yield line
            if written >= size and row["event"] == "cost":
                break
        end = {"event": "session_end", "duration_s": 61.5, "total_cost": 0.25, "rounds": calls}
        yield self._line({**end, "status": "ok"}, seq + 1)

    def _rows(self, session_id: str) -> Iterator[dict[str, Any]]:
        yield {
            "event": "session_start",
            "model": "demo-model-1",
            "provider": "demo",
            "session_id": session_id,
        }
        choose = self._random.random
        while True:
            yield {"event": "user_message", "text": self._message(0.5)}
            for _ in range(self._random.randrange(2, 9)):
                if choose() < 0.4:
                    yield {"event": "assistant_message", "text": self._message(1.3)}
                tool, given = self._call()
                as_text = choose() < 0.3
                yield {"event": "tool_call", "tool": tool, "input": _json(given) if as_text else given}
                status = "error" if choose() < 0.1 else "ok"
                yield {"event": "tool_result", "tool": tool, "status": status, "summary": self._result()}
            yield {"event": "assistant_message", "text": self._message(1.3)}
            yield {
                "event": "cost",
                "model": "demo-model-1",
                "input_tokens": self._random.randrange(100_000),
                "output_tokens": self._random.randrange(4000),
                "cost_usd": round(choose(), 6),
            }

    def _line(self, row: dict[str, Any], seq: int) -> bytes:
        self._time += self._random.random() * 4
        return _json({**row, "seq": seq, "ts": self._time}).encode() + b"\n"

    def _sentence(self) -> str:
        words = self._random.choices(WORDS, k=self._random.randrange(6, 22))
        if self._random.random() < 0.3:
            words[3:3] = self._random.choices(WIDE, k=self._random.randrange(1, 5))
        if self._random.random() < 0.3:
            words.insert(2, f"`{self._random.choice(NAMES)}`")
        return " ".join(words).capitalize() + ". "

    def _filled(self, template: str) -> str:
        choice, number = self._random.choice, self._random.randrange
        name = choice(NAMES)
        return template.format(
            name=name, camel=name.title().replace("_", ""), word=choice(WORDS[-60:]), wide=choice(WIDE),
            file=choice(FILES), n=number(9000), m=number(9000), d=number(1, 29), q=number(10),
            dots="." * number(5, 60),
        )  # fmt: skip

    def _of(self, pool: list[str], share: float) -> str:
        """Return pieces of a pool that come to about `share` of the mean text."""
        wanted = int(_TEXT * share * (0.3 + 1.4 * self._random.random()))
        parts, length = [], 0
        while length < wanted:
            parts.append(self._random.choice(pool))
            length += len(parts[-1])
        return "".join(parts)

    def _message(self, share: float) -> str:
        text = self._of(self._prose, share * 0.7)
        block = self._of(self._code, share * 0.3)
        chance = self._random.random()
        if chance < 0.02:
            block = self._filled(DECORATED) + block
        elif chance < 0.05:
            text += "The request sends max_tokens=512 and reads its token: str from the environment. "
        return f"{text}\n\n```\n{block}```\n"

    def _call(self) -> tuple[str, dict[str, Any]]:
        chance = self._random.random()
        file = self._random.choice(FILES)
        if chance < 0.1:
            file = f"/home/demo_user/{file}"
        if chance < 0.35:
            return "read_file", {"path": file, "offset": self._random.randrange(900), "limit": 200}
        if chance < 0.65:
            return "edit_file", {
                "path": file,
                "edits": [{"old": self._of(self._code, 0.8), "new": self._of(self._code, 0.9), "all": False}],
                "reason": self._random.choice(self._prose),
            }
        if chance < 0.8:
            return "write_file", {"path": file, "content": self._of(self._code, 1.8), "mode": None}
        command = f"cd src && python -m pytest -q {file} | tail -n {self._random.randrange(60)}"
        return "run_command", {"command": command, "timeout_s": 12.5, "env": {"LANG": "C.UTF-8"}}

    def _result(self) -> str:
        return self._of(self._output, 1.5)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write_file(path: Path, size: int, *, sessions: int = 1, seed: int = 1) -> None:
    """Write one transcript of about `size` bytes that holds `sessions` sessions one after the other."""
    writer = Writer(seed)
    with path.open("wb") as out:
        for number in range(sessions):
            out.writelines(writer.session(f"bench-{number:04}", size // sessions))


def write_folder(folder: Path, size: int, *, files: int, seed: int = 1) -> None:
    """Write the sessions of `write_file` as one file each."""
    folder.mkdir()
    writer = Writer(seed)
    for number in range(files):
        session_id = f"bench-{number:04}"
        with (folder / f"{session_id}.jsonl").open("wb") as out:
            out.writelines(writer.session(session_id, size // files))
