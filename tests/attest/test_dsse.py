from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.attest import dsse, keyfile, statement
from geode_traj.attest.statement import PAYLOAD_TYPE, PRIVACY_REVIEW, RELEASE
from geode_traj.errors import DataError

# Ten of the cases repeat the inputs of DSSE's own test vectors (testvectors/vectors.json, keys of RFC 8032
# §7.1); the signatures are the published ones, Ed25519 being deterministic.
CASES = sorted((Path(__file__).resolve().parents[2] / "fixtures/attest/dsse").iterdir())

PAYLOAD = b'{"a":"demo"}'
SUBJECTS = {"release.json": "0" * 64, "SHA256SUMS": "ab" * 32}


def new_signer() -> keyfile.FileKey:
    private_key = Ed25519PrivateKey.generate()
    return keyfile.FileKey(private_key.public_key().public_bytes_raw(), private_key)


KEY, OTHER = new_signer(), new_signer()
GOOD = dsse.sign(KEY, PAYLOAD, PAYLOAD_TYPE)


def refusal(call: Callable[..., object], *args: object) -> DataError:
    with pytest.raises(DataError) as caught:
        call(*args)
    return caught.value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_vectors(case: Path) -> None:
    expect = json.loads((case / "expect.json").read_text("utf-8"))
    data = (case / "envelope.json").read_bytes()
    trusted = [bytes.fromhex(key) for key in expect["trusted"]]

    def verify() -> frozenset[bytes]:
        return dsse.read(data, expect["payload_type"]).verified_by(trusted)

    if "codes" in expect:
        error = refusal(verify)
        assert [error.code] == expect["codes"]
        assert expect["why"] in error.message
        assert expect["outcome"] == "signature"
    else:
        verified = verify()
        assert sorted(key.hex() for key in verified) == expect["verified_by"]
        assert (len(verified) >= expect["threshold"]) == (expect["outcome"] == "ok")
    if "pae" in expect:
        envelope = dsse.read(data, expect["payload_type"])
        assert dsse.pae(envelope.payload_type, envelope.payload).hex() == expect["pae"]
    assert case.name.endswith("_fail") == (expect["outcome"] != "ok")


def test_there_are_vectors_that_pass_and_that_fail() -> None:
    failing = sum(case.name.endswith("_fail") for case in CASES)
    assert 0 < failing < len(CASES)


def test_the_encoding_of_the_protocol() -> None:
    signed = dsse.pae("http://example.com/HelloWorld", b"hello world")
    assert signed == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_key_ids_are_those_of_securesystemslib() -> None:
    # As securesystemslib 1.6.0 names the first key of RFC 8032 §7.1.
    public_key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert dsse.keyid_of(public_key) == "74c181c7ad8a0855d4b55e44d2ba87aabdddb196832571f15f92fece332e4916"


def test_the_envelope_is_canonical_and_deterministic() -> None:
    record = json.loads(GOOD)
    assert json.dumps(record, sort_keys=True, separators=(",", ":")).encode() == GOOD
    assert record.keys() == {"payload", "payloadType", "signatures"}
    assert base64.b64decode(record["payload"], validate=True) == PAYLOAD
    assert [each["keyid"] for each in record["signatures"]] == [dsse.keyid_of(KEY.public_key)]
    assert dsse.sign(KEY, PAYLOAD, PAYLOAD_TYPE) == GOOD


