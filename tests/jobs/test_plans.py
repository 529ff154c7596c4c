"""A plan beside what is verified: trajectories, transcripts of other formats, stores."""

import json
from pathlib import Path

import pytest

from geode_traj.cli.main import main
from geode_traj.errors import TrajError
from geode_traj.jobs import plans
from geode_traj.jobs.verify_files import exit_code, report, verify_paths

FIXTURES = Path(__file__).parents[2] / "fixtures"
EXCHANGE = FIXTURES / "plans" / "skellyspeak.plan.json"
START = 1_790_000_001_000


def run(number, operation, after, took):
    attempts = [{"index": 0, "kind": "ok", "duration_ms": took, "response": "text", "usage": None}]
    actor = {"type": "agent", "id": "chat"} if operation == "reply" else {"type": "runner"}
    return {
        "session_id": "5a0c11aa-0000-4000-8000-000000000009", "app_version": "0.0.0", "id": number,
        "turn_id": 9, "operation": operation, "actor": actor, "label": operation, "model": "demo",
        "started_at_ms": START + after, "duration_ms": took, "usage": None, "attempts": attempts,
        "outcome": "ok", "error": None, "prompt": "p", "output": "text",
    }  # fmt: skip


def archive(folder, *runs):
    path = folder / "ai-traces.json"
    path.write_text(json.dumps({"version": 1, "evicted": 0, "runs": list(runs)}))
    return path


CASES = [
    ([run(1, "reply", 0, 900), run(2, "translate", 900, 100), run(3, "reflect", 300, 900)], []),
    ([run(1, "reply", 0, 900), run(2, "story", 900, 100)], ["GT1101"]),
    ([run(1, "translate", 0, 900)], ["GT1102"]),
    ([run(1, "reply", 0, 900), run(2, "translate", 800, 100)], ["GT1103"]),
    # The first pair is as declared; the retry that was still running is only seen where every pair is judged.
    ([run(1, "reply", 0, 500), run(2, "reply", 500, 900), run(3, "translate", 600, 100)], ["GT1103"]),
]


@pytest.mark.parametrize(("runs", "codes"), CASES)
def test_runs_of_an_archive_are_reconciled(tmp_path, runs, codes):
    path = archive(tmp_path, *runs)
    results = list(verify_paths([path], plans.load(EXCHANGE)))
    assert [one.code for result in results for one in result.findings if one.code[2:4] == "11"] == codes
    drift = bool({"GT1101", "GT1103"} & set(codes))
    assert exit_code(report(results)[0]) == drift
    assert {result.verdict for result in results} == {"incomplete"}


def test_a_store_and_its_export_are_reconciled_alike(tmp_path, capsys):
    path = archive(tmp_path, run(1, "reply", 0, 900), run(2, "translate", 800, 100))
    store, out, plan = str(tmp_path / "s.db"), str(tmp_path / "out.json"), str(EXCHANGE)
    session = "5a0c11aa-0000-4000-8000-000000000009"
    calls = [
        (["migrate", str(path), "--store", store], 0),
        (["export", session, "--store", store, "--out", out, "--plan", plan], 0),  # drift is no false claim
        (["verify", out], 1),
        (["verify", out, "--select", "GT1103"], 1),
        (["verify", out, "--select", "GT1"], 0),
        (["verify", store, "--plan", plan], 1),
        (["verify", store], 0),
        (["verify", "--plan", out, out], 3),
        (["verify"], 2),
    ]
    for arguments, code in calls:
        assert main(arguments) == code, (arguments, capsys.readouterr())
    capsys.readouterr()
    main(["verify", out])
    assert "operation 4 of the plan starts at" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "code"), [("{", "TE202"), ("[]", "TE208"), ('{"a":1,"a":2}', "TE202")])
def test_a_file_that_is_no_plan(tmp_path, text, code):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(TrajError) as caught:
        plans.load(path)
    assert caught.value.code == code and caught.value.place.startswith(str(path))
