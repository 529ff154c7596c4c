"""Golden transcripts of the command line: readable files that are also run.

`fixtures/cli/*.txt`: what the case shows, a blank line, then steps in any number:

    @ case NAME              make the legacy case of that name real in ./NAME
    @ file PATH              make a file; its lines follow, each after `+ `
    @ append PATH            add lines to a file
    @ replace PATH OLD NEW   replace a text that the file holds
    @ key PATH NAME          make an Ed25519 key pair, the same one for the same path
    @ geode-store PATH       make the database of a GEODE installation
    @ sql PATH STATEMENT     run a statement on a database
    @ busy PATH              hold a database's write lock until the case ends
    @ reader PATH            hold a database's read snapshot until the case ends
    @ release                let go of all that is held
    @ fifo PATH              make a named pipe

    $ geode-traj VERB …      run a command; `$ A | B` pipes, `cat`, `ls`, `rm` and `sha256` are known
    < a line of its stdin
    | a line of its stdout
    ! a line of its stderr
    = its exit code

Words may be quoted as in a shell; in them `\\xNN` and `\\uNNNN` stand for characters, and a path with
`/*` in it for what it matches. The folder that the case runs in is written `<here>`, the program's version
`<version>`, the rules for secrets `<rules>`, a review's id `<review>`. `run` returns the transcript with what
really came out; it must equal the file.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from geode_traj import __version__
from geode_traj.attest.keyfile import public_line
from geode_traj.cli.main import main
from geode_traj.scan.rules import packaged
from tests.reference.store import create_store

from .cases import FIXTURES as LEGACY
from .cases import render

TRANSCRIPTS = LEGACY.parent / "cli"
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})")
_OUTPUT = ("| ", "! ", "= ", "|", "!")


def transcripts() -> list[Path]:
    """Return the transcript files, sorted by name."""
    return sorted(TRANSCRIPTS.glob("*.txt"))


def exits(text: str) -> Iterator[tuple[list[str], int]]:
    """Yield the arguments and the exit code of each single command in a transcript."""
    words: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            words = _words(line[2:])
        elif line.startswith("= ") and words[0] == "geode-traj" and "|" not in words:
            yield words[1:], int(line[2:])


def run(text: str, here: Path) -> str:
    """Run a transcript in the folder `here`, which is the current one; return it with the real output."""
    title, _, body = text.partition("\n\n")
    out = [title, ""]
    steps = [step for step in re.split(r"\n(?=[$@] )|\n\n", body.rstrip("\n")) if step]
    with ExitStack() as held:
        for step in steps:
            given = [line for line in step.split("\n") if not line.startswith(_OUTPUT)]
            separate = step.startswith("$ ") or (out[-1] != "" and not out[-1].startswith(("@ ", "+ ")))
            out += ([""] if separate and out[-1] != "" else []) + given
            if step.startswith("@ "):
                _set_up(_words(given[0][2:]), [line[2:] for line in given[1:]], held)
            else:
                stdin = "".join(f"{line[2:]}\n" for line in given[1:]).encode()
                out += _shown(*_pipeline(_words(given[0][2:]), stdin), here)
    return "\n".join(out) + "\n"


def _words(line: str) -> list[str]:
    words = [
        _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), word) for word in shlex.split(line)
    ]
    return [
        name for word in words for name in (sorted(map(str, Path().glob(word))) if "/*" in word else [word])
    ]


def _shown(stdout: bytes, stderr: bytes, code: int, here: Path) -> list[str]:
    lines = []
    for mark, data in (("|", stdout), ("!", stderr)):
        shown = data.decode("utf-8", "backslashreplace").replace(str(here), "<here>")
        shown = shown.replace(packaged().name, "<rules>")
        shown = re.sub(r'"review_id": "[0-9a-f]{32}"', '"review_id": "<review>"', shown)  # of rules and key
        shown = shown.replace(f'"{__version__}"', '"<version>"').replace(f"j {__version__}", "j <version>")
        lines += [f"{mark} {line}" if line else mark for line in shown.split("\n")[: None if shown else 0]]
        if lines and lines[-1] == mark:
            lines.pop()  # what stands after the last line end
    return [*lines, f"= {code}"]


def _pipeline(words: list[str], stdin: bytes) -> tuple[bytes, bytes, int]:
    errors = b""
    command: list[str] = []
    for word in [*words, "|"]:
        if word != "|":
            command.append(word)
            continue
        stdin, stderr, code = _command(command, stdin)
        errors += stderr
        command = []
    return stdin, errors, code


def _command(words: list[str], stdin: bytes) -> tuple[bytes, bytes, int]:
    name, *arguments = words
    if name == "geode-traj":
        return call(arguments, stdin)
    if name == "cat":
        return b"".join(Path(path).read_bytes() for path in arguments), b"", 0
    if name == "sha256":
        return b"".join(hashlib.sha256(Path(p).read_bytes()).hexdigest().encode() for p in arguments), b"", 0
    if name == "rm":
        for path in arguments:
            Path(path).unlink()
        return b"", b"", 0
    assert name == "ls", name
    found = sorted(
        str(path.relative_to(root))
        for root in map(Path, arguments)
        for path in root.rglob("*")
        if path.is_file()
    )
    return "".join(f"{path}\n" for path in found).encode("utf-8", "backslashreplace"), b"", 0


def call(arguments: list[str], stdin: bytes = b"") -> tuple[bytes, bytes, int]:
    """Run the command line in this process; return stdout, stderr and the exit code."""
    saved = sys.stdin, sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8", write_through=True) for data in (stdin, b"", b"")]
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        code = main(arguments)
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved
    stdout, stderr = (stream.detach().getvalue() for stream in streams[1:])  # type: ignore[attr-defined]
    return stdout, stderr, code


def _set_up(words: list[str], content: list[str], held: ExitStack) -> None:
    what, *values = words
    if what == "release":
        held.close()
        return
    path = Path(values[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "case":
        render(LEGACY / values[0], Path())
    elif what in ("file", "append"):
        with path.open("wb" if what == "file" else "ab") as stream:
            stream.write("".join(f"{line}\n" for line in content).encode())
    elif what == "replace":
        text = path.read_text("utf-8")
        assert values[1] in text, f"{path} does not hold {values[1]}"
        path.write_text(text.replace(values[1], values[2]), "utf-8")
    elif what == "key":
        private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(values[0].encode()).digest())
        form = serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH
        path.write_bytes(private.private_bytes(*form, serialization.NoEncryption()))
        path.chmod(0o600)
        public = private.public_key().public_bytes_raw()
        path.with_name(path.name + ".pub").write_text(public_line(public, values[1]) + "\n", "utf-8")
    elif what == "geode-store":
        create_store(path)
    elif what == "sql":
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(values[1])
    elif what in ("busy", "reader"):
        db = sqlite3.connect(path, isolation_level=None)
        held.callback(db.close)
        db.execute("BEGIN IMMEDIATE" if what == "busy" else "BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    else:
        assert what == "fifo", what
        os.mkfifo(path)
