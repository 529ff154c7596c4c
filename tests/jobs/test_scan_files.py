from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from pathlib import Path

import pytest

from geode_traj.codec.framed import frame, join
from geode_traj.contract.encoding import encode
from geode_traj.jobs import scan_files
from tests.support.secrets import make

TOKEN = make("github_token")


def scanned(path: Path, data: bytes) -> tuple[int, str, dict]:
    path.write_bytes(data)
    report, code = scan_files.scan([path], profile="publish")
    (entry,) = report.entries
    return code, entry.headline, entry.data


def found(data: dict) -> list[tuple[str, int | None, str]]:
    return [(f["class"], f["place"].get("line"), f["place"]["pointer"]) for f in data["findings"]]


TEXTS = {
    "text": (f"one\nsay {TOKEN}\n", [("github_token", 2, "")]),
    "lines": (f'{{"a": 1}}\n{{"b": "{TOKEN}"}}\n', [("github_token", 2, "/b")]),
    "whole": (json.dumps({"a": {"b": TOKEN}}, indent=1), [("github_token", None, "/a/b")]),
    "clean": ("nothing here\n", []),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_in_any_marked_encoding(name: str, encoding: str, tmp_path: Path) -> None:
    text, expected = TEXTS[name]
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    code, headline, data = scanned(tmp_path / "x", (mark + text).encode(encoding))
    assert found(data) == expected
    assert (code, data["quarantined"]) == (1 if expected else 0, False)
    assert headline == ("1 high" if expected else "clean")
    assert data["bytes"] == (tmp_path / "x").stat().st_size


NO_TEXT = {
    "gzip": (gzip.compress(TOKEN.encode()), "it is no UTF-8 text"),
    "unmarked UTF-16": (f"say {TOKEN}".encode("utf-16-le"), "it holds NUL characters"),
    "UTF-32": ("hello".encode("utf-32"), "it holds NUL characters"),
    "Latin-1": ("café au lait".encode("latin-1"), "it is no UTF-8 text"),
    "NUL": (b"a\0b\n", "it holds NUL characters"),
    "bad JSON line": (b'{"a": 1}\n{"a": "\xff"}\n', "it is no UTF-8 text"),
    "bad JSON": (b'{"a":\n"\xff"}\n', "it is no UTF-8 text"),
    "half a character": ("hé".encode("utf-16") + b"x", "it is no UTF-16 text"),
    "half a pair": ("\ufeff\ud800".encode("utf-16-le", "surrogatepass"), "it is no UTF-8 text"),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_no_text_never_counts_as_clean(name: str, tmp_path: Path) -> None:
    given, why = NO_TEXT[name]
    code, headline, data = scanned(tmp_path / "x", given)
    assert (code, data["quarantined"]) == (3, True)
    assert "(QUARANTINED: " in headline and why in headline


def test_what_is_no_text_is_searched_all_the_same(tmp_path: Path) -> None:
    code, _, data = scanned(tmp_path / "x", b"\xff\n" + TOKEN.encode() + b"\n")
    assert code == 3 and found(data) == [("github_token", 2, "")]


def trajectory(events: list[dict], **head: object) -> bytes:
    opening, closing = frame({"schema_id": "geode.trajectory@1", **head}, encode)
    return b"".join([opening, *join(map(encode, events)), closing])


def test_our_own_trajectories_are_read_by_their_lines(tmp_path: Path) -> None:
    given = trajectory([{"a": 1}, {"b": [TOKEN]}], provenance={"note": TOKEN}, extra={"x": TOKEN})
    _, _, data = scanned(tmp_path / "x", given)
    assert found(data) == [
        ("github_token", 3, "/b/0"),
        ("github_token", None, "/extra/x"),
        ("github_token", None, "/provenance/note"),
    ]
    assert {finding["value"] for finding in data["findings"]} == {"v1"}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b'{"a":1}', b'{\n"a":1}'),
        lambda data: data.replace(b'{"a":1}', b'{"a":1,"a":2}'),
        lambda data: data.replace(b"\n]", b"]"),
        lambda data: data[:-4],
        lambda data: data + b"more\n",
    ],
)
def test_what_only_begins_like_one_hides_nothing(change: object, tmp_path: Path) -> None:
    events = [{"headers": {"x": "1"}}, {"b": TOKEN}, {"a": 1}]
    _, _, data = scanned(tmp_path / "x", change(trajectory(events)))  # type: ignore[operator]
    assert {"sensitive_field", "github_token"} <= {cls for cls, _, _ in found(data)}


def test_our_own_trajectories_cost_the_memory_of_an_event(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with path.open("wb") as stream:
        opening, closing = frame({"schema_id": "geode.trajectory@1"}, encode)
        stream.writelines(
            [opening, *join(b'{"content":"%s"}' % (b"a b " * 500) for _ in range(5000)), closing]
        )
    size = path.stat().st_size
    tracemalloc.start()
    try:
        report, code = scan_files.scan([path], profile="import")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (code, report.entries[0].headline) == (0, "clean")
    assert peak < size // 2


def test_the_earlier_values_of_a_repeated_key_are_scanned(tmp_path: Path) -> None:
    line = f'{{"a": [{{"k": "{TOKEN}", "k": 1}}], "token": "x", "token": "<REDACTED>"}}\n'
    _, _, data = scanned(tmp_path / "x", line.encode())
    assert sorted(found(data)) == [("github_token", 1, "/a/0/k"), ("sensitive_field", 1, "/token")]


def test_a_line_that_is_too_long_is_quarantined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = scan_files.lines
    monkeypatch.setattr(scan_files, "lines", lambda stream: real(stream, limit=100))
    code, headline, data = scanned(tmp_path / "x", b"a" * 200 + b"\n" + TOKEN.encode() + b"\n")
    assert (code, found(data)) == (3, [("github_token", 2, "")])
    assert headline == "1 high (QUARANTINED: a line was too long to scan)"


def test_a_large_file_of_marked_text_is_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_files, "MAX_WHOLE", 10)
    monkeypatch.setattr(scan_files, "CHUNK", 7)
    stream = io.BytesIO()
    stream.write(("é x\n" * 50 + TOKEN).encode("utf-16"))
    _, _, data = scanned(tmp_path / "x", stream.getvalue())
    assert found(data) == [("github_token", 51, "")]
