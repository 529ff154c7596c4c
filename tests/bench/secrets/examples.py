"""Examples of other tools' rules, out of the sources of their packages: nobody tuned ours to them.

A set has texts that hold a secret and texts that only look like it. The sources are fetched, never stored.
"""

from __future__ import annotations

import ast
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.secrets.peers import PEERS, source


@dataclass(frozen=True, slots=True)
class Examples:
    """The texts of one rule set: those that hold a secret, and those that hold none."""

    name: str
    secret: list[str]
    innocent: list[str]


_GO_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`')
_GO_LIST: Final = re.compile(r"\b(tps|fps) :?= (?:append\((?:tps|fps),|\[\]string\{)")
_GO_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`|//[^\n]*|[{}()\[\],+]|[^\s"`{}()\[\],+/]+|/')


def _go(text: str) -> Iterator[tuple[str, str]]:
    """Yield the plain string literals of the lists `tps` and `fps` of a Go file; none that is computed."""
    for found in _GO_LIST.finditer(text):
        depth, element = 0, list[str]()
        for token in _GO_TOKEN.finditer(text, found.end()):
            word = token.group()
            if depth == 0 and word in (",", "}", ")"):
                if len(element) == 1 and _GO_STRING.fullmatch(element[0]):
                    yield found[1], _unquoted(element[0])
                element = []
                if word != ",":
                    break
            elif not word.startswith("//"):
                depth += (word in ("{", "(", "[")) - (word in ("}", ")", "]"))
                element.append(word)


def _unquoted(literal: str) -> str:
    return literal[1:-1] if literal[0] == "`" else str(ast.literal_eval(literal))


def _betterleaks(archive: tarfile.TarFile) -> Examples:
    found: dict[str, list[str]] = {"tps": [], "fps": []}
    for name, text in _files(archive, lambda name: "/cmd/generate/config/rules/" in name):
        if name.endswith(".go"):
            for which, example in _go(text):
                found[which].append(example)
    return Examples("betterleaks", found["tps"], found["fps"])


def _agentsweep(archive: tarfile.TarFile) -> Examples:
    """Its own copies of the rules of gitleaks, with an example each."""
    ((_, text),) = _files(archive, lambda name: name.endswith("tests/test_ported_rules.py"))
    secret = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "FIXTURES":
            assert isinstance(node.value, ast.Dict)
            secret = [_constant(value) for value in node.value.values]
    return Examples("agentsweep", secret, [])


def _constant(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        if isinstance(node.op, ast.Mult) and isinstance(right, ast.Constant):
            return _constant(left) * int(str(right.value))
        return _constant(left) + _constant(right)
    assert isinstance(node, ast.Constant)
    return str(node.value)


def _redact_transcripts(archive: tarfile.TarFile) -> Examples:
    found: dict[str, list[str]] = {"redacted": [], "unchanged": [], "known_miss": []}
    for _, text in _files(archive, lambda name: "/vectors/" in name and name.endswith(".json")):
        for vector in json.loads(text)["vectors"]:
            given = vector["input"] if "input" in vector else "".join(vector["chunks"])
            personal = all(not rule.startswith("secret.") for rule in vector.get("rules", ["secret."]))
            if not personal:
                found[vector["expect"]].append(given)
    return Examples("redact-transcripts", found["redacted"] + found["known_miss"], found["unchanged"])


def _files(archive: tarfile.TarFile, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    for member in archive:
        stream = archive.extractfile(member) if member.isfile() and wanted(member.name) else None
        if stream is not None:
            yield member.name, stream.read().decode()


SETS: Final = {
    "betterleaks": _betterleaks,
    "agentsweep": _agentsweep,
    "redact-transcripts": _redact_transcripts,
}


def load(name: str, *, fetch: bool = True) -> Examples:
    """Return one set; raise `AbsentError` where its source cannot be had, or is not there and not `fetch`."""
    (peer,) = (peer for peer in PEERS if peer.name == name)
    path: Path = source(peer, fetch=fetch)
    with tarfile.open(path) as archive:
        return SETS[name](archive)