def openssl_verify(folder: Path, signer: keyfile.FileKey, signed: bytes, signature: bytes) -> bool:
    files = {
        "key.pem": signer.private_key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        "signed": signed,
        "signature": signature,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    command = "openssl pkeyutl -verify -rawin -pubin -inkey key.pem -in signed -sigfile signature"
    return subprocess.run(command.split(), cwd=folder, capture_output=True, check=False).returncode == 0


def test_openssl_accepts_each_signature_over_the_encoded_payload(tmp_path: Path) -> None:
    written = dsse.add_signature(dsse.read(GOOD, PAYLOAD_TYPE), OTHER)
    record = json.loads(written)
    kind, payload = record["payloadType"].encode(), base64.b64decode(record["payload"])
    signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    first, second = (base64.b64decode(each["sig"]) for each in record["signatures"])
    assert openssl_verify(tmp_path, KEY, signed, first)
    assert openssl_verify(tmp_path, OTHER, signed, second)
    assert not openssl_verify(tmp_path, KEY, signed, second)
    assert not openssl_verify(tmp_path, KEY, payload, first)


def test_signatures_are_added_once() -> None:
    both = dsse.add_signature(dsse.read(GOOD, PAYLOAD_TYPE), OTHER)
    envelope = dsse.read(both, PAYLOAD_TYPE)
    assert envelope.payload == PAYLOAD
    assert envelope.verified_by([KEY.public_key, OTHER.public_key]) == {KEY.public_key, OTHER.public_key}
    assert envelope.verified_by([OTHER.public_key, OTHER.public_key]) == {OTHER.public_key}
    assert envelope.verified_by([new_signer().public_key]) == frozenset()
    assert dsse.add_signature(envelope, KEY) == both


def test_a_false_signature_under_the_signers_id_does_not_count_as_signed() -> None:
    false = dsse.Signature(dsse.keyid_of(KEY.public_key), bytes(64))
    written = dsse.add_signature(dsse.Envelope(PAYLOAD_TYPE, PAYLOAD, (false,)), KEY)
    envelope = dsse.read(written, PAYLOAD_TYPE)
    assert len(envelope.signatures) == 2
    assert envelope.verified_by([KEY.public_key]) == {KEY.public_key}


class Signs:
    """A signer that returns what it is told."""

    def __init__(self, public_key: bytes, signature: Callable[[bytes], bytes]) -> None:
        self.public_key = public_key
        self._signature = signature

    def sign(self, data: bytes) -> bytes:
        return self._signature(data)


SIGNERS: dict[str, tuple[Signs, str]] = {
    "signs other bytes": (Signs(KEY.public_key, lambda data: KEY.sign(data + b"x")), "TE401"),
    "signs the bare payload": (Signs(KEY.public_key, lambda data: KEY.sign(PAYLOAD)), "TE401"),
    "signs with another key": (Signs(KEY.public_key, OTHER.sign), "TE401"),
    "signs too little": (Signs(KEY.public_key, lambda data: KEY.sign(data)[:63]), "TE403"),
    "has a weak key": (Signs((1).to_bytes(32, "little"), lambda data: bytes([1]) + bytes(63)), "TE311"),
    "has a short key": (Signs(KEY.public_key[:31], KEY.sign), "TE311"),
}


@pytest.mark.parametrize(("signer", "code"), SIGNERS.values(), ids=SIGNERS)
def test_signers_that_err_are_caught(signer: Signs, code: str) -> None:
    assert refusal(dsse.sign, signer, PAYLOAD, PAYLOAD_TYPE).code == code


def test_what_could_not_be_read_is_not_signed() -> None:
    assert refusal(dsse.sign, KEY, bytes(dsse.MAX_BYTES), PAYLOAD_TYPE).code == "TE403"
    full = dsse.Envelope(PAYLOAD_TYPE, PAYLOAD, (dsse.Signature("", b""),) * dsse.MAX_SIGNATURES)
    assert refusal(dsse.add_signature, full, KEY).code == "TE403"


@pytest.mark.parametrize("signatures", [(), (dsse.Signature("", bytes(64)),)], ids=["none", "one"])
def test_a_weak_key_is_never_trusted(signatures: tuple[dsse.Signature, ...]) -> None:
    envelope = dsse.Envelope(PAYLOAD_TYPE, PAYLOAD, signatures)
    assert refusal(envelope.verified_by, [KEY.public_key, bytes(32)]).code == "TE311"


def changed(**members: Any) -> bytes:
    """The good envelope with members replaced, or taken away where they are None."""
    record = json.loads(GOOD) | members
    return json.dumps({name: value for name, value in record.items() if value is not None}).encode()


def with_signature(**members: Any) -> bytes:
    signature = json.loads(GOOD)["signatures"][0] | members
    return changed(signatures=[{name: value for name, value in signature.items() if value is not None}])


MALFORMED: dict[str, bytes] = {
    "empty": b"",
    "array": b"[" + GOOD + b"]",
    "text": b'"payload"',
    "null": b"null",
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "not UTF-8": GOOD.replace(b"application", b"applicati\xff"),
    "two documents": GOOD + GOOD,
    "comment": GOOD + b"//",
    "NUL behind": GOOD + b"\0",
    "NaN": changed(note=float("nan")),
    "lone surrogate": changed(note="\ud800"),
    "deep": changed(note=[]).replace(b"[]", b"[" * 300 + b"]" * 300),
    "unclosed": b"[" * 100_000,
    "huge number": changed(note=0).replace(b'"note": 0', b'"note": ' + b"9" * 100_000),
    "one byte too long": GOOD + b" " * (dsse.MAX_BYTES + 1 - len(GOOD)),
    "no payload": changed(payload=None),
    "payload a number": changed(payload=0),
    "payload not ASCII": changed(payload="é"),
    "no type": changed(payloadType=None),
    "type a list": changed(payloadType=[PAYLOAD_TYPE]),
    "type in other letters": changed(payloadType=PAYLOAD_TYPE.upper()),
    "type with a space": changed(payloadType=PAYLOAD_TYPE + " "),
    "no signatures": changed(signatures=None),
    "signatures an object": changed(signatures={}),
    "too many signatures": changed(signatures=[{"sig": ""}] * (dsse.MAX_SIGNATURES + 1)),
    "signature a text": changed(signatures=["AAAA"]),
    "no sig": with_signature(sig=None),
    "sig a number": with_signature(sig=1),
    "key id a number": with_signature(keyid=1),
    "key id null": with_signature(keyid=0).replace(b'"keyid": 0', b'"keyid": null'),
    "key id twice": with_signature().replace(b'"keyid"', b'"keyid":"","keyid"'),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_envelopes_are_refused(data: bytes) -> None:
    error = refusal(dsse.read, data, PAYLOAD_TYPE)
    assert error.code == "TE403"
    assert len(error.message) < 200


def test_errors_name_their_place() -> None:
    def read() -> object:
        return dsse.read(b"{}", PAYLOAD_TYPE, place="signatures/release.dsse.json")

    assert refusal(read).place == "signatures/release.dsse.json"


def test_an_envelope_up_to_its_bound_is_read() -> None:
    padded = GOOD + b" " * (dsse.MAX_BYTES - len(GOOD))
    assert dsse.read(padded, PAYLOAD_TYPE) == dsse.read(GOOD, PAYLOAD_TYPE)
    many = changed(signatures=[{"sig": ""}] * dsse.MAX_SIGNATURES)
    assert dsse.read(many, PAYLOAD_TYPE).verified_by([KEY.public_key]) == frozenset()


@pytest.mark.parametrize("size", range(len(GOOD)))
def test_cut_envelopes_are_refused(size: int) -> None:
    assert refusal(dsse.read, GOOD[:size], PAYLOAD_TYPE).code == "TE403"


@settings(deadline=None)
@given(st.binary(max_size=300), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_what_is_signed_verifies(payload: bytes, payload_type: str) -> None:
    envelope = dsse.read(dsse.sign(KEY, payload, payload_type), payload_type)
    assert envelope.payload == payload
    assert envelope.verified_by([KEY.public_key, OTHER.public_key]) == {KEY.public_key}


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=100), st.data())
def test_a_changed_payload_or_type_never_verifies(payload: bytes, data: st.DataObject) -> None:
    envelope = dsse.read(dsse.sign(KEY, payload, PAYLOAD_TYPE), PAYLOAD_TYPE)
    at = data.draw(st.integers(0, len(payload) - 1))
    flipped = payload[:at] + bytes([payload[at] ^ data.draw(st.integers(1, 255))]) + payload[at + 1 :]
    # The border between type and payload may not move either, nor may bytes be added or taken away.
    for kind, body in (
        (PAYLOAD_TYPE, flipped),
        (PAYLOAD_TYPE, payload + b"\0"),
        (PAYLOAD_TYPE, payload[:-1]),
        (PAYLOAD_TYPE[:-1], payload),
        (PAYLOAD_TYPE + " ", payload),
    ):
        assert dsse.Envelope(kind, body, envelope.signatures).verified_by([KEY.public_key]) == frozenset()


@settings(deadline=None)
@given(st.data())
def test_any_changed_byte_is_refused_or_changes_nothing_that_is_signed(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(GOOD) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != GOOD[at]))
    try:
        envelope = dsse.read(GOOD[:at] + bytes([byte]) + GOOD[at + 1 :], PAYLOAD_TYPE)
    except DataError as error:
        assert error.code == "TE403"
    else:  # the key id, which nobody trusts; or the one "+" or "/" in the other alphabet
        verified = envelope.verified_by([KEY.public_key])
        assert not verified or (envelope.payload == PAYLOAD and verified == {KEY.public_key})


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_a_code(data: bytes) -> None:
    assert refusal(dsse.read, data, PAYLOAD_TYPE).code == "TE403"
    assert refusal(statement.read, data, RELEASE).code == "TE403"


