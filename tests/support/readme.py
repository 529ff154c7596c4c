"""The README's console blocks and tables, run and compared, or written anew.

`python -m tests.support.readme` rewrites README.md from what the commands print now.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from geode_traj.cli.main import root
from geode_traj.export.ways.base import all_ways
from geode_traj.sources.base import all_sources

from .cases import render

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_TABLE = re.compile(r"(?<=<!-- help -->\n).*?(?=<!-- /help -->)", re.DOTALL)
_FORMATS = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)
# What differs from run to run: new keys.
_VARIES = (
    (re.compile(r"SHA256:[A-Za-z0-9+/]{43}"), "SHA256:…"),
    (re.compile(r"ssh-ed25519 [A-Za-z0-9+/=]+"), "ssh-ed25519 …"),
)


def written() -> str:
    """Return README.md as it should be: every command's output, the tables of commands and formats."""
    text = _TABLE.sub(lambda _: _table(), README.read_text("utf-8"))
    text = _FORMATS.sub(lambda _: _formats(), text)
    with tempfile.TemporaryDirectory() as folder:
        case = render(ROOT / "fixtures" / "demo", Path(folder))
        (case / "key").write_text("ab" * 32 + "\n")
        return _BLOCK.sub(lambda block: _run(block[0], case), text)


def _table() -> str:
    context = click.Context(root)
    rows = [f"| `{name}` | {_help(context, name)} |\n" for name in root.list_commands(context)]
    return "".join(["| command | what it does |\n", "|---|---|\n", *rows])


def _formats() -> str:
    reads = [(source.name, source.reads) for source in all_sources().values() if not source.no_transcript]
    writes = [("geode", "geode.trajectory@1"), *((way.name, way.writes) for way in all_ways().values())]
    rows = [f"| {what} | `{name}` | {text} |\n" for what, found in (("reads", reads), ("writes", writes))
            for name, text in found]  # fmt: skip
    return "".join(["| | format | what |\n", "|---|---|---|\n", *rows])


def _help(context: click.Context, name: str) -> str:
    command = root.get_command(context, name)
    assert command is not None
    return command.get_short_help_str(limit=200)


def _run(block: str, folder: Path) -> str:
    out = []
    for line in block.splitlines():
        if line.startswith("$ "):
            out.append(line + "\n" + _shown(line[2:], folder))
    return "".join(out)


def _shown(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "PATH": path, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = done.stdout.decode().replace(str(folder) + "/", "")
    for pattern, shown in _VARIES:
        text = pattern.sub(shown, text)
    return text + (f"(exit code {done.returncode})\n" if done.returncode else "")


if __name__ == "__main__":
    README.write_text(written(), "utf-8")
