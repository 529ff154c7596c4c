"""RL15xx: what a release says of its review, of every candidate, and what its reviewer states."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from faults import broken
from release_forge import KEY, REVIEWER_KEY, Forge, enveloped, new_key, review_record

from geode_traj.attest import dsse, statement
from geode_traj.codec.canonical import dumps
from geode_traj.release import layout
from geode_traj.release.check import limits

AT = "@"
RECORD, DISCLOSURE, STATEMENT = layout.REVIEW_RECORD, layout.DISCLOSURE, layout.REVIEW_STATEMENT


@broken("RL1501")
def record_repeats_a_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    data = (forge.root / RECORD).read_bytes()
    forge.seal(parts={RECORD: data.replace(b"{", b'{"roles":1,', 1)})


@broken("RL1501")
def disclosure_cut_short(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={DISCLOSURE: (forge.root / DISCLOSURE).read_bytes()[:-5]})


@broken("RL1502")
def record_names_a_path(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={RECORD: lambda record: record.update(folder="x")})


@broken("RL1502")
def disclosure_of_another_class(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={DISCLOSURE: lambda said: said["withheld"][0].update({"class": "secret"})})


@broken("RL1503")
def record_of_another_policy(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={RECORD: lambda record: record.update(policy_sha256="0" * 64)})


@broken("RL1503")
def release_of_other_decisions(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["review"].update(decisions_sha256="0" * 64))


@broken("RL1503")
def release_without_a_sign_off(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["review"].update(signoff_sha256=None))


@broken("RL1504")
def one_role_under_a_policy_of_two(forge: Forge, _: pytest.MonkeyPatch) -> None:
    del forge.signers[layout.REVIEWER]
    forge.seal(lambda release: release["review"].update(reviewer_role_required=False))


@broken("RL1505")
def record_of_another_review(forge: Forge, _: pytest.MonkeyPatch) -> None:
    other = review_record("another scope")
    forge.seal(parts={RECORD: lambda record: record.update(review=other)})


@broken("RL1506")
def public_one_left_out(forge: Forge, _: pytest.MonkeyPatch) -> None:
    def change(said: dict) -> None:
        said["public"].pop()
        said["totals"]["public"] -= 1
        said["totals"]["candidates"] -= 1

    forge.seal(parts={DISCLOSURE: change})


@broken("RL1506")
def public_one_renamed(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={DISCLOSURE: lambda said: said["public"][0].update(trajectory_id="gamma")})


@broken("RL1507")
def candidate_forgotten(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={DISCLOSURE: lambda said: said["totals"].update(candidates=3)})


def _both(change: Callable[[list[dict]], object]) -> dict:
    """Change what is withheld in the record and in the disclosure alike."""
    return dict.fromkeys((RECORD, DISCLOSURE), lambda said: change(said["withheld"]))


@broken("RL1507")
def withheld_one_not_counted(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts=_both(lambda withheld: withheld.pop()))


@broken("RL1507")
def withheld_not_sorted(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts=_both(lambda withheld: withheld.reverse()))


@broken("RL1508")
def record_counts_others(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={RECORD: lambda record: record["withheld"][0].update(reason="third-party")})


# The statement: the good release of two roles holds one.


def _said(forge: Forge) -> tuple[dict, dict[str, str]]:
    """Return what the statement says, and of which files."""
    envelope = dsse.read((forge.root / STATEMENT).read_bytes(), statement.PAYLOAD_TYPE)
    said = statement.read(envelope.payload, statement.PRIVACY_REVIEW)
    return dict(said.predicate), dict(said.subjects)


def _state(forge: Forge, said: dict, subjects: dict[str, str]) -> None:
    forge.seal(parts={STATEMENT: enveloped(said, subjects, REVIEWER_KEY)})


@broken("RL1509")
def statement_of_another_type(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    payload = statement.make(subjects, statement.RELEASE, said)
    forge.seal(parts={STATEMENT: dsse.sign(REVIEWER_KEY, payload, statement.PAYLOAD_TYPE)})


@broken("RL1509")
def statement_without_a_signature(forge: Forge, _: pytest.MonkeyPatch) -> None:
    value = json.loads((forge.root / STATEMENT).read_bytes())
    forge.seal(parts={STATEMENT: dumps({**value, "signatures": []})})


@broken("RL1510")
def statement_of_another_policy(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    _state(forge, {**said, "policy": "unattended"}, subjects)


@broken("RL1510")
def statement_with_more(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    _state(forge, {**said, "note": "x"}, subjects)


@broken("RL1510")
def statement_of_other_files(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    _state(forge, said, {**subjects, "redacted/run-0.json": "0" * 64})


@broken("RL1510")
def statement_of_fewer_files(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    subjects.pop("redacted/run-0.json")
    _state(forge, said, subjects)


@broken("RL1510")
def statement_leads_elsewhere(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    _state(forge, said, {f"redacted/../{name}": digest for name, digest in subjects.items()})


def _resigned(forge: Forge, signature: dict) -> None:
    value = json.loads((forge.root / STATEMENT).read_bytes())
    value["signatures"][0] |= signature
    forge.seal(parts={STATEMENT: dumps(value)})


@broken("RL1511")
def statement_by_nobody(forge: Forge, _: pytest.MonkeyPatch) -> None:
    value = json.loads((forge.root / STATEMENT).read_bytes())
    _resigned(forge, {"sig": f"AAAA{value['signatures'][0]['sig'][4:]}"})


@broken("RL1511")
def statement_by_the_signer(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(parts={STATEMENT: enveloped(*_said(forge), KEY)})


@broken("RL1511")
def statement_by_another_under_the_reviewers_name(forge: Forge, _: pytest.MonkeyPatch) -> None:
    other = json.loads(enveloped(*_said(forge), new_key()))["signatures"][0]
    _resigned(forge, {"sig": other["sig"]})


@broken("RL1513")
def address_in_a_statement(forge: Forge, _: pytest.MonkeyPatch) -> None:
    said, subjects = _said(forge)
    name = f"redacted/demo_user{AT}quarrystone-mail.org.json"
    _state(forge, said, {name: subjects.pop("redacted/run-0.json"), **subjects})


@broken("RL1007")
def statement_too_large(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dsse, "MAX_BYTES", 10)


@broken("RL1007")
def disclosure_too_large(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    held = max((forge.root / name).stat().st_size for name in ("SHA256SUMS", "release.json"))
    forge.seal(parts={DISCLOSURE: b" " * (4 * held) + (forge.root / DISCLOSURE).read_bytes()})
    patch.setattr(limits, "MAX_LIST", 3 * held)
