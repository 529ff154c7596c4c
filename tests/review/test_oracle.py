"""What is published, looked at by a scanner that shares no rule with ours: it finds nothing."""

import json

import pytest

from geode_traj.codec.framed import read
from geode_traj.scan.engines import engine
from geode_traj.scan.leaves import texts
from tests.support.reviews import signed_off
from tests.support.secrets import CREDENTIALS, make


@pytest.fixture(scope="module")
def other():
    return engine("kingfisher")


def found(path, other):
    with path.open("rb") as stream:
        document = read(stream)
        leaves = [leaf for text in document.events for leaf in texts(text.value)]
        leaves += texts(document.head)
    return [span.rule for leaf in leaves for span in other.find(leaf)]


def test_another_scanner_finds_nothing_in_what_is_published(build, other):
    events = [
        build.event({"content": f"{kind} is {make(kind)}", "stdout": json.dumps({"token": make(kind)})})
        for kind in CREDENTIALS
    ]
    path = build.write(build.doc(events))
    assert len(found(path, other)) > len(CREDENTIALS) // 2  # it knows what it looks for
    signed_off([path], build.folder.parent / "review")
    assert found(build.folder.parent / "review" / "redacted" / "one.json", other) == []
