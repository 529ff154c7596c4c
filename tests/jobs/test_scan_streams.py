"""What a stream has cut over lines is found in each of them, by any number of processes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from geode_traj.codec.framed import frame, join
from geode_traj.contract.encoding import encode
from geode_traj.jobs import scan_files, scan_parts, scan_streams, scan_workers
from geode_traj.jobs.scan_report import exit_code
from geode_traj.model.report import Report
from geode_traj.report import render
from geode_traj.scan import chunks
from geode_traj.scan.engine import Scanner
from geode_traj.scan.finding import ScanFinding
from geode_traj.scan.matching import Span
from tests.support.secrets import make

TOKEN = make("github_token")
OTHER = make("openai_key")


def delta(text: str, run: int = 1) -> dict[str, Any]:
    return {"event": "message.delta", "run_id": f"r{run}", "delta": text}


def written(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def shown(report: Report, form: str) -> str:
    return "".join(render(report, form))


def found(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (f["place"].get("line"), f["place"]["pointer"], *f["place"]["span"], f["value"], f["view"])
        for f in data["findings"]
    ]


def test_a_cut_secret_is_found_in_each_piece(tmp_path: Path) -> None:
    rows = [
        delta(f"see {TOKEN[:10]}"),
        {"event": "tool.started", "tool": f"x {OTHER}"},
        delta(TOKEN[10:]),
        delta(f" and {TOKEN}"),
        {"event": "run.completed", "run_id": "r1"},
        delta("more"),
    ]
    report, code = scan_files.scan([written(tmp_path / "x", rows)], profile="import")
    (entry,) = report.entries
    rest = len(TOKEN) - 10
    assert found(entry.data) == [
        (1, "/delta", 4, 14, "v1", "chunks"),
        (2, "/tool", 2, 2 + len(OTHER), "v2", None),
        (3, "/delta", 0, rest, "v1", "chunks"),
        (4, "/delta", 5, 5 + len(TOKEN), "v1", None),
    ]
    assert code == 1 and "github_token v1 inside chunks" in shown(report, "text")


def test_a_piece_that_is_a_secret_by_itself_is_told_as_the_whole(tmp_path: Path) -> None:
    key = make("openai_key") + "Xy9" * 9
    cut = len(key) - 20
    rows = [delta(f"a {key[:cut]}"), delta(key[cut:])]
    report, _ = scan_files.scan([written(tmp_path / "x", rows)], profile="import")
    assert found(report.entries[0].data) == [
        (1, "/delta", 2, 2 + cut, "v1", "chunks"),
        (2, "/delta", 0, 20, "v1", "chunks"),
    ]


def trajectory(path: Path, rows: list[dict[str, Any]]) -> None:
    head = {"schema_id": "geode.trajectory@1", "trajectory_id": "t"}
    before, after = frame(head, encode)
    events = [{"ordinal": at, "kind": "legacy.imported", "payload": row} for at, row in enumerate(rows, 1)]
    path.write_bytes(b"".join([before, *join(map(encode, events)), after]))


def test_trajectories_and_documents_hold_streams(tmp_path: Path) -> None:
    rows = [{"operation": "message.delta", "delta": text} for text in (TOKEN[:20], TOKEN[20:])]
    trajectory(tmp_path / "a", rows)
    (tmp_path / "b").write_text(json.dumps(rows, indent=1))
    report, _ = scan_files.scan([tmp_path / "a", tmp_path / "b"], profile="publish")
    assert [[place[:2] for place in found(entry.data)] for entry in report.entries] == [
        [(2, "/payload/delta"), (3, "/payload/delta")],
        [(None, "/0/delta"), (None, "/1/delta")],
    ]


def test_a_secret_among_the_keys_is_not_told(tmp_path: Path) -> None:
    rows = [{OTHER: delta(text)} for text in (TOKEN[:20], TOKEN[20:])]
    report, _ = scan_files.scan([written(tmp_path / "x", rows)], profile="publish")
    assert [place[1] for place in found(report.entries[0].data) if place[-1]] == [
        "/[REDACTED:openai_key]/delta"
    ] * 2
    assert OTHER not in shown(report, "json")


@pytest.mark.parametrize(("joined", "overlap"), [(300, 100), (chunks.MAX_JOINED, chunks.OVERLAP)])
def test_the_report_is_the_same_for_any_number_of_processes(
    joined: int, overlap: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_files, "_UNIT", 200)
    monkeypatch.setattr(chunks, "MAX_JOINED", joined)
    monkeypatch.setattr(chunks, "OVERLAP", overlap)
    paths = []
    for number in range(6):
        pieces = [f"{at} {TOKEN} {OTHER} "[part : part + 7] for at in range(8) for part in range(0, 99, 7)]
        rows = [delta(text, run) for text in pieces for run in range(number % 3)]
        paths.append(written(tmp_path / str(number), [*rows, {"text": TOKEN}, f"raw {OTHER}"]))
    paths.insert(3, tmp_path / "missing")
    reports = [shown(scan_files.scan(paths, profile="import", jobs=jobs)[0], "json") for jobs in (1, 2, 3, 7)]
    assert len(set(reports)) == 1
    assert reports[0].count('"chunks"') > 100


class Hostile(Scanner):
    """A scanner that some texts get the better of."""

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list[Span]:
        while "SPIN" in text:
            pass
        return super().find(text, key, damaged=damaged)


def test_what_joins_to_an_attack_is_quarantined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [delta("a"), delta("SP"), delta("IN"), delta("o", 2), delta(TOKEN[:9], 3), delta(TOKEN[9:], 3)]
    path = written(tmp_path / "x", rows)
    report = scan_files.scan_with(Hostile("import"), [path], seconds=0.1)
    (entry,) = report.entries
    place = {"line": 1, "pointer": "/delta"}
    assert entry.data["unscanned"] == [{"place": place, "why": scan_workers.SLOW}]
    assert [place[0] for place in found(entry.data)] == [5, 6]
    assert exit_code(report) == 3


def test_pieces_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_parts, "MAX_PIECES", 2_000)
    path = written(tmp_path / "x", [{"delta": ["a"] * 5}, {"delta": ["a"] * 50}, {"delta": TOKEN}])
    (entry,) = scan_files.scan([path], profile="import")[0].entries
    why = "it holds too many pieces of streams"
    assert entry.data["unscanned"] == [{"place": {"line": 2, "pointer": ""}, "why": why}]
    assert [place[0] for place in found(entry.data)] == [3]


def test_places_are_shown_as_those_of_other_findings(tmp_path: Path) -> None:
    key = "k~/" * 400
    rows = [{"a/b": {key: {"delta": [part, {"c": part}]}}} for part in (TOKEN[:20], TOKEN[20:])]
    rows.append({"a/b": {key: {"other": [TOKEN, {"c": TOKEN}]}}})
    report, _ = scan_files.scan([written(tmp_path / "x", rows)], profile="import")
    places = {place[1] for place in found(report.entries[0].data)}
    assert len(places) == 1 and len(places.pop()) == 1000
    short = [{"a/b": {"k": {"delta": [{"c": part}]}}} for part in (TOKEN[:20], TOKEN[20:])]
    report, _ = scan_files.scan([written(tmp_path / "x", short)], profile="import")
    assert {place[1] for place in found(report.entries[0].data)} == {"/a~1b/k/delta/0/c"}


def test_findings_that_overlap_are_one() -> None:
    def one(start: int, end: int, view: str | None = None, band: str = "high", n: int = 1) -> ScanFinding:
        return ScanFinding("r", "c", band, "/d", (start, end), n, view)  # type: ignore[arg-type]

    told = [(1, one(0, 9)), (2, one(3, 8)), (2, one(8, 9)), (3, one(0, 1)), (None, one(0, 1))]
    cut = [(2, one(0, 4, "chunks", "review", 2)), (4, one(0, 4, "chunks", "review", 2))]
    assert scan_streams.merged([*told, *cut]) == [
        (1, one(0, 9)),
        (2, one(8, 9)),
        (2, one(0, 8, "chunks", "high", 2)),
        (3, one(0, 1)),
        (None, one(0, 1)),
        (4, one(0, 4, "chunks", "review", 2)),
    ]
