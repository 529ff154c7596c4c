"""What a scan knows beforehand is found in any spelling and told in none: secrets, names; other engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_scan_canaries import ENCODINGS, spelled

from geode_traj.jobs import scan_files, scan_known, scan_workers
from geode_traj.report import names, render
from geode_traj.scan import engines, known
from geode_traj.scan.engine import Scanner
from geode_traj.scan.matching import Span
from tests.migrate import pipeline
from tests.support.transcripts import call

OWN = "quiet-" + "harbour-" + "7719"
OTHER = "slow " + "river é" + "'\\2"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with own secrets in every spelling, in names of files, and one file that cannot be read."""
    folder = tmp_path / "in"
    rows = [{"text": encoded(value)} for value in (OWN, OTHER) for encoded in ENCODINGS.values()]
    rows += [{"type": "text_delta", "delta": part} for part in (OWN[:7], OWN[7:])]
    pipeline.write_lines(folder / "a.jsonl", [*rows, "{torn " + OWN, f"raw {OTHER}"])
    pipeline.write_lines(folder / f"b-{OWN}.txt", ["clean"])
    (folder / f"c-{OWN}.txt").symlink_to(tmp_path / "gone")
    return folder


def words(given: list[str]) -> bytes:
    stdout, stderr, code = call(given)
    assert code in (1, 3), stderr
    return stdout + stderr


