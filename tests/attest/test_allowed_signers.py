from __future__ import annotations

import base64
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from geode_traj.attest import allowed_signers, keyfile, patterns, sshsig, wire
from geode_traj.errors import DataError, TrajError, WorldError

NAMESPACE = "geode.trajectory-release@1"
MESSAGE = b"message"


def new_signer() -> keyfile.FileKey:
    private_key = Ed25519PrivateKey.generate()
    return keyfile.FileKey(private_key.public_key().public_bytes_raw(), private_key)


KEY, OTHER = new_signer(), new_signer()
LINE = keyfile.public_line(KEY.public_key)
RSA = "ssh-rsa " + base64.b64encode(wire.string(b"ssh-rsa") + wire.string(b"\1\0\1")).decode()
IDENTITY = "ssh-ed25519 " + base64.b64encode(wire.public_blob((1).to_bytes(32, "little"))).decode()


def name_of(text: str) -> str:
    """A test's name: the same in every process, though the key is not."""
    return text.replace(LINE, "KEY")[:120]


def parse(*lines: str) -> allowed_signers.Keyring:
    return allowed_signers.parse("".join(line + "\n" for line in lines).encode(), place="signers")


def ssh_keygen_allows(folder: Path, text: str, principal: str, namespace: str, *options: str) -> bool:
    (folder / "signers").write_text(text)
    (folder / "signature").write_bytes(sshsig.sign(KEY, MESSAGE, namespace))
    command = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", principal, "-n", namespace]
    command += ["-s", "signature", *options]
    done = subprocess.run(command, input=MESSAGE, capture_output=True, check=False, cwd=folder)
    return done.returncode == 0


GOOD = [
    f"alice@example.org {LINE}",
    f"alice@example.org {LINE} a comment here",
    f"  alice@example.org\t{LINE}",
    f"alice@example.org,bob@example.org {LINE}",
    f"*@example.org {LINE}",
    f"?lice@example.org {LINE}",
    f"bob@example.org {LINE}",
    f"[a]lice@example.org {LINE}",
    f'alice@example.org namespaces="{NAMESPACE}" {LINE}',
    f'alice@example.org namespaces="git,{NAMESPACE}" {LINE}',
    f'alice@example.org NAMESPACES="geode.*" {LINE}',
    f'alice@example.org namespaces="git" {LINE}',
    f'alice@example.org namespaces="!git,*" {LINE}',
    f'alice@example.org namespaces="*,!geode.*" {LINE}',
    f'alice@example.org namespaces="git",valid-after="20200101Z" {LINE}',
]


@pytest.mark.parametrize("line", GOOD, ids=name_of)
@pytest.mark.parametrize("principal", ["alice@example.org", "bob@example.org", "alice@example.net"])
@pytest.mark.parametrize("namespace", [NAMESPACE, "git"])
def test_ssh_keygen_agrees(tmp_path: Path, line: str, principal: str, namespace: str) -> None:
    expected = ssh_keygen_allows(tmp_path, line + "\n", principal, namespace)
    keyring = parse("# comment", "", line)
    assert keyring.allows(principal, KEY.public_key, namespace) == expected
    assert not keyring.findings
    assert keyring.signers_for(OTHER.public_key, namespace) == ()


@pytest.mark.parametrize("stamp", ["20200101", "20230615", "20230616", "20250101"])
@pytest.mark.parametrize("clock", ["115959Z", "120000Z", "120001Z"])
def test_times_agree_with_ssh_keygen(tmp_path: Path, stamp: str, clock: str) -> None:
    line = f'a valid-after="20230615120000Z",valid-before="20230616120000Z" {LINE}'
    expected = ssh_keygen_allows(tmp_path, line + "\n", "a", NAMESPACE, f"-Overify-time={stamp}{clock}")
    at = datetime.strptime(stamp + clock, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    keyring = parse(line)
    assert keyring.allows("a", KEY.public_key, NAMESPACE, at) == expected
    assert keyring.allows("a", KEY.public_key, NAMESPACE)


@pytest.mark.parametrize(
    ("text", "expected", "codes"),
    [
        ("20230615Z", datetime(2023, 6, 15, tzinfo=UTC), []),
        ("202306151234Z", datetime(2023, 6, 15, 12, 34, tzinfo=UTC), []),
        ("20230615123456utc", datetime(2023, 6, 15, 12, 34, 56, tzinfo=UTC), []),
        ("20230615", datetime(2023, 6, 15, tzinfo=UTC), ["KR104"]),
    ],
)
def test_times(text: str, expected: datetime, codes: list[str]) -> None:
    keyring = parse(f'a valid-after="{text}" {LINE}')
    assert keyring.entries[0].valid_after == expected
    assert [finding.code for finding in keyring.findings] == codes


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"a cert-authority {LINE}", "KR101"),
        (f'a CERT-AUTHORITY,namespaces="git" {LINE}', "KR101"),
        (f"a {RSA}", "KR102"),
        (f'a namespaces="git" {RSA}', "KR102"),
        (f"a,!b {LINE}", "KR103"),
    ],
    ids=name_of,
)
def test_unsupported_lines_are_left_out_with_a_finding(line: str, code: str) -> None:
    keyring = parse(line, f"b {keyfile.public_line(OTHER.public_key)}")
    assert [(finding.code, finding.place.line) for finding in keyring.findings] == [(code, 1)]
    assert keyring.findings[0].place.file == "signers"
    assert keyring.public_keys == (OTHER.public_key,)
    assert keyring.signers_for(KEY.public_key, NAMESPACE) == ()