def test_a_statement_says_what_was_put_into_it() -> None:
    written = statement.make(SUBJECTS, RELEASE, {"sequence": 3, "z": {"b": 1, "a": [None, "é"]}})
    record = json.loads(written)
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical.encode() == written
    assert record["_type"] == "https://in-toto.io/Statement/v1"
    assert record["subject"] == [
        {"name": "SHA256SUMS", "digest": {"sha256": "ab" * 32}},
        {"name": "release.json", "digest": {"sha256": "0" * 64}},
    ]
    read = statement.read(written, RELEASE)
    assert (read.subjects, read.predicate_type) == (SUBJECTS, RELEASE)
    assert read.predicate == {"sequence": 3, "z": {"b": 1, "a": [None, "é"]}}
    assert statement.make(dict(reversed(SUBJECTS.items())), RELEASE, read.predicate) == written


def test_a_review_is_no_release() -> None:
    written = statement.make(SUBJECTS, PRIVACY_REVIEW, {})
    assert statement.read(written, PRIVACY_REVIEW).predicate == {}
    assert "predicateType" in refusal(statement.read, written, RELEASE).message


def said(**members: Any) -> bytes:
    """A good statement with members replaced, or taken away where they are None."""
    record = json.loads(statement.make(SUBJECTS, RELEASE, {})) | members
    return json.dumps({name: value for name, value in record.items() if value is not None}).encode()


