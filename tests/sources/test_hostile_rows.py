"""Input that breaks readers, in every format that it can reach: kept, counted, placed, paired, exact."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from geode_traj.migrate.apply import apply
from geode_traj.migrate.plan import plan
from geode_traj.model.receipt import MigrateReceipt
from geode_traj.verify import verify_bytes
from tests.migrate import pipeline
from tests.support import secrets, talks
from tests.support.carriers import CARRIERS, Carrier, Change

JUNK = (b"", b'"text"', b"[1]", b"null", b"42", b"{}")
DEEP = b'"unforeseen":' + b'{"a":' * 3000 + b"1" + b"}" * 3000
BOM = b"\xef\xbb\xbf"


@dataclass
class Outcome:
    """What came of an import: its receipts, and every session's export."""

    receipts: list[MigrateReceipt]
    exports: dict[str, bytes] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(one.total for one in self.receipts)

    @property
    def damaged(self) -> list[dict[str, Any]]:
        return [one for receipt in self.receipts for one in receipt.damaged]

    @property
    def reasons(self) -> list[str]:
        return sorted(one["reason"] for one in self.damaged)

    def events(self) -> Iterator[dict[str, Any]]:
        for data in self.exports.values():
            yield from json.loads(data)["events"]

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield every value of the payloads with the pointer to it, and every key as a value."""
        for event in self.events():
            yield from _values(event["payload"], "")


def _values(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    yield pointer, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{pointer}#", key
            yield from _values(item, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, f"{pointer}/{index}")


def imported(path: Path, store: Path, name: str | None = None) -> Outcome:
    """Import, export and verify; what holds for any input is held here."""

    def migrate() -> list[MigrateReceipt]:
        return list(apply(plan([path], store, format_name=name), store))

    outcome = Outcome(migrate())
    assert all(receipt.balanced for receipt in outcome.receipts)
    if not store.exists():
        return outcome
    for session in sorted({row.session_id for row in pipeline.rows(store)}):
        outcome.exports[session] = pipeline.export(store, session)
    for data in outcome.exports.values():
        verified = verify_bytes(data)
        assert verified.verdict in ("valid", "incomplete")
        assert [one for one in verified.findings if one.severity == "error"] == []
    again = migrate()
    assert {receipt.status for receipt in again} <= {"unchanged", "failed"}
    return outcome


@cache
def unchanged(carrier: Carrier) -> Outcome:
    with TemporaryDirectory() as folder:
        return imported(carrier.make(Path(folder)), Path(folder, "store", "sessions.db"))


def changed(carrier: Carrier, out: Path, change: Change, name: str | None = None) -> Outcome:
    return imported(carrier.make(out, change), out / "store" / "sessions.db", name)


def read(carrier: Carrier, out: Path, change: Change, name: str | None = None) -> Outcome:
    """Return the outcome of a file that is read in spite of the change."""
    outcome = changed(carrier, out, change, name)
    assert {(one.format, one.status) for one in outcome.receipts} == {(carrier.format, "imported")}
    return outcome


def of(*held: str) -> Any:
    carriers = [one for one in CARRIERS if one.held in held]
    ids = [f"{one.format}-{one.held}" for one in carriers]
    return pytest.mark.parametrize("carrier", carriers, ids=ids)


EVERY = of("lines", "document", "entry")


def quoted(text: str) -> bytes:
    return json.dumps(text).encode()


# --- what a record says ---


@EVERY
def test_odd_text_is_kept_where_it_stands_and_named(carrier: Carrier, tmp_path: Path) -> None:
    separators = "a\u2028b\u2029c\u0085d\v\f\x1ce"
    raw = json.dumps(separators, ensure_ascii=False).encode()
    raw = raw[:-1] + b' bad \xff\xfe\xc3 half \\ud83d end"'
    odd = read(carrier, tmp_path, carrier.says(raw))
    text = separators + r" bad \xff\xfe\xc3 half \ud83d end"
    assert (odd.total, odd.reasons) == (unchanged(carrier).total, unchanged(carrier).reasons)
    places = [pointer for pointer, value in odd.values() if value == text]
    assert {pointer for pointer, value in unchanged(carrier).values() if value == carrier.text} & set(places)
    marks = [mark for event in odd.events() for mark in event["payload"].get("_escaped", ())]
    as_it_stood = any(isinstance(value, str) and r"half \ud83d end\"" in value for _, value in odd.values())
    assert marks or as_it_stood


@EVERY
def test_numbers_are_exact_and_repeated_keys_kept(carrier: Carrier, tmp_path: Path) -> None:
    members = (
        b'"unforeseen":{"whole":[9007199254740993,123456789012345678901234567890],'
        b'"none":[NaN,Infinity,-Infinity],"twice":"first of two","twice":"second of two"}'
    )
    name = carrier.format if carrier.format == "openai-messages" else None  # known by its members alone
    odd = read(carrier, tmp_path, carrier.says(quoted(carrier.text), members), name)
    assert (odd.total, odd.reasons) == (unchanged(carrier).total, unchanged(carrier).reasons)
    values = [value for _, value in odd.values()]
    if any(isinstance(value, str) and members.decode() in value for value in values):
        return  # the text of a cell is kept as it is
    assert [9007199254740993, 123456789012345678901234567890] in values
    assert ["nan", "inf", "-inf"] in values
    assert {"first of two", "second of two"} <= {value for value in values if isinstance(value, str)}
    assert [mark for event in odd.events() for mark in event["payload"].get("_nonfinite", ())]


@EVERY
def test_endless_nesting_costs_its_own_record_alone(carrier: Carrier, tmp_path: Path) -> None:
    odd = changed(carrier, tmp_path, carrier.says(quoted(carrier.text), DEEP), carrier.format)
    if carrier.held == "document" and carrier.format != "inspect-eval":
        assert [receipt.code for receipt in odd.receipts] == ["TE204"]
    elif not any(b"unforeseen" in data for data in odd.exports.values()):
        more = [one for one in odd.reasons if one not in unchanged(carrier).reasons]
        assert more and set(more) <= {"too_deep", "not_json", "not_object"}


@EVERY
@pytest.mark.parametrize("shape", [b"null", b'{"odd shape":[42]}'])
def test_a_value_of_another_type_is_kept(carrier: Carrier, shape: bytes, tmp_path: Path) -> None:
    odd = changed(carrier, tmp_path, carrier.says(shape), carrier.format)
    assert {receipt.status for receipt in odd.receipts} == {"imported"}
    assert odd.total >= unchanged(carrier).total
    if shape != b"null" and len(odd.damaged) == len(unchanged(carrier).damaged):
        assert any(b"odd shape" in data for data in odd.exports.values())


@EVERY
def test_a_long_text_comes_back_whole(carrier: Carrier, tmp_path: Path) -> None:
    if carrier.format == "rind-usage":
        pytest.skip("it holds names alone")
    text = "words and " * 30_000
    odd = read(carrier, tmp_path, carrier.says(quoted(text)))
    assert any(text.encode() in data for data in odd.exports.values())


@EVERY
def test_a_secret_in_any_place_reaches_no_byte(carrier: Carrier, tmp_path: Path) -> None:
    secret, core = secrets.make("github_token"), secrets.core("github_token")
    member = json.dumps({secret: {"note": f"{'word ' * 2000}{secret}"}, "named": f"a\n{secret}"}).encode()
    change = carrier.says(quoted(f"take {secret} now"), b'"unforeseen":' + member)
    odd = changed(carrier, tmp_path, change, carrier.format)
    assert {receipt.status for receipt in odd.receipts} == {"imported"}
    stored = pipeline.file_bytes(tmp_path / "store" / "sessions.db")
    assert not [data for data in (stored, *odd.exports.values()) if core.encode() in data]
    assert any(b"[REDACTED:github_token:1]" in data for data in odd.exports.values())


ISO = re.compile(rb'"20\d\d(-\d\d-\d\dT\d\d:\d\d:\d\d[^"]*")')
EPOCH = re.compile(rb"(?<=[ :])1[78]\d{8}(?:\d{3})?(?:\.\d+)?(?=[,}\]\s])")


def with_odd_times(data: bytes) -> bytes:
    """Take every third time away and put every third one before all others."""
    count = itertools.count()

    def odd(found: re.Match[bytes]) -> bytes:
        number = next(count) % 3
        if number == 1:
            return b'"1999' + found[1] if found.re is ISO else b"9" + found[0][2:]
        return b"null" if number == 2 else found[0]

    return EPOCH.sub(odd, ISO.sub(odd, data))


@EVERY
def test_times_that_go_back_or_are_missing_move_nothing(carrier: Carrier, tmp_path: Path) -> None:
    odd = changed(carrier, tmp_path, with_odd_times, carrier.format)
    assert {receipt.status for receipt in odd.receipts} == {"imported"}

    def kinds(outcome: Outcome) -> list[list[str]]:
        told = [[one["kind"] for one in json.loads(data)["events"]] for data in outcome.exports.values()]
        return sorted([one for one in kinds if one != "session.ended"] for kinds in told)  # a time may be it

    if carrier.format == "rind":  # its journals hang together by their times alone
        assert sorted(map(sorted, kinds(odd))) == sorted(map(sorted, kinds(unchanged(carrier))))
    else:
        assert kinds(odd) == kinds(unchanged(carrier))


# --- lines ---


def at_text(carrier: Carrier, edit: Callable[[list[bytes], int], list[bytes]]) -> Change:
    """Return the change of the lines around that which holds the carrier's text."""

    def change(data: bytes) -> bytes:
        lines = data.rstrip(b"\n").split(b"\n")
        place = next(n for n, line in enumerate(lines) if quoted(carrier.text) in line)
        return b"".join(line + b"\n" for line in edit(lines, place))

    return change


