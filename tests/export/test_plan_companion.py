"""A declared plan goes with the trajectory, which GEODE still accepts; what is none is refused."""

import json

import pytest

from geode_traj.errors import TrajError
from geode_traj.export import references
from geode_traj.export.references import References
from tests.migrate import pipeline
from tests.reference import geode

PLAN = {"schema_id": "geode-traj.plan@1", "operations": [{"name": "reply", "needs": ["input"]}]}


def test_the_plan_stands_in_the_source_and_its_digest_among_the_artifacts(tmp_path):
    store = tmp_path / "sessions.db"
    pipeline.migrate(store, pipeline.write_lines(tmp_path / "s1.jsonl", pipeline.dialogue("s1", "a")))
    path = tmp_path / "exchange.plan.json"
    path.write_text(json.dumps(PLAN))
    given = References()
    references.companion("plan", path, given)
    doc = json.loads(pipeline.export(store, "s1", companions=given))
    assert geode.check_trajectory(doc) == []
    assert doc["source"]["plan"] == PLAN
    digest = geode.sha256(path.read_bytes())
    assert doc["artifact_digests"] == [
        {"path": path.name, "sha256": digest, "schema_id": "geode-traj.plan@1"}
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [("{", "TE202"), ("[]", "TE208"), ('{"operations": [{"name": "a", "needs": ["b"]}]}', "TE208")],
)
def test_what_is_no_plan_is_refused(tmp_path, text, code):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(TrajError) as caught:
        references.companion("plan", path, References())
    assert caught.value.code == code and str(path) in str(caught.value)