def about(**members: Any) -> bytes:
    """A good statement about one subject, with members of that subject replaced."""
    return said(subject=[{"name": "a", "digest": {"sha256": "0" * 64}} | members])


STATEMENTS: dict[str, tuple[bytes, str]] = {
    "no type": (said(_type=None), "_type"),
    "version 0.1": (said(_type="https://in-toto.io/Statement/v0.1"), "_type"),
    "no predicate type": (said(predicateType=None), "predicateType"),
    "predicate type empty": (said(predicateType=""), "predicateType"),
    "predicate a list": (said(predicate=[]), "predicate"),
    "no subject": (said(subject=None), "subjects"),
    "subjects empty": (said(subject=[]), "subjects"),
    "subject an object": (said(subject={}), "subjects"),
    "too many subjects": (said(subject=[{}] * (statement.MAX_SUBJECTS + 1)), "subjects"),
    "subject a text": (said(subject=["a"]), "object"),
    "name empty": (about(name=""), "name"),
    "name a number": (about(name=1), "name"),
    "name with an escape": (about(name="a\x1b[2K"), "hidden"),
    "name turned round": (about(name="a\u202eb"), "hidden"),
    "name twice": (said(subject=[{"name": "a", "digest": {"sha256": "0" * 64}}] * 2), "one name"),
    "digest a text": (about(digest="0" * 64), "SHA-256"),
    "digest empty": (about(digest={}), "SHA-256"),
    "digest of another kind": (about(digest={"sha1": "0" * 40}), "SHA-256"),
    "digest of two kinds": (about(digest={"sha256": "0" * 64, "sha1": "0" * 40}), "SHA-256"),
    "digest in capitals": (about(digest={"sha256": "A" * 64}), "hex"),
    "digest too short": (about(digest={"sha256": "0" * 63}), "hex"),
    "digest with a line end": (about(digest={"sha256": "0" * 64 + "\n"}), "hex"),
    "digest in other digits": (about(digest={"sha256": "\u0660" * 64}), "hex"),
    "member twice": (said().replace(b'"predicate"', b'"predicate":{},"predicate"', 1), "repeated"),
    "member in other letters": (said(Subject=[]), "other letters"),
    "name in other letters": (about(Name="b"), "other letters"),
    "too long": (said() + b" " * statement.MAX_BYTES, "longer"),
    "cut": (said()[:-1], "not JSON"),
}


@pytest.mark.parametrize(("data", "why"), STATEMENTS.values(), ids=STATEMENTS)
def test_malformed_statements_are_refused(data: bytes, why: str) -> None:
    error = refusal(statement.read, data, RELEASE)
    assert error.code == "TE403"
    assert why in error.message


def test_other_members_of_a_statement_are_ignored_and_the_predicate_may_be_missing() -> None:
    read = statement.read(said(predicate=None, note=1), RELEASE)
    assert read == statement.Statement(SUBJECTS, RELEASE, {})
    assert statement.read(about(uri="https://example.org/a"), RELEASE).subjects == {"a": "0" * 64}


@pytest.mark.parametrize("subjects", [{}, {"": "0" * 64}, {"a": "0"}, {"a\n": "0" * 64}], ids=str)
def test_a_statement_that_could_not_be_read_is_not_made(subjects: dict[str, str]) -> None:
    assert refusal(statement.make, subjects, RELEASE, {}).code == "TE403"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\udcff"], ids=ascii)
def test_what_json_cannot_say_is_not_stated(value: object) -> None:
    assert "JSON" in refusal(statement.make, SUBJECTS, RELEASE, {"note": [value]}).message
    assert refusal(statement.make, {str(value) + "\ud800": "0" * 64}, RELEASE, {}).code == "TE403"


def test_a_statement_up_to_its_bound_fits_into_an_envelope() -> None:
    spare = statement.MAX_BYTES - len(statement.make(SUBJECTS, RELEASE, {"note": ""}))
    written = statement.make(SUBJECTS, RELEASE, {"note": "x" * spare})
    assert len(written) == statement.MAX_BYTES
    assert dsse.read(dsse.sign(KEY, written, PAYLOAD_TYPE), PAYLOAD_TYPE).payload == written
