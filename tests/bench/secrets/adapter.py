"""Runs one tool over texts: `PYTHON adapter.py TOOL TEXTS JOINED`, with the Python of the tool's environment.

TEXTS is a JSON list of strings. With JOINED `1` a tool that reads files has all texts in one file, else
each in its own. Prints {"seconds": of one core, "findings": [[index of the text, rule, what was found], …]}.
Imports nothing of this project; loading a tool and its rules is not counted.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Row = tuple[int, str, str]
Tool = Callable[[list[str]], Iterable[Row]]


def _cpu() -> float:
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


STARTS: list[float] = []
"""Seconds that a program of its own takes to start, where it is one."""


class Files:
    """Texts as one file or as one each; `index` tells which text a line of a file belongs to."""

    def __init__(self, texts: list[str], folder: str, joined: bool) -> None:
        self.paths: list[Path] = []
        self._starts: list[list[int]] = []
        groups = [texts] if joined else [[text] for text in texts]
        for number, group in enumerate(groups):
            path = Path(folder, f"{number}.txt")
            starts, line, parts = [], 1, []
            for text in group:
                starts.append(line)
                parts.append(text + "\n\n")
                line += text.count("\n") + 2
            path.write_bytes("".join(parts).encode("utf-8", "replace"))
            self.paths.append(path)
            self._starts.append(starts)

    def index(self, path: str, line: int) -> int:
        number = int(Path(path).stem)
        return number + max(0, bisect_right(self._starts[number], line) - 1)


def detect_secrets(files: Files) -> Tool:
    from detect_secrets import SecretsCollection
    from detect_secrets.settings import default_settings

    def run(_: list[str]) -> Iterator[Row]:
        for path in files.paths:
            found = SecretsCollection()
            with default_settings():
                found.scan_file(str(path))
            for _name, one in found:
                yield files.index(str(path), one.line_number), one.type, one.secret_value or ""

    return run


def kingfisher(files: Files) -> Tool:
    from kingfisher_sdk import Scanner

    scanner = Scanner()

    def run(texts: list[str]) -> Iterator[Row]:
        for index, text in enumerate(texts):
            scanner.reset_dedup()
            for one in scanner.scan(text.encode("utf-8", "replace")):
                if one.visible:
                    yield index, one.rule_id, one.secret

    return run


def betterleaks(files: Files) -> Tool:
    def command(what: Path, report: Path) -> list[str]:
        quiet = ["--no-banner", "--silent", "--log-level", "error", "--exit-code", "0"]
        return [str(Path(sys.executable).with_name("betterleaks")), str(what), "-o", str(report), *quiet]

    def rows(report: bytes) -> Iterator[Row]:
        for one in json.loads(report or "{}").get("findings") or ():
            place = one["location"]
            yield files.index(place["path"], place["start_line"]), one["rule_id"], one["match"]["value"]

    return _program(files, command, rows)


def gitleaks(files: Files) -> Tool:
    def command(what: Path, report: Path) -> list[str]:
        options = ["--max-decode-depth", "5", "--no-banner", "--log-level", "error", "--exit-code", "0"]
        program = str(Path(sys.executable).with_name("gitleaks"))
        return [program, "dir", str(what), "--report-path", str(report), *options]

    def rows(report: bytes) -> Iterator[Row]:
        for one in json.loads(report or "[]") or ():
            yield files.index(one["File"], one["StartLine"]), one["RuleID"], one["Secret"]

    return _program(files, command, rows)


def _program(
    files: Files, command: Callable[[Path, Path], list[str]], rows: Callable[[bytes], Iterator[Row]]
) -> Tool:
    """Return a tool that is a program over a folder; what it takes to start is not counted."""

    def scan(what: Path) -> bytes:
        with TemporaryDirectory() as made:
            report = Path(made, "report.json")
            subprocess.run(command(what, report), check=True, stdout=subprocess.DEVNULL)
            return report.read_bytes() if report.exists() else b""

    with TemporaryDirectory() as empty:
        Path(empty, "0.txt").write_text("nothing\n")
        began = _cpu()
        scan(Path(empty))
        STARTS.append(_cpu() - began)

    def run(texts: list[str]) -> Iterator[Row]:
        yield from rows(scan(files.paths[0].parent))

    return run


def credsweeper(files: Files) -> Tool:
    from credsweeper.app import CredSweeper
    from credsweeper.file_handler.text_content_provider import TextContentProvider

    sweeper = CredSweeper()

    def run(texts: list[str]) -> Iterator[Row]:
        for path in files.paths:
            found = sweeper.file_scan(TextContentProvider(path))
            sweeper.credential_manager.set_credentials(list(found))
            sweeper.post_processing(None)
            for one in sweeper.credential_manager.get_credentials():
                for data in one.line_data_list:
                    yield files.index(str(path), data.line_num or 1), one.rule_name, data.value or ""

    return run


def dataclaw(files: Files) -> Tool:
    from dataclaw import secrets

    def run(texts: list[str]) -> Iterator[Row]:
        for index, text in enumerate(texts):
            if not secrets.should_skip_large_binary_string(text):
                for one in secrets.scan_text(text):
                    yield index, one["type"], one["match"]

    return run


def agentsweep(files: Files) -> Tool:
    from agentsweep.scanner import scan_text

    def run(texts: list[str]) -> Iterator[Row]:
        for index, text in enumerate(texts):
            for one in scan_text(text):
                yield index, one.rule, one.value

    return run


def redact_transcripts(files: Files) -> Tool:
    from redact_transcripts import Redactor

    redactor = Redactor()
    marker = re.compile(r"\[REDACTED:([a-z0-9_.]+)\]")

    def run(texts: list[str]) -> Iterator[Row]:
        for index, text in enumerate(texts):
            kept = marker.split(redactor.redact_text(text))  # text, rule, text, rule, …, text
            place = len(kept[0])
            for rule, rest in zip(kept[1::2], kept[2::2], strict=True):
                end = text.find(rest, place) if rest else len(text)
                end = len(text) if end < 0 else end
                yield index, rule, text[place:end]
                place = end + len(rest)

    return run


def main(name: str, texts_path: str, joined: str) -> None:
    texts: list[str] = json.loads(Path(texts_path).read_bytes())
    makers: dict[str, Any] = {key.replace("_", "-"): value for key, value in globals().items()}
    with TemporaryDirectory() as made:
        files = Files(texts, made, joined == "1")
        tool = makers[name](files)
        began = _cpu()
        findings = list(tool(texts))
        seconds = _cpu() - began - sum(STARTS)
    print(json.dumps({"seconds": seconds, "findings": findings}))


if __name__ == "__main__":
    main(*sys.argv[1:])
