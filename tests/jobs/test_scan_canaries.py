"""No planted value, in no encoding, is in a byte of what leaves: exports, releases, reports, words."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from geode_traj.jobs import scan_files, scan_store
from geode_traj.report import names, render
from geode_traj.scan.engine import Scanner
from tests.migrate import pipeline
from tests.support.secrets import CREDENTIALS, PERSONAL, core, make
from tests.support.transcripts import call

# Of personal data, what the rules know: an example's address is nobody's.
LEAVING = [kind for kind in PERSONAL if Scanner("publish").find(f"it is {make(kind)} .")]
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
    source = pipeline.write_lines(folder / "in" / "s1.jsonl", rows)
    store, out, review, staged = (str(folder / name) for name in ("s.db", "out", "review", "staged"))
    steps = {
        "migrate": ["migrate", str(source.parent), "--store", store],
        "export": ["export", "--all", "--store", store, "--out", out],
        "sign": ["review", "sign", f"{out}/geode-session-s1.json", "--out", review, *WORDS],
        "stage": ["release", "stage", "--reviewed", review, "--source", "demo", "--scope", "demo"],
        "scan": ["scan", str(source.parent)],
    }
    steps["stage"] += ["--out", staged, "--allow-replay-incomplete"]
    came: dict[str, bytes] = {}
    for name, words in steps.items():
        stdout, stderr, code = call(words)
        assert code in (0, 1), (name, stderr)
        came[f"words of {name}"] = stdout + stderr
    report, _ = scan_files.scan(sorted(source.parent.iterdir()), profile="publish")
    kept = scan_store.scan_store(Path(store), Scanner("publish")).report
    for name in names():
        came[f"{name} report"] = "\n".join([*render(report, name), *render(kept, name)]).encode()
    came["export"] = b"".join(path.read_bytes() for path in Path(out).iterdir())
    came["findings"] = Path(review, "findings.jsonl").read_bytes()
    came["redacted"] = b"".join(path.read_bytes() for path in Path(review, "redacted").iterdir())
    staged_files = [path for path in Path(staged).rglob("*") if path.is_file()]
    came["release"] = b"".join(path.read_bytes() for path in staged_files)
    assert staged_files
    return came


@pytest.mark.parametrize("kind", [*CREDENTIALS, *LEAVING])
def test_nothing_planted_leaves(kind: str, left: dict[str, bytes]) -> None:
    text = canary(kind)
    for where, data in left.items():
        local = where == "export"  # personal data leaves a store only through a review
        if local and kind in PERSONAL:
            continue
        for spelling in [text.encode(), json.dumps(text)[1:-1].encode()] if local else spelled(text):
            assert len(spelling) < 8 or spelling not in data, where
