"""Signing, and what a stranger does with a signed release: real `ssh-keygen` and `sha256sum`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import release_forge
from release_forge import (
    KEY,
    REVIEWER_KEY,
    SIGNER_NAME,
    keyring,
    new_key,
    put_release,
    review_folder,
    staged,
    trajectory,
)

from geode_traj.attest.allowed_signers import allowed_line
from geode_traj.codec import schema
from geode_traj.errors import TrajError
from geode_traj.release import layout
from geode_traj.release.check.verdict import check
from geode_traj.release.sign import sign


def code_of(call: Callable[..., object], *args: object) -> str:
    with pytest.raises(TrajError) as caught:
        call(*args)
    return caught.value.code


def test_one_signature_makes_a_release_valid_for_whom_knows_the_key(tmp_path: Path) -> None:
    root = put_release(tmp_path)
    path = sign(root, KEY, layout.SIGNER)
    assert path == root / "signatures" / "SHA256SUMS.release-signer.sshsig"
    found = check(root, keyring=keyring(KEY))
    assert (found.verdict, found.exit_code, found.findings) == ("valid", 0, ())
    assert [(signer.role, signer.trusted) for signer in found.signers] == [("release-signer", True)]
    for ring in (None, keyring(new_key()), keyring(KEY, namespace="other")):
        found = check(root, keyring=ring)
        assert (found.verdict, found.exit_code) == ("intact, signer unknown", 6)
        assert [finding.code for finding in found.findings] == ["RL1407"]
        assert found.errors == ()
        assert schema.problems("geode-traj.release-report@1", found.to_json()) == []


def test_two_roles_sign_in_their_order_with_two_keys(tmp_path: Path) -> None:
    root = put_release(tmp_path, roles=True, policy=release_forge.two_people())
    assert code_of(sign, root, KEY, layout.SIGNER) == "TE312"
    sign(root, REVIEWER_KEY, layout.REVIEWER)
    assert code_of(sign, root, REVIEWER_KEY, layout.SIGNER) == "TE310"
    sign(root, KEY, layout.SIGNER)
    assert check(root, keyring=keyring(KEY, REVIEWER_KEY)).verdict == "valid"
    for ring in (keyring(KEY), keyring(REVIEWER_KEY)):
        assert check(root, keyring=ring).verdict == "intact, signer unknown"


def test_a_signature_is_never_overwritten_and_always_the_same(tmp_path: Path) -> None:
    root = put_release(tmp_path)
    path = sign(root, KEY, layout.SIGNER)
    before = path.read_bytes()
    assert code_of(sign, root, new_key(), layout.SIGNER) == "TE601"
    assert path.read_bytes() == before
    path.unlink()
    assert sign(root, KEY, layout.SIGNER).read_bytes() == before  # the empty folder is no obstacle


@pytest.mark.parametrize("role", ["", "Signer", "a b", "../x", "a--b", "-a", "a-", "x" * 65, "rôle"])
def test_what_is_no_role(role: str, tmp_path: Path) -> None:
    assert code_of(sign, tmp_path, KEY, role) == "TE101"
    assert layout.signature_role(layout.signature_path(role)) is None


def test_only_what_is_whole_is_signed(tmp_path: Path) -> None:
    root = put_release(tmp_path)
    bare = tmp_path / "bare" / root.name
    shutil.copytree(root / "data" / root.name, bare)
    assert code_of(sign, bare, KEY, layout.SIGNER) == "TE303"
    (root / "README.md").write_text("changed")
    assert code_of(sign, root, KEY, layout.SIGNER) == "TE401"
    assert not (root / "signatures").exists()


def test_a_key_that_errs_leaves_no_signature(tmp_path: Path) -> None:
    class Erring:
        public_key = KEY.public_key

        def sign(self, data: bytes) -> bytes:
            return KEY.sign(data + b"x")

    root = put_release(tmp_path)
    assert code_of(sign, root, Erring(), layout.SIGNER) == "TE401"
    assert not (root / "signatures").exists()


def test_checking_writes_nothing(tmp_path: Path) -> None:
    root = put_release(tmp_path)
    sign(root, KEY, layout.SIGNER)
    before = release_forge.snapshot(tmp_path)
    check(root, keyring=keyring(KEY))
    assert release_forge.snapshot(tmp_path) == before


def test_a_release_is_found_by_any_path_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = put_release(tmp_path)
    sign(root, KEY, layout.SIGNER)
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root)
    for path in (tmp_path / "link", Path(), Path("../" + root.name)):
        assert check(path, keyring=keyring(KEY)).verdict == "valid"


@pytest.mark.parametrize("name", ["nothing", "file"])
def test_what_cannot_be_opened_is_unreadable(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    found = check(tmp_path / name)
    assert (found.verdict, found.exit_code, found.release_id) == ("unreadable", 3, None)
    assert schema.problems("geode-traj.release-report@1", found.to_json()) == []


# the stranger


def recipe(root: Path) -> list[str]:
    """Return the four commands that the release's own README gives."""
    block = re.search(r"```sh\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    assert block
    return block[1].replace("\\\n", "").replace("SIGNER", SIGNER_NAME).strip().split("\n")


def stranger_accepts(root: Path, commands: list[str]) -> list[bool]:
    """Run the commands as a stranger would; say of each whether it gave what the README promises."""
    accepted = []
    for number, command in enumerate(commands):
        done = subprocess.run(["sh", "-c", command], cwd=root, capture_output=True, text=True, check=False)
        said = "Good" if number == 0 else ""
        right = done.stdout.startswith("Good") if said else done.stdout == ""
        accepted.append(right and done.returncode == 0)
    return accepted


TAMPERED: dict[str, tuple[Callable[[Path], object], list[bool]]] = {
    "nothing": (lambda root: None, [True, True, True, True]),
    "a byte changed": (
        lambda root: (root / "release.json").write_text("{}"),
        [True, False, True, True],
    ),
    "sums rewritten": (
        lambda root: (root / "SHA256SUMS").write_text((root / "SHA256SUMS").read_text().lower()),
        [False, False, False, True],
    ),
    "a file added": (lambda root: (root / "data" / "x").write_text("x"), [True, True, False, True]),
    "a file lost": (lambda root: (root / "README.md").unlink(), [True, False, False, True]),
    "a link added": (lambda root: (root / "x").symlink_to("README.md"), [True, True, True, False]),
    "signed by another": (
        lambda root: (root / layout.signature_path(layout.SIGNER)).write_bytes(
            release_forge.sshsig.sign(new_key(), (root / "SHA256SUMS").read_bytes(), layout.NAMESPACE)
        ),
        [False, True, True, True],
    ),
}


@pytest.mark.parametrize("label", TAMPERED)
def test_the_strangers_recipe(label: str, tmp_path: Path) -> None:
    change, expected = TAMPERED[label]
    root = put_release(tmp_path)
    sign(root, KEY, layout.SIGNER)
    line = allowed_line(SIGNER_NAME, layout.NAMESPACE, KEY.public_key)
    (root.parent / "allowed_signers").write_text(line + "\n")
    commands = recipe(root)
    assert len(commands) == 4
    change(root)
    assert stranger_accepts(root, commands) == expected
    assert (check(root, keyring=keyring(KEY)).verdict == "valid") == all(expected)


def test_a_signature_made_by_ssh_keygen_is_valid(tmp_path: Path) -> None:
    root = put_release(tmp_path)
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    made = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-f", key, "-n", layout.NAMESPACE],
        input=(root / "SHA256SUMS").read_bytes(),
        capture_output=True,
        check=True,
    ).stdout
    (root / "signatures").mkdir()
    (root / layout.signature_path(layout.SIGNER)).write_bytes(made)
    ring = release_forge.parse(b"demo " + (tmp_path / "key.pub").read_bytes())
    assert check(root, keyring=ring).verdict == "valid"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\nb `x` <script>", "a\\nb `x` <script>"), ("x\u202ey", "x\\u202ey"), ("{fields}", "{fields}")],
)
def test_the_readme_shows_hostile_text_and_never_renders_it(text: str, shown: str, tmp_path: Path) -> None:
    root = put_release(tmp_path, source=text)
    assert f"    Source:       {shown}\n" in (root / "README.md").read_text()
    assert len(recipe(root)) == 4


def test_a_hundred_trajectories(tmp_path: Path) -> None:
    docs = [trajectory(f"run {number}") for number in range(100)]
    root = staged(review_folder(tmp_path / "review", docs), tmp_path / "out")
    sign(root, KEY)
    assert check(root, keyring=keyring(KEY)).verdict == "valid"
