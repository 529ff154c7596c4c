"""Every check of a release, and the threats of a release folder, each with the one code it must give."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import release_forge
from release_forge import KEY, REVIEWER_KEY, Forge, event, events, framed, keyring, new_key, trajectory

from geode_traj.attest import sshsig, wire
from geode_traj.codec.files import sha256_bytes
from geode_traj.release import layout
from geode_traj.release.check import limits, reading, registry, tree, verdict
from geode_traj.release.check.verdict import check

AT = "@"
RING = keyring(KEY, REVIEWER_KEY)
SIGNATURE = layout.signature_path(layout.SIGNER)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Forge]:
    return {
        roles: release_forge.good_release(tmp_path_factory.mktemp("good"), roles=roles)
        for roles in (False, True)
    }


Break = Callable[[Forge, pytest.MonkeyPatch], object]
CASES: list[tuple[str, str, Break]] = []


def broken(code: str) -> Callable[[Break], Break]:
    def register(function: Break) -> Break:
        CASES.append((code, function.__name__, function))
        return function

    return register


# the folder


@broken("RL1001")
def extra_symlink(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "notes.md").symlink_to("README.md")


@broken("RL1001")
def listed_symlink(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "README.md").rename(forge.root.parent / "elsewhere.md")
    (forge.root / "README.md").symlink_to("../elsewhere.md")


@broken("RL1001")
def symlinked_folder(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "more").symlink_to("data")


@broken("RL1001")
def fifo(forge: Forge, _: pytest.MonkeyPatch) -> None:
    os.mkfifo(forge.root / "pipe")


@broken("RL1001")
def unix_socket(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(forge.root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")


@broken("RL1002")
def hard_link(forge: Forge, _: pytest.MonkeyPatch) -> None:
    os.link(forge.root / "README.md", forge.root.parent / "second")


@broken("RL1003")
def hidden_file(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(".hidden", b"x")


@broken("RL1003")
def control_character(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("a\x1b[2Jb", b"x")


@broken("RL1003")
def not_unicode(forge: Forge, _: pytest.MonkeyPatch) -> None:
    Path(os.fsdecode(os.fsencode(forge.root) + b"/\xff")).write_bytes(b"x")


@broken("RL1003")
def look_alike_folder(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("dаta/x", b"x")  # a Cyrillic letter


@broken("RL1003")
def stray_signature(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("signatures/readme", b"x")


@broken("RL1004")
def empty_folder(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "data" / "reviews").mkdir()


@broken("RL1005")
def too_many(_: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_ENTRIES", 9)


@broken("RL1005")
def too_deep(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("/".join("x" * (limits.MAX_DEPTH + 2)), b"x")


@broken("RL1005")
def too_many_bytes(_: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_TOTAL", 100)


@broken("RL1006")
def case_twin(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("readme.md", b"x")
    forge.seal()


@broken("RL1007")
def no_permission(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    real = tree.opened

    def opened(root: int, path: str) -> object:
        if path == "README.md":
            raise PermissionError(13, "Permission denied")
        return real(root, path)

    patch.setattr(tree, "opened", opened)


@broken("RL1007")
def grows_meanwhile(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    real = tree.walk

    def walk(root: int, allowed: tree.Names) -> tree.Tree:
        seen = real(root, allowed)
        with (forge.root / "README.md").open("ab") as stream:
            stream.write(b"more")
        return seen

    patch.setattr(tree, "walk", walk)


@broken("RL1007")
def swapped_for_a_link(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    real = tree.walk

    moved = forge.root.parent / "moved"

    def walk(root: int, allowed: tree.Names) -> tree.Tree:
        if moved.exists():
            forge.geode.unlink()
            moved.rename(forge.geode)
        seen = real(root, allowed)
        forge.geode.rename(moved)
        forge.geode.symlink_to(moved)
        return seen

    patch.setattr(tree, "walk", walk)


@broken("RL1007")
def manifest_too_large(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_LIST", 10)


@broken("RL1008")
def no_readme(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "README.md").unlink()
    forge.seal()


@broken("RL1008")
def no_sums(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "SHA256SUMS").unlink()


@broken("RL1008")
def no_manifest(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.geode / "manifest.json").unlink()
    forge.seal()


@broken("RL1008")
def no_release(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "release.json").unlink()
    forge.seal()


# the lists


@broken("RL1101")
def carriage_returns(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.__setitem__(0, lines[0].replace("\n", "\r\n")))


@broken("RL1101")
def unsorted_sums(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.reverse())


@broken("RL1101")
def listed_twice(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.insert(0, lines[0]))


@broken("RL1101")
def escaped_name(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.append(f"\\{'0' * 64}  a\\nb\n"))


@broken("RL1101")
def torn_sums(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lines=lambda lines: lines.__setitem__(-1, lines[-1][:-1]))


@pytest.mark.parametrize(
    "name",
    ["../x.json", "/etc/x", "c:\\x", "\\\\host\\x", "~/x", "a//b", "./x", "a/../b", ".x", "x\ty", "con:"],
)
def test_no_listed_name_leads_elsewhere(name: str, good: dict[bool, Forge], tmp_path: Path) -> None:
    forge = good[False].copy(tmp_path)
    forge.seal(_listing(name))
    codes = {finding.code for finding in check(forge.root).errors}
    assert codes == ({"RL1101"} if "\\" in name else {"RL1102"})


def _listing(name: str) -> Callable[[dict], None]:
    """List one more file."""

    def change(release: dict) -> None:
        release["files"].append({"path": name, "bytes": 1, "sha256": "0" * 64})
        release["files"].sort(key=lambda file: file["path"])

    return change


@broken("RL1102")
def upward_name(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(_listing("data/../../outside"))


@broken("RL1103")
def sums_name_themselves(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(_listing("SHA256SUMS"))


@broken("RL1103")
def sums_name_a_signature(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(_listing(SIGNATURE))


@broken("RL1104")
def file_lost(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / "README.md").unlink()


@broken("RL1105")
def file_added(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("notes.md", b"x")


@broken("RL1105")
def file_added_below(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("data/reviews/x.json", b"{}")


@broken("RL1106")
def byte_changed(forge: Forge, _: pytest.MonkeyPatch) -> None:
    text = (forge.root / "README.md").read_bytes()
    forge.write("README.md", text.replace(b"Agent", b"agent", 1))


def _raw_release(change: Callable[[str], str]) -> Break:
    def apply(forge: Forge, _: pytest.MonkeyPatch) -> None:
        forge.seal(raw=change((forge.root / "release.json").read_text()).encode())

    return apply


for label, change in {
    "repeated_key": lambda text: text.replace("{", '{"sequence":1,', 1),
    "not_a_number": lambda text: text.replace('"sequence":1', '"sequence":NaN'),
    "byte_order_mark": lambda text: "\ufeff" + text,
    "too_deep_json": lambda text: text.replace('"sequence":1', '"sequence":' + "[" * 300 + "]" * 300),
    "cut_short": lambda text: text[:-5],
}.items():
    CASES.append(("RL1107", label, _raw_release(change)))


@broken("RL1108")
def float_for_integer(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(sequence=1.5))


@broken("RL1108")
def other_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(note="x"))


@broken("RL1109")
def mixed_digests(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: None)
    release = forge.release
    release["files"][0]["sha256"] = "0" * 64
    data = release_forge.encode(release)
    old = sha256_bytes((forge.root / "release.json").read_bytes())
    forge.write("release.json", data)
    sums = (forge.root / "SHA256SUMS").read_text().replace(old, sha256_bytes(data))
    forge.write("SHA256SUMS", sums.encode())
    forge.sign()


@broken("RL1110")
def unsorted_release(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["files"].reverse())


@broken("RL1111")
def size_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["files"][0].update(bytes=1))


@broken("RL1112")
def release_of_another(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(release_id=release["release_id"][:-1] + "x"))


@broken("RL1113")
def time_disagrees(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(published_at="2025-06-16T19:02:04Z"))


@broken("RL1113")
def supersedes_disagrees(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(supersedes="x"))


@broken("RL1114")
def events_disagree(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["trajectories"][0].update(events=6))


@broken("RL1114")
def trajectory_left_out(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release["trajectories"].pop())


@broken("RL1115")
def second_without_first(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(sequence=2))


@broken("RL1115")
def number_zero(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.seal(lambda release: release.update(sequence=0, previous="0" * 64))


@broken("RL1116")
def two_manifests(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("data/other/manifest.json", (forge.geode / "manifest.json").read_bytes())
    forge.seal()


@broken("RL1117")
def address_in_readme(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("README.md", f"write to demo_user{AT}quarrystone-mail.org\n".encode())
    forge.seal()


@broken("RL1118")
def endless_line(forge: Forge, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "MAX_LINE", 1 << 16)
    forge.write("notes.md", b"x" * (3 << 20) + b"\n")
    forge.seal()


@broken("RL1118")
def address_in_no_text(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write("notes.bin", f"\udcff demo_user{AT}quarrystone-mail.org".encode("utf-8", "surrogateescape"))
    forge.seal()


# the manifest


@broken("RL1201")
def manifest_repeats_a_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    text = (forge.geode / "manifest.json").read_bytes()
    forge.set_manifest(text.replace(b"{", b'{"supersedes":null,', 1))
    forge.seal()


@broken("RL1202")
def manifest_counts_a_secret(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["quality"]["secret_scan"].update(email=1))
    forge.seal()


@broken("RL1202")
def manifest_has_another_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest.update(note="x"))
    forge.seal()


@broken("RL1203")
def manifest_not_bound(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest.update(supersedes="x"), bind=False)
    forge.seal()


@broken("RL1203")
def unusable_source(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest.update(release_source="🙂"), bind=False)
    forge.seal()


@broken("RL1205")
def manifest_names_itself(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(f"data/{forge.root.name}/sub/manifest.json", framed(trajectory("gamma")))
    entry = {**forge.manifest["files"][1], "path": "sub/manifest.json"}
    data = (forge.geode / "sub/manifest.json").read_bytes()
    entry |= {"bytes": len(data), "sha256": sha256_bytes(data), "trajectory_id": "gamma"}

    def change(manifest: dict) -> None:
        manifest["files"].append(entry)
        for key in ("scope_complete", "replay_complete", "complete"):
            manifest["quality"][f"{key}_trajectories"] += 1
        manifest["quality"]["trajectory_events"] += 5

    forge.edit_manifest(change)
    forge.seal()


@broken("RL1205")
def manifest_not_sorted(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"].reverse())
    forge.seal()


@broken("RL1206")
def undeclared(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(f"data/{forge.root.name}/notes.txt", b"x")
    forge.seal()


@broken("RL1207")
def declared_missing(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.geode / "beta.json").unlink()
    forge.seal()


@broken("RL1208")
def declared_size_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"][0].update(bytes=1))
    forge.seal()


@broken("RL1208")
def declared_digest_lie(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["files"][0].update(sha256="0" * 64))
    forge.seal()


@broken("RL1209")
def padded_scope(forge: Forge, _: pytest.MonkeyPatch) -> None:
    def change(manifest: dict) -> None:
        manifest["release_scope"] += " "
        manifest["privacy_review"]["scope"] += " "

    forge.edit_manifest(change)
    forge.seal()


@broken("RL1209")
def day_that_never_was(forge: Forge, _: pytest.MonkeyPatch) -> None:
    manifest = forge.manifest
    manifest["published_at"] = "2025-02-31T00:00:00Z"
    data = release_forge.encode(manifest)
    forge.set_manifest(data, bind=False)
    forge.rename(f"Example-Lab-demo-runs-20250231T000000Z-{sha256_bytes(data)[:12]}")
    forge.seal()


@broken("RL1210")
def record_changed(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.edit_manifest(lambda manifest: manifest["privacy_review"].update(reviewer="another"))
    forge.seal()


@broken("RL1211")
def reviewed_for_another_scope(forge: Forge, _: pytest.MonkeyPatch) -> None:
    record = release_forge.review_record("another scope")
    forge.edit_manifest(lambda manifest: manifest.update(privacy_review=record))
    forge.seal()


# the trajectories


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


# the signatures


@broken("RL1401")
def stripped(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / SIGNATURE).unlink()
    (forge.root / "signatures").rmdir()


@broken("RL1401")
def one_of_two_roles(forge: Forge, _: pytest.MonkeyPatch) -> None:
    (forge.root / layout.signature_path(layout.REVIEWER)).unlink()


@broken("RL1402")
def base64_of_another_spelling(forge: Forge, _: pytest.MonkeyPatch) -> None:
    armored = (forge.root / SIGNATURE).read_bytes()
    forge.write(SIGNATURE, armored.replace(b"=\n", b"\n"))


@broken("RL1402")
def malleated(forge: Forge, _: pytest.MonkeyPatch) -> None:
    order = 2**252 + 27742317777372353535851937790883648493
    signature = sshsig.parse((forge.root / SIGNATURE).read_bytes()).signature
    scalar = int.from_bytes(signature[32:], "little") + order
    forge.write(SIGNATURE, _armored(KEY.public_key, signature[:32] + scalar.to_bytes(32, "little")))


@broken("RL1403")
def weak_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    identity = (1).to_bytes(32, "little")
    forge.write(SIGNATURE, _armored(identity, identity + bytes(32)))


def _armored(public_key: bytes, signature: bytes) -> bytes:
    fields = (
        wire.public_blob(public_key),
        layout.NAMESPACE.encode(),
        b"",
        b"sha512",
        wire.string(wire.KEY_TYPE) + wire.string(signature),
    )
    return sshsig._armor(b"SSHSIG" + (1).to_bytes(4, "big") + b"".join(map(wire.string, fields)))


@broken("RL1404")
def signed_for_something_else(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.sign(namespace="file")


@broken("RL1405")
def signature_of_another_release(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.write(SIGNATURE, sshsig.sign(KEY, b"other sums\n", layout.NAMESPACE))


@broken("RL1405")
def victims_key(forge: Forge, _: pytest.MonkeyPatch) -> None:
    parsed = sshsig.parse(sshsig.sign(new_key(), (forge.root / "SHA256SUMS").read_bytes(), layout.NAMESPACE))
    forge.write(SIGNATURE, _armored(KEY.public_key, parsed.signature))


@broken("RL1406")
def one_key_twice(forge: Forge, _: pytest.MonkeyPatch) -> None:
    forge.signers = {layout.SIGNER: KEY, layout.REVIEWER: KEY}
    forge.sign()


NEEDS_ROLES = {"one_of_two_roles"}
# What a bound cuts off, and what nobody can read, is missing for other checks too.
WITH_OTHERS = {"too_many", "too_deep", "too_many_bytes"}


def errors(forge: Forge) -> list[str]:
    return [finding.code for finding in check(forge.root, keyring=RING).errors]


@pytest.mark.parametrize(("code", "label", "fault"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_each_fault_gives_its_own_code_and_nothing_else_would_find_it(
    code: str,
    label: str,
    fault: Break,
    good: dict[bool, Forge],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forge = good[label in NEEDS_ROLES].copy(tmp_path)
    assert errors(forge) == []
    fault(forge, monkeypatch)
    found = check(forge.root, keyring=RING)
    assert {finding.code for finding in found.errors} == {code} or label in WITH_OTHERS
    assert code in {finding.code for finding in found.errors}
    assert found.verdict == ("unreadable" if code == "RL1007" else "invalid")
    assert found.exit_code == {"RL1007": 3, "RL1401": 4}.get(code, 10)
    json.dumps(found.to_json(), ensure_ascii=False).encode()
    without = {name: rule for name, rule in registry.all_checks().items() if name != code}
    monkeypatch.setattr(verdict, "all_checks", lambda: without)
    assert errors(forge) == [] or label in WITH_OTHERS


def test_no_check_is_without_a_fault() -> None:
    alone = {code for code, label, _ in CASES if label not in WITH_OTHERS}
    by_other_tests = {"RL1005", "RL1204", "RL1407"}
    assert alone | by_other_tests == set(registry.all_checks())


def test_what_lies_beyond_a_bound_is_not_valid_because_nobody_looked(
    good: dict[bool, Forge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # RL1005 alone: all that is listed comes before what is too deep, in the order of names.
    forge = good[False].copy(tmp_path)
    forge.write("z/" * (limits.MAX_DEPTH + 2) + "x", b"x")
    assert errors(forge) == ["RL1005"]
    without = {name: rule for name, rule in registry.all_checks().items() if name != "RL1005"}
    monkeypatch.setattr(verdict, "all_checks", lambda: without)
    assert errors(forge) == []


def test_the_manifest_is_the_one_recorded_beforehand(
    good: dict[bool, Forge], monkeypatch: pytest.MonkeyPatch
) -> None:
    forge = good[False]
    digest = sha256_bytes((forge.geode / "manifest.json").read_bytes())
    assert check(forge.root, keyring=RING, manifest_sha256=digest).verdict == "valid"
    found = check(forge.root, keyring=RING, manifest_sha256="0" * 64)
    assert [finding.code for finding in found.errors] == ["RL1204"]
    without = {name: rule for name, rule in registry.all_checks().items() if name != "RL1204"}
    monkeypatch.setattr(verdict, "all_checks", lambda: without)
    assert check(forge.root, keyring=RING, manifest_sha256="0" * 64).verdict == "valid"


def test_all_faults_are_found_at_once(good: dict[bool, Forge], tmp_path: Path) -> None:
    forge = good[False].copy(tmp_path)
    forge.write("README.md", b"x")
    forge.write("notes.md", b"x")
    (forge.root / "data" / "empty").mkdir()
    (forge.root / "pipe").symlink_to("x")
    assert errors(forge) == ["RL1001", "RL1004", "RL1105", "RL1106"]


def test_parts_of_two_valid_releases_make_none(good: dict[bool, Forge], tmp_path: Path) -> None:
    review = release_forge.review_folder(tmp_path / "review", [trajectory("Alpha One"), trajectory("zeta")])
    other = Forge(release_forge.staged(review, tmp_path / "out", source="Other"))
    other.seal()
    parts = ["README.md", "release.json", "SHA256SUMS", SIGNATURE, "data"]
    assert errors(other) == []
    for number, part in enumerate(parts):
        forge = good[False].copy(tmp_path / str(number))
        theirs = other.root / part
        if part == "data":
            for path in forge.geode.iterdir():
                path.write_bytes((other.geode / path.name.replace("beta", "zeta")).read_bytes())
        else:
            forge.write(part, theirs.read_bytes())
        assert errors(forge), part


def test_findings_of_one_code_are_bounded(good: dict[bool, Forge], tmp_path: Path) -> None:
    forge = good[False].copy(tmp_path)
    for number in range(registry.PER_CODE + 5):
        forge.write(f"extra-{number}", b"x")
    found = check(forge.root, keyring=RING)
    assert len(found.errors) == registry.PER_CODE
    assert [finding.message for finding in found.findings if finding.severity == "note"] == [
        "5 more finding(s) of RL1105 are not listed"
    ]


def test_reading_is_as_strict_as_the_list_says() -> None:
    assert reading._sums(b"") == ([], None)
    assert reading._sums(b"0" * 64 + b" *x\n")[0] is None
