"""RL13xx: the trajectories against the manifest."""

from __future__ import annotations

import json

import pytest
from faults import broken
from release_forge import Forge, event, events, framed, trajectory

AT = "@"


@broken("RL1301")
def false_record_count(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_trajectory(lambda doc: doc["integrity"].update(record_count=9), recount=False)
    forge.seal()


@broken("RL1301")
def no_trajectory(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.set_trajectory(b'{"events":[\n')
    forge.seal()


@broken("RL1301")
def hidden_by_escapes(forge: Forge, _: pytest.MonkeyPatch) -> None:
    # The raw text has no hit, the decoded one has: a tab written as \t hides the word's begin.
    text = framed(trajectory("beta", events("AK" + "IA" + "A1" * 8)))
    forge.set_trajectory(text.replace(b'"AK', b'"\\tAK'))
    forge.seal()


@broken("RL1302")
def records_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"][0].update(records=6))
    forge.seal()


@broken("RL1302")
def id_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"][0].update(trajectory_id="gamma"))
    forge.seal()


@broken("RL1303")
def tool_result_missing(forge: Forge, _: pytest.MonkeyPatch) -> None:
    listed = [*events()[:3], {**events()[4], "ordinal": 4}]
    forge.edit_trajectory(
        lambda doc: doc.update(events=listed),
        manifest=lambda manifest: manifest["admission"].update(replay_complete_required=False),
    )
    forge.seal()


@broken("RL1304")
def payload_cut(forge: Forge, _: pytest.MonkeyPatch) -> None:
    listed = [*events(), event(6, "session.ended", turn="", note="cut…[truncated:9]")]
    forge.edit_trajectory(lambda doc: doc.update(events=listed))
    forge.seal()


@broken("RL1305")
def not_reviewed(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_trajectory(lambda doc: doc["privacy"].update(review_state="local"))
    forge.seal()


@broken("RL1306")
def same_trajectory_twice(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_trajectory(lambda doc: doc.update(trajectory_id="Alpha One"))
    forge.seal()


@broken("RL1307")
def quality_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["quality"].update(evidence_refs=3))
    forge.seal()


@broken("RL1308")
def hit_in_raw_text(forge: Forge, _: pytest.MonkeyPatch) -> None:
    # The decoded text has no hit, the raw one has, as other writers than ours leave it.
    doc = trajectory("beta", events(f"a line\n{AT}pytest.fixture"))
    forge.set_trajectory(json.dumps(doc, ensure_ascii=False).encode())
    forge.seal()
