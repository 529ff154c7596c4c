"""From a legacy transcript to a reviewed trajectory, by the real rooms."""

import json

from geode_traj.contract.ids import legacy_event_id
from geode_traj.export.trajectory import Export
from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.store import opening, secrets
from tests.reference.trajectory import check_trajectory
from tests.review.conftest import sha256
from tests.support.reviews import signed_off
from tests.support.secrets import make

TOKEN, OTHER, ADDRESS = make("github_token"), make("github_oauth"), make("email")
ROWS = [
    {"ts": 1.0, "seq": 1, "event": "session_start", "session_id": "s-1", "model": "m", "provider": "p"},
    {"ts": 2.0, "seq": 2, "event": "user_message", "text": f"I am {ADDRESS}; keep {OTHER} safe"},
    {"ts": 3.0, "seq": 3, "event": "tool_call", "tool": "read", "input": {"token": "t", "path": TOKEN}},
    {
        "ts": 4.0,
        "seq": 4,
        "event": "tool_result",
        "tool": "read",
        "status": "ok",
        "summary": f"{TOKEN} {OTHER}",
    },
    {"ts": 5.0, "seq": 5, "event": "session_end", "duration_s": 4},
]


def test_from_transcript_to_published_form(tmp_path):
    transcript, store, exported = (tmp_path / name for name in ("t.jsonl", "s.db", "s-1.json"))
    lines = [json.dumps(row).encode() for row in ROWS]
    transcript.write_bytes(b"\n".join(lines) + b"\n")
    receipts = list(apply(plan([transcript], store), store))
    assert [receipt.status for receipt in receipts] == ["imported"]
    with opening.open_reader(store) as connection:
        exported.write_bytes(b"".join(Export(connection, ["s-1"]).chunks()))
        key = secrets.existing_key(connection)
    private = exported.read_text("utf-8")
    # What the import redacted is numbered by the store; personal data is still there.
    assert TOKEN not in private and ADDRESS in private

    signed = signed_off([exported], tmp_path / "review", key=key)
    text = (tmp_path / "review" / "redacted" / "s-1.json").read_text("utf-8")
    value = json.loads(text)
    assert check_trajectory(value) == []
    contents = [event["payload"] for event in value["events"]]
    assert contents[1]["content"] == "I am [REDACTED:email:1]; keep [REDACTED:github_token:1] safe"
    assert contents[2]["arguments"] == {"token": "<REDACTED>", "path": "[REDACTED:github_token:2]"}
    assert contents[3]["summary"] == "[REDACTED:github_token:2] [REDACTED:github_token:1]"
    assert contents[1]["_legacy"] == {"event": "user_message", "line_number": 2}
    (file,) = signed.files
    assert file.findings == {"email": 1}
    assert file.redacted.redactions == {"email": 1, "github_token": 4, "sensitive_field": 1}

    # Who knows a line can say which event it gave, until it is published.
    ids = [legacy_event_id("s-1", number, sha256(line)) for number, line in enumerate(lines, start=1)]
    assert all(event_id in private for event_id in ids)
    assert not any(event_id in text for event_id in ids)
    assert sha256(transcript.read_bytes()) in private and sha256(transcript.read_bytes()) not in text