MALFORMED = [
    "alice",
    "alice ssh-ed25519",
    "alice ssh-ed25519 AAAA====",
    f",alice {LINE}",
    f"alice,,bob {LINE}",
    f'"alice bob" {LINE}',
    f'"alice" {LINE}',
    f"alice no-such-option {LINE}",
    f"alice namespaces {LINE}",
    f"alice namespaces=git {LINE}",
    f'alice namespaces="git {LINE}',
    f'alice namespaces="" {LINE}',
    f'alice namespaces="git," {LINE}',
    f'alice namespaces="a\\"b" {LINE}',
    f'alice namespaces="a",namespaces="b" {LINE}',
    f'alice namespaces="a", valid-after="20200101Z" {LINE}',
    f'alice cert-authority="x" {LINE}',
    'alice namespaces="a"',
    'alice namespaces="a" ssh-new AAAA',
    f'alice valid-after="yesterday" {LINE}',
    f'alice valid-after="2023061512Z" {LINE}',
    f'alice valid-after="20230230Z" {LINE}',
    f'alice valid-after="00000101Z" {LINE}',
    f'alice valid-after="20240101Z",valid-before="20240101Z" {LINE}',
    f"alice {LINE}\r",
    f"\ufeffalice {LINE}",
    f"al\u202eice {LINE}",
    f"alice\0 {LINE}",
    f"alice {LINE} \x1b[31m",
    f"alice {LINE} " + "x" * allowed_signers.MAX_LINE,
]


@pytest.mark.parametrize("line", MALFORMED, ids=name_of)
def test_malformed_lines_are_refused(line: str) -> None:
    with pytest.raises(DataError) as caught:
        parse("# first", line)
    assert caught.value.code in ("TE103", "TE311")
    assert caught.value.place == "signers:2"


def test_weak_and_non_canonical_keys_are_refused() -> None:
    for key in (IDENTITY, LINE + "AAAA", LINE[:-4]):
        with pytest.raises(DataError) as caught:
            parse(f"alice {key}")
        assert caught.value.code == "TE311"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"#" * (allowed_signers.MAX_BYTES + 1), "TE203"),
        (b"\n" * (allowed_signers.MAX_LINES + 1), "TE103"),
        (b"alice \xff\n", "TE103"),
    ],
)
def test_bounds(data: bytes, code: str) -> None:
    with pytest.raises(DataError) as caught:
        allowed_signers.parse(data)
    assert caught.value.code == code


def test_one_key_twice_counts_once() -> None:
    keyring = parse(f"alice,bob {LINE}", f"carol {LINE}", f"alice {LINE} again")
    assert keyring.public_keys == (KEY.public_key,)
    assert keyring.signers_for(KEY.public_key, NAMESPACE) == ("alice", "bob", "carol")


def test_our_line_is_read_by_us_and_by_ssh_keygen(tmp_path: Path) -> None:
    line = allowed_signers.allowed_line("alice@example.org", NAMESPACE, KEY.public_key)
    path = tmp_path / "allowed"
    path.write_text(line + "\n")
    keyring = allowed_signers.load(path)
    assert keyring.signers_for(KEY.public_key, NAMESPACE) == ("alice@example.org",)
    assert keyring.signers_for(KEY.public_key, "git") == ()
    assert ssh_keygen_allows(tmp_path, line + "\n", "alice@example.org", NAMESPACE)
    assert not ssh_keygen_allows(tmp_path, line + "\n", "alice@example.org", "git")


BAD_NAMES = [
    "",
    "a b",
    "a\tb",
    "a\nb",
    "a,b",
    "*",
    "a?",
    "!a",
    "#a",
    'a"b',
    "a\\b",
    "a\u00a0b",
    "a\x7f",
    "\u202ea",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_would_read_otherwise_are_not_written(name: str) -> None:
    for principal, namespace in ((name, NAMESPACE), ("alice", name)):
        with pytest.raises(WorldError) as caught:
            allowed_signers.allowed_line(principal, namespace, KEY.public_key)
        assert caught.value.code == "TE101"


@settings(deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_a_line_we_write_reads_back_as_the_names_given(principal: str, namespace: str) -> None:
    try:
        line = allowed_signers.allowed_line(principal, namespace, KEY.public_key)
    except WorldError:
        return
    assert parse(line).signers_for(KEY.public_key, namespace) == (principal,)


@settings(deadline=None)
@given(st.text("ab*?.[", max_size=8), st.text("ab.[", max_size=8))
def test_patterns_match_like_their_regular_expression(pattern: str, text: str) -> None:
    translated = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    assert patterns.matches(text, pattern) == bool(re.fullmatch(translated, text))


def test_patterns_take_no_exponential_time() -> None:
    assert not patterns.matches("a" * 4000, "a*" * 500 + "b")


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_code(data: bytes) -> None:
    for text in (data, b"alice " + data, b"alice namespaces=" + data, f"alice {LINE} ".encode() + data):
        try:
            allowed_signers.parse(text)
        except TrajError as error:
            assert error.code in ("TE103", "TE311")