def cut(line: bytes) -> bytes:
    return line[: len(line) * 2 // 3]


@of("lines")
def test_a_damaged_line_hides_no_other(carrier: Carrier, tmp_path: Path) -> None:
    seen: list[tuple[int, bytes, bytes]] = []

    def edit(lines: list[bytes], place: int) -> list[bytes]:
        seen.append((place + 1, b"".join(line + b"\n" for line in lines[:place]), cut(lines[place])))
        return [*lines[:place], cut(lines[place]), *lines[place + 1 :]]

    odd = read(carrier, tmp_path, at_text(carrier, edit))
    ((number, before, line),) = seen
    (found,) = [one for one in odd.damaged if one["line"] == number]
    told = (found["offset"], found["length"], found["sha256"], found["reason"])
    assert told == (len(before), len(line), sha256(line).hexdigest(), "not_json")
    assert len(odd.damaged) == len(unchanged(carrier).damaged) + 1
    if carrier.format != "hermes-export":  # of several sessions, none is the damaged line's
        documents = [json.loads(data) for data in odd.exports.values()]
        assert any("damaged" in one for doc in documents for one in doc["integrity"]["scope_incompleteness"])


@of("lines")
def test_a_damaged_first_line_hides_no_other(carrier: Carrier, tmp_path: Path) -> None:
    def change(data: bytes) -> bytes:
        first, rest = data.split(b"\n", 1)
        return cut(first) + b"\n" + rest

    # what names the format stands in the first line alone, there
    name = carrier.format if carrier.format == "hermes-gateway" else None
    odd = read(carrier, tmp_path, change, name)
    assert odd.exports
    if carrier.format != "stimm":  # the host's line, which is none of the format's
        assert any(one["line"] == 1 for one in odd.damaged)


@of("lines")
def test_a_torn_end_is_told_and_all_before_it_kept(carrier: Carrier, tmp_path: Path) -> None:
    torn = at_text(carrier, lambda lines, place: [*lines, cut(lines[place])])
    odd = read(carrier, tmp_path, lambda data: torn(data).rstrip(b"\n"))
    assert odd.reasons.count("torn_tail") == 1
    assert len(odd.damaged) == len(unchanged(carrier).damaged) + 1
    assert len(list(odd.events())) == len(list(unchanged(carrier).events()))


@of("lines")
def test_records_that_share_a_line_are_counted(carrier: Carrier, tmp_path: Path) -> None:
    def twice(lines: list[bytes], place: int) -> list[bytes]:
        line = lines[place]
        return [*lines[: place + 1], line + line, cut(line) + line, *lines[place + 1 :]]

    odd = read(carrier, tmp_path, at_text(carrier, twice))
    assert odd.total == unchanged(carrier).total + 2
    kept = sum(one.damaged_count + one.foreign for one in odd.receipts)
    assert kept >= sum(one.damaged_count + one.foreign for one in unchanged(carrier).receipts) + 1


@of("lines")
def test_lines_that_are_no_records_are_counted(carrier: Carrier, tmp_path: Path) -> None:
    def edit(lines: list[bytes], place: int) -> list[bytes]:
        return [*JUNK, *lines[: place + 1], *JUNK, *lines[place + 1 :]]

    odd = read(carrier, tmp_path, at_text(carrier, edit))
    assert odd.total == unchanged(carrier).total + 2 * len(JUNK)


@of("lines")
def test_a_block_of_nuls_is_damage_and_hides_no_record(carrier: Carrier, tmp_path: Path) -> None:
    def edit(lines: list[bytes], place: int) -> list[bytes]:
        return [*lines[:place], b"\0" * 4096, b"\0" * 64 + lines[place], *lines[place + 1 :]]

    odd = read(carrier, tmp_path, at_text(carrier, edit))
    assert odd.total == unchanged(carrier).total + 1
    assert len(odd.damaged) == len(unchanged(carrier).damaged) + 1
    assert odd.reasons.count("nul_block") == 1
    assert sum(one.losses["nul_block"] for one in odd.receipts) == 1
    assert len(list(odd.events())) == len(list(unchanged(carrier).events()))


# --- documents ---


@of("document")
def test_a_document_that_is_cut_is_refused_or_read_around(carrier: Carrier, tmp_path: Path) -> None:
    odd = changed(carrier, tmp_path, lambda data: data[: len(data) * 2 // 3], carrier.format)
    told = {(receipt.status, receipt.code) for receipt in odd.receipts}
    assert told == {("failed", "TE202")} or (odd.damaged and {one[0] for one in told} == {"imported"})


@of("document")
def test_entries_that_are_no_records_are_counted(carrier: Carrier, tmp_path: Path) -> None:
    junk = [json.loads(one) for one in JUNK if one]

    def change(data: bytes) -> bytes:
        document = json.loads(data)
        listed = document
        for step in carrier.records.split("/")[1:]:
            listed = listed[step]
        listed[1:1] = copy.deepcopy(junk)
        return json.dumps(document).encode()

    odd = read(carrier, tmp_path, change)
    assert odd.total == unchanged(carrier).total + len(junk)


# --- files ---


@EVERY
def test_a_byte_order_mark_and_carriage_returns_change_nothing(carrier: Carrier, tmp_path: Path) -> None:
    if carrier.place.endswith(".db"):
        pytest.skip("a cell has no lines")
    odd = read(carrier, tmp_path, lambda data: BOM + data.replace(b"\n", b"\r\n"))

    def said(outcome: Outcome) -> list[str]:
        texts = [json.dumps(event, sort_keys=True) for event in outcome.events()]
        texts = [re.sub(r"[0-9a-f]{64}|[0-9a-f-]{36}", "", text) for text in texts]
        return [re.sub(r'"(source_path|file)": "[^"]*"', "", text) for text in texts]

    assert said(odd) == said(unchanged(carrier))


@of("lines", "document")
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf \n\r\n", b"\0" * 4096])
def test_a_file_of_nothing_is_no_transcript(carrier: Carrier, data: bytes, tmp_path: Path) -> None:
    odd = changed(carrier, tmp_path, lambda _: data)
    if carrier.part:  # the rest of the folder is there
        assert {receipt.status for receipt in odd.receipts} == {"imported"}
    else:
        assert [receipt.code for receipt in odd.receipts] == ["TE205"]


# --- calls and results ---

USER = ("user", "Go on.")
TALKS: dict[str, tuple[list[talks.Step], dict[str, str], int]] = {  # steps, result of each call, open calls
    "a-call-ends-the-file": (
        [USER, ("calls", "t1"), ("result", "t1", "said-1"), ("calls", "t2")],
        {"arg-1": "said-1"},
        1,
    ),
    "a-call-is-interrupted": (
        [USER, ("calls", "t1"), USER, ("calls", "t3"), ("result", "t3", "said-1")],
        {"arg-2": "said-1"},
        1,
    ),
    "a-result-without-a-call": (
        [USER, ("result", "tX", "said-1"), ("calls", "t1"), ("result", "t1", "said-2")],
        {"arg-1": "said-2"},
        0,
    ),
    "an-empty-result-is-one": (
        [USER, ("calls", "t1"), ("result", "t1", ""), ("calls", "t2")],
        {"arg-1": ""},
        1,
    ),
    "late-in-the-other-order": (
        [
            USER,
            ("calls", "t1"),
            ("calls", "t2"),
            USER,
            ("result", "t2", "said-1"),
            ("result", "t1", "said-2"),
        ],
        {"arg-1": "said-2", "arg-2": "said-1"},
        0,
    ),
    "one-id-in-every-round": (
        [USER, ("calls", "c"), ("result", "c", "said-1"), ("calls", "c"), ("result", "c", "said-2")],
        {"arg-1": "said-1", "arg-2": "said-2"},
        0,
    ),
    "one-id-in-every-turn": (
        [USER, ("calls", "c"), ("result", "c", "said-1"), USER, ("calls", "c"), ("result", "c", "said-2")],
        {"arg-1": "said-1", "arg-2": "said-2"},
        0,
    ),
    "parallel-in-the-other-order": (
        [USER, ("calls", "p1", "p2"), ("result", "p2", "said-1"), ("result", "p1", "said-2")],
        {"arg-1": "said-2", "arg-2": "said-1"},
        0,
    ),
    "parallel-under-one-id": (
        [USER, ("calls", "c", "c"), ("result", "c", "said-1"), ("result", "c", "said-2")],
        {"arg-1": "said-1", "arg-2": "said-2"},
        0,
    ),
}


def named(payload: dict[str, Any], words: str) -> str:
    found = re.search(words, json.dumps(payload))
    return found[0] if found else ""


@pytest.mark.parametrize("name", talks.FORMATS)
def test_calls_and_results_are_kept_and_paired(name: str, tmp_path: Path) -> None:
    for talk, (steps, _, _) in TALKS.items():
        talks.make(name, talk, steps, tmp_path / "in")
    outcome = imported(tmp_path / "in", tmp_path / "store" / "sessions.db")
    assert {(one.format, one.status) for one in outcome.receipts} == {(name, "imported")}
    made = {talk: next(one for one in outcome.exports if talk in one) for talk in TALKS}
    assert len(outcome.exports) == len(TALKS)
    for talk, session in made.items():
        check_talk(talk, json.loads(outcome.exports[session]))


def check_talk(talk: str, document: dict[str, Any]) -> None:
    steps, pairs, open_calls = TALKS[talk]
    calls: dict[tuple[str, str], list[str]] = {}
    results: dict[tuple[str, str], list[str]] = {}
    order = []
    for event in document["events"]:
        key = event["turn_id"], event["call_id"]
        if event["kind"] == "tool.called":
            calls.setdefault(key, []).append(named(event["payload"], r"arg-\d"))
        elif event["kind"] == "tool.completed":
            order.append(named(event["payload"], r"said-\d"))
            results.setdefault(key, []).append(order[-1])
    assert order == [step[2] for step in steps if step[0] == "result"], talk  # as they came
    assert sum(map(len, calls.values())) == sum(len(step) - 1 for step in steps if step[0] == "calls"), talk
    found: dict[str, str] = {}
    for key, asked in calls.items():  # by occurrence, where an id comes again
        found |= zip(asked, results.get(key, ()), strict=False)
    assert found == pairs, talk
    reasons = document["integrity"]["scope_incompleteness"]
    lacking = [f"{open_calls} tool call(s) lack a result"] if open_calls else []
    assert [reason for reason in reasons if "lack a result" in reason] == lacking, talk
