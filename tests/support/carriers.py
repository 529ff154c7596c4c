"""One good transcript of each format, and ways to change the bytes that a record of it stands in.

They are inputs of fixture cases. Whatever a format keeps its records in (lines, one document, files of a
folder, cells of a database, members of an archive), what a change gets is the JSON that holds the record.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backports.zstd import zipfile

from . import archives, cases

Change = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Carrier:
    """A transcript: `place` below the case's input is what is imported, `part` in it what is changed.

    `text` is a string that a record holds as a member's value, alone. `held` tells in what the records are:
    `lines` of a file, one `document` with a list of them at the pointer `records`, an `entry` of several (a
    file, a cell, an archive's member).
    """

    format: str
    case: str
    place: str
    text: str
    held: Literal["lines", "document", "entry"]
    part: str = ""
    records: str = ""

    def make(self, out: Path, change: Change = bytes) -> Path:
        """Make the transcript, changed; return its path."""
        made = cases.render(cases.FIXTURES.parent / self.case, out) / "input"
        path = made / self.place
        if self.part.endswith((".json", ".jsonl")) and path.suffix == ".eval":
            self._repack(path, change)
        elif path.suffix == ".db":
            self._update(path, change)
        else:
            file = path / self.part if self.part else path
            file.write_bytes(change(file.read_bytes()))
        return path

    def _repack(self, path: Path, change: Change) -> None:
        with zipfile.ZipFile(path) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
        changed = [(name, {"raw": change(data) if name == self.part else data}) for name, data in members]
        archives.pack(path, changed)

    def _update(self, path: Path, change: Change) -> None:
        table, column = self.part.split(".")
        with closing(sqlite3.connect(path)) as db, db:
            query = f"SELECT rowid, CAST({column} AS BLOB) FROM {table} WHERE instr({column}, ?) ORDER BY 1"
            rowid, data = next(db.execute(query, [json.dumps(self.text)]))
            db.execute(
                f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE rowid = ?", [change(data), rowid]
            )

    def says(self, written: bytes, *members: bytes) -> Change:
        """Return the change that puts other JSON in place of the text, and members beside it."""
        old = json.dumps(self.text, ensure_ascii=False).encode()
        new = b",".join([written, *members])

        def change(data: bytes) -> bytes:
            at = data.find(old)
            while at >= 0 and data[at + len(old) : at + len(old) + 2].lstrip()[:1] == b":":  # a key
                at = data.find(old, at + 1)
            assert at >= 0, (self.text, data[:200])
            return data[:at] + new + data[at + len(old) :]

        return change


def _lines(name: str, case: str, place: str, text: str, part: str = "") -> Carrier:
    return Carrier(name, case, place, text, "lines", part)


def _document(name: str, case: str, place: str, text: str, records: str) -> Carrier:
    return Carrier(name, case, place, text, "document", records=records)


def _entry(name: str, case: str, place: str, text: str, part: str) -> Carrier:
    return Carrier(name, case, place, text, "entry", part)


CARRIERS = (
    _document("atif", "atif/calls", "trajectory.json", "go", "/steps"),
    _lines(
        "claude-code",
        "claude-code/call-ids-reused",
        "5f0c2a10-0000-4000-8000-000000000001.jsonl",
        "Do the next thing.",
    ),
    _document(
        "claude-code-loglines",
        "claude-code-loglines/session_fail",
        "visit.json",
        "Add two numbers.",
        "/loglines",
    ),
    _lines("codex", "codex/calls", "rollout.jsonl", "go"),
    _lines("copilot-cli", "copilot-cli/session", "events.jsonl", "Looking."),
    _lines("cursor", "cursor/results", "7c000000-0000-4000-8000-000000000002.jsonl", "go"),
    _lines("gemini-cli", "gemini_cli/calls", "session-a.jsonl", "go"),
    _document("gemini-cli-json", "gemini_cli/document", "session-a.json", "note", "/messages"),
    _lines("geode-legacy", "legacy/calls-with-ids", "ids.jsonl", "Look."),
    _lines("geode-run-events", "geode-run-events/run-timeline", "events.jsonl", "late"),
    _lines("hermes-exploration", "hermes/exploration_fail", "exploration_trees.jsonl", "baseline-v1"),
    _document("hermes-export", "hermes/export-document", "one.json", "q", "/messages"),
    _lines("hermes-export", "hermes/export-lines_fail", "export.jsonl", "9"),
    _lines("hermes-gateway", "hermes/gateway", "20260901_100000_ab12cd.jsonl", "list"),
    _lines("hermes-run-events", "hermes/run-events", "events.jsonl", "Look first."),
    _document("hermes-session-log", "hermes/session-log", "session_a.json", "hi", "/messages"),
    _entry("hermes-state", "hermes/state-session", "state.db", "ls", "messages.tool_calls"),
    _lines("hermes-trajectory", "hermes/trajectory", "samples.jsonl", "list"),
    _lines("hf-sts", "hf_sts/session", "a.jsonl", "go"),
    _document("inspect-eval", "inspect_eval/document_fail", "log.json", "go", "/samples"),
    _entry("inspect-eval", "inspect_eval/run", "run.eval", "Explain x and y.", "samples/1_epoch_1.json"),
    _document(
        "mini-swe-agent", "mini-swe-agent/calls", "demo__calls-1.traj.json", "Fix the demo.", "/messages"
    ),
    _lines("openai-messages", "openai_messages/conversations", "chats.jsonl", "go"),
    _entry("opencode", "opencode/database", "opencode.db", "Read a.txt.", "part.data"),
    _document("opencode-export", "opencode/export", "session.jsonl", "Read a.txt.", "/messages"),
    _entry("opencode-storage", "opencode/storage", "storage", "Read a.txt.", "part/msg_1/prt_11.json"),
    _document("openhands", "openhands/v0", "run-1.json", "a.txt", ""),
    _entry("openhands", "openhands/v0-folder", "sess", "Fix it.", "events/0.json"),
    _lines("openhands-stream", "openhands-stream/outputs", "output.jsonl", "Fix it."),
    _lines("pi", "pi/calls", "a.jsonl", "go"),
    _lines("rind", "rind/pairing", "pairs", "go", "messages.jsonl"),
    _lines("rind-llm-trace", "rind-llm-trace/stream", "20260901T100001_stream_0a1b2c3d.jsonl", "Use "),
    _lines("rind-usage", "rind-usage/ledger", "usage.jsonl", "demo-model"),
    _document("skellyspeak-archive", "skellyspeak/exchange", "ai-traces.json", "hello there", "/runs"),
    _document("skellyspeak-chat", "skellyspeak/chat", "1790000000-0a1b2c3d/session.json", "hey", "/turns"),
    _document(
        "skellyspeak-export", "skellyspeak/export", "trace-exports/selected.json", "Once.", "/data/traces"
    ),
    _document("skellyspeak-skills", "skellyspeak/skills", "skill-evidence.json", "hey", "/records"),
    _lines("stimm", "stimm/lifecycles", "worker.log", "Ask which city they live in."),
    _document("swe-agent", "swe-agent/calls", "demo__calls-1.traj", "Fix the demo.", "/history"),
    _document("tau2", "tau2/results", "run-1/results.json", "My bill is wrong.", "/simulations"),
    _document("tau2", "tau2/alone", "sim.json", "My bill is wrong.", "/messages"),
)