@pytest.mark.parametrize("profile", ["import", "publish"])
def test_own_secrets_are_found_and_never_told(
    profile: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEMO_TOKEN", OWN)
    (tmp_path / "own").write_text(f"# mine\nDEMO='{OTHER}'\nabc\n")
    given = ["scan", str(place), "--profile", profile, "--known-env", "--known-file", str(tmp_path / "own")]
    told = {form: words([*given, "--format", form]) for form in names()}
    for form in names():
        assert told[form] == words([*given, "--format", form, "--jobs", "3"])
    report = json.loads(told["json"][told["json"].index(b"{") : told["json"].rindex(b"}") + 1])
    found = [(one["class"], one["value"]) for entry in report["inputs"] for one in entry["findings"]]
    spellings = len(ENCODINGS) if profile == "publish" else 2
    assert found.count(("known_value", found[0][1])) >= spellings
    assert len({value for cls, value in found if cls == "known_value"}) == 2
    assert report["summary"]["known_value"] >= 2 * spellings + 4
    assert b"1 value(s) of --known-file are too short" in told["text"]
    for text in (OWN, OTHER):
        for spelling in spelled(text):
            assert len(spelling) < 8 or not any(spelling in data for data in told.values())


def test_own_secrets_are_redacted_in_a_store(tmp_path: Path) -> None:
    store, own = tmp_path / "store" / "s.db", tmp_path / "own"
    own.write_text(OWN)
    source = pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", f"say {OWN}", "b"))
    pipeline.migrate(store, source)
    stdout, stderr, code = call(["scan", "--store", str(store), "--redact", "--known-file", str(own)])
    assert code == 0, stderr
    assert OWN.encode() not in pipeline.file_bytes(store) + stdout + stderr
    assert any("[REDACTED:known_value:1]" in str(one) for one in pipeline.payloads(store))


def test_lists_that_are_none_are_refused(tmp_path: Path) -> None:
    bad = {
        "many": "\n".join(f"value-{number:05}" for number in range(known.MAX_VALUES + 1)).encode(),
        "long": b"ab12" * known.MAX_CHARACTERS,
        "binary": f"\xff{OWN}".encode("latin-1"),
    }
    for name, data in bad.items():
        path = tmp_path / name
        path.write_bytes(data)
        stdout, stderr, code = call(["scan", str(tmp_path), "--known-file", str(path)])
        assert (stdout, code) == (b"", 2) and b"TE101" in stderr and OWN.encode() not in stderr, name
    _, stderr, code = call(["scan", str(tmp_path), "--known-file", str(tmp_path / "none")])
    assert code == 3 and b"TE201" in stderr


@pytest.mark.parametrize("name", ["detect-secrets", "kingfisher"])
def test_engines_are_asked_for_by_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("clean\n")
    stdout, stderr, code = call(["scan", str(path), "--engine", name, "--engine", name, "--format", "json"])
    assert code == 0, stderr
    rules, (engine, version) = json.loads(stdout)["engines"][0], json.loads(stdout)["engines"][1].split()
    assert rules == "rules" and engine.replace("_", "-") == name and version[0].isdigit()
    _, stderr, code = call(["scan", str(path), "--engine", name, "--profile", "import"])
    assert code == 2 and b"for --profile publish" in stderr
    monkeypatch.setattr(engines, "available", lambda: ())
    _, stderr, code = call(["scan", str(path), "--engine", name])
    assert code == 2 and f"--engine {name} is not valid: it is not installed".encode() in stderr


def test_an_engine_has_the_time_of_a_text(tmp_path: Path) -> None:
    class Slow:
        name, version = "slow", "1"

        def find(self, text: str) -> list[Span]:
            while "SPIN" in text:
                pass
            return []

    path = pipeline.write_lines(tmp_path / "x", ["a", "SPIN", "b"])
    report = scan_files.scan_with(Scanner("publish", engines=[Slow()]), [path], seconds=0.1)  # type: ignore[list-item]
    (entry,) = report.entries
    assert entry.data["unscanned"] == [{"place": {"line": 2, "pointer": ""}, "why": scan_workers.SLOW}]


ROWS = [
    {"cwd": "/home/marvolo/src"},
    {"text": "ask Marvolo on foxglove-mbp"},
    {"text": {"out": "bramwell@foxglove-mbp:~/src$ ls"}},
]


def learned_in(paths: list[str], *more: str, stdin: bytes = b"") -> list[tuple[str, str]]:
    stdout, stderr, _ = call(["scan", *paths, "--format", "json", *more], stdin)
    inputs = json.loads(stdout)["inputs"]
    assert not any(one["quarantined"] for one in inputs), stderr
    return [
        (found["class"], found["place"]["pointer"])
        for one in inputs
        for found in one["findings"]
        if found["rule"].startswith("learned_")
    ]


def test_names_that_one_text_shows_are_found_in_all(tmp_path: Path) -> None:
    for number, row in enumerate(ROWS):
        pipeline.write_lines(tmp_path / "in" / str(number), [row])
    expected = [
        ("user_name", "/text"),
        ("host_name", "/text"),
        ("user_name", "/text/out"),
        ("host_name", "/text/out"),
    ]
    for jobs in ("1", "3"):
        assert learned_in([str(tmp_path / "in")], "--jobs", jobs) == expected
    stdin = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
    assert learned_in(["-"], stdin=stdin) == expected
    assert learned_in([str(tmp_path / "in")], "--no-learn-names") == []
    assert learned_in([str(tmp_path / "in")], "--profile", "import") == []


def test_names_of_a_store_are_learned_for_publishing(tmp_path: Path) -> None:
    store = tmp_path / "store" / "s.db"
    texts = ("cd /home/marvolo/src", "thanks, Marvolo")
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s.jsonl", pipeline.dialogue("s", *texts)))
    stdout, _, _ = call(["scan", "--store", str(store), "--profile", "publish", "--format", "text"])
    assert b"user_name v" in stdout


def test_what_nobody_could_learn_from_is_quarantined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(OWN)

    monkeypatch.setattr(scan_known, "learn_parts", fail)
    path = pipeline.write_lines(tmp_path / "x", ["a"])
    report = scan_files.scan_with(Scanner("publish"), [path], learn=True)
    assert report.entries[0].data["unscanned"] == [
        {"place": {"line": 1, "pointer": ""}, "why": "scanning it failed (RuntimeError)"}
    ]
    assert OWN not in "".join(render(report, "json"))


def test_most_common_names_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from geode_traj.scan import learn

    monkeypatch.setattr(learn, "MAX_NAMES", 2)
    learner, other = learn.Learner(), learn.Learner()
    for name in ("marvolo", "quillon", "zephyrin"):
        learner.see(f"/home/{name}/x")
    other.see("/home/zephyrin/x /home/Quillon/y")
    learner.add(other)
    assert learner.known().users == {"quillon", "zephyrin"}
