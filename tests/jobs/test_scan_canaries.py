"""No planted value, in no encoding, is in a byte of what leaves: exports, releases, reports, words."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from geode_traj.report import names
from geode_traj.scan.engine import Scanner
from tests.migrate import pipeline
from tests.support.secrets import CREDENTIALS, PERSONAL, core, make
from tests.support.transcripts import call

# Of personal data, what the rules know: an example's address is nobody's.
LEAVING = [kind for kind in PERSONAL if Scanner("publish").find(f"it is {make(kind)} .")]
PUBLISH = ["--profile", "publish"]
WORDS = ["--reviewer", "Demo", "--method", "read", "--scope", "demo", "--attestation", "ok"]


def canary(kind: str) -> str:
    return core(kind) if kind in CREDENTIALS else make(kind)


def spelled(text: str) -> Iterator[bytes]:
    """Yield a text as bytes in the ways that hide it from a search for it."""
    data = text.encode()
    yield data
    yield json.dumps(text)[1:-1].encode()
    yield json.dumps(json.dumps(text))[2:-2].encode()
    yield from (data.hex().encode(), data.hex().upper().encode())
    yield "".join(f"%{byte:02X}" for byte in data).encode()
    yield quote(text, safe="").encode()
    yield text.encode("utf-16-le")
    for shift in range(3):  # what surrounds it decides how base64 spells it
        inner = base64.b64encode(b"x" * shift + data)[4 if shift else 0 :]
        inner = inner[: len(inner) // 4 * 4 - 4]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: f"it is {text} .",
    "json": lambda text: json.dumps({"a": json.dumps({"b": text})}),
    "base64": lambda text: base64.b64encode(f"it is {text} .".encode()).decode(),
    "hex": lambda text: f"it is {text} .".encode().hex(),
    "percent": lambda text: "q=" + "".join(f"%{byte:02X}" for byte in text.encode()),
}


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Run the whole pipeline over everything that can be planted; return what came out of each step."""
    folder = tmp_path_factory.mktemp("canaries")
    kinds = (*CREDENTIALS, *LEAVING)
    rows: list[object] = [*pipeline.dialogue("s1", ended=False)]
    for number, kind in enumerate(kinds):
        for name, encoded in ENCODINGS.items():
            rows.append({"event": "user_message", "text": encoded(make(kind)), "ts": 1.8e9 + number})
            if name == "plain" and len(make(kind)) < 100:
                given = {"deep": [{encoded(make(kind)): 1}]}
                rows.append({"event": "tool_call", "tool": "t", "input": given, "ts": 1.8e9 + number})
                rows.append({"event": "tool_result", "tool": "t", "summary": "", "ts": 1.8e9 + number})
    torn = ["{torn " + " ".join(make(kind) for kind in CREDENTIALS)]
    pipeline.write_lines(folder / "in" / "s2.jsonl", [*pipeline.dialogue("s2"), *torn])
    rows.append({"event": "session_end", "ts": 1.9e9})
    pipeline.write_lines(folder / "in" / "s1.jsonl", rows)
    named = [folder / "names" / f"x-{make(kind)}" for kind in CREDENTIALS if _may_name(make(kind))]
    for path in named:
        pipeline.write_lines(path, ["clean"])
    came: dict[str, bytes] = {}
    for name, words in _steps(folder, named).items():
        stdout, stderr, code = call(words)
        assert code in (0, 1) or name.startswith("scan of"), (name, stderr)
        came[f"words of {name}"] = stdout + stderr
    out, review, staged = (folder / name for name in ("out", "review", "staged"))
    came["export"] = b"".join(path.read_bytes() for path in out.iterdir())
    for name in ("findings.jsonl", "decisions.jsonl", "signoff.json"):
        came[name] = (review / name).read_bytes()
    came["redacted"] = b"".join(path.read_bytes() for path in (review / "redacted").iterdir())
    came["redacted alone"] = (folder / "redacted.json").read_bytes()
    came["release"] = b"".join(path.read_bytes() for path in staged.rglob("*") if path.is_file())
    assert all(came[name] for name in ("export", "redacted", "release", "findings.jsonl"))
    return came


def _steps(folder: Path, named: list[Path]) -> dict[str, list[str]]:
    """Return the calls of the pipeline in order, and scans of all it left in every format."""
    given, store, out, review = (str(folder / name) for name in ("in", "s.db", "out", "review"))
    one = f"{out}/geode-session-s1.json"
    staged = ["--out", str(folder / "staged"), "--allow-replay-incomplete", "--policy", "unattended"]
    steps = {
        "migrate": ["migrate", given, "--store", store],
        "export": ["export", "--all", "--store", store, "--out", out],
        "start": ["review", "start", one, "--out", review, "--policy", "unattended"],
        "decide": ["review", "decide", review, "--auto"],
        "sign": ["review", "sign", review, *WORDS],
        "stage": ["release", "stage", "--reviewed", review, "--source", "demo", "--scope", "demo", *staged],
        "redact": ["redact", one, "--out", str(folder / "redacted.json"), "--policy", "unattended"],
    }
    gone = [str(path) + ".gone" for path in named]
    for form in names():
        steps[f"scan, {form}"] = ["scan", given, "--format", form]
        steps[f"scan of a store, {form}"] = [
            "scan",
            "--store",
            store,
            "--profile",
            "publish",
            "--format",
            form,
        ]
        steps[f"scan of names, {form}"] = ["scan", str(folder / "names"), *gone, "--format", form]
    return steps


def _may_name(text: str) -> bool:
    """Tell whether a text can be a part of a file's name."""
    return len(text) < 200 and not set(text) & set("/\0\n") and text.isprintable()


@pytest.mark.parametrize("kind", [*CREDENTIALS, *LEAVING])
def test_nothing_planted_leaves(kind: str, left: dict[str, bytes]) -> None:
    text = canary(kind)
    for where, data in left.items():
        local = where == "export"  # personal data leaves a store only through a review
        if local and kind in PERSONAL:
            continue
        for spelling in [text.encode(), json.dumps(text)[1:-1].encode()] if local else spelled(text):
            assert len(spelling) < 8 or spelling not in data, where
