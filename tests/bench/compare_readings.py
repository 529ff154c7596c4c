"""`python -m tests.bench.compare_readings FOLDER`: where our reading of a transcript differs from another's.

FOLDER holds cases, each a folder with `input.json` or `input.jsonl` and another reading of it,
`expected.json`. Every kind of difference needs a reason in `reasons`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from tests.bench.page import written
from tests.bench.readings import Reading, Said, ours, theirs, unwrapped
from tests.bench.reasons import REASONS

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "readings.md"
_IMAGE: Final = "[image]"
_SORTS: Final = (("user",), ("assistant", "reasoning"), ("call",), ("result", "observation"))
_NAIVE: Final = "naive_as_utc"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: its kind, and what each reading says."""

    kind: str
    ours: str
    theirs: str


@dataclass(slots=True)
class Case:
    """One transcript, its two readings, how much of them agrees, and where they differ."""

    name: str
    ours: Reading
    theirs: Reading
    same: int = 0
    differences: list[Difference] = field(default_factory=list)


def compare(name: str, own: Reading, other: Reading) -> Case:
    """Return how two readings of one file differ."""
    case = Case(name, own, other)
    pairs: list[tuple[Said, Said]] = []
    for sort in _SORTS:
        matched, mine, yours = _aligned(own.of(*sort), other.of(*sort))
        pairs += matched
        case.differences += [_only_ours(one) for one in mine]
        case.differences += [_only_theirs(one) for one in yours]
    calls = {id(a): id(b) for a, b in pairs}
    for a, b in pairs:
        found = [*_texts(a, b), *_times(a, b), *_calls(a, b)]
        if a.what == "result" == b.what:
            found += _answers(a, b, _partner(own, a, calls), _called(other, b))
        case.same += not found
        case.differences += found
    case.differences += [*_order(own, other, pairs), *_heads(own, other)]
    return case


def _key(one: Said) -> str:
    """Return what two readings of one thing share, however each writes it."""
    text = unwrapped(one.text) if one.what == "call" else one.text
    lines = [line for line in text.removeprefix("Error: ").split("\n") if line != _IMAGE]
    return " ".join(" ".join(lines).replace(" — ", " ").split())


def _aligned(own: list[Said], other: list[Said]) -> tuple[list[tuple[Said, Said]], list[Said], list[Said]]:
    """Return what both readings have, in order, and what only one of them has."""
    pairs: list[tuple[Said, Said]] = []
    mine, yours = list(own), list(other)
    matcher = SequenceMatcher(None, list(map(_key, own)), list(map(_key, other)), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        for one, two in zip(own[a:b], other[c:d], strict=False) if tag in ("equal", "replace") else ():
            if tag == "equal" or (one.call_id and one.call_id == two.call_id):
                pairs.append((one, two))
                mine.remove(one)
                yours.remove(two)
    return pairs, mine, yours


def _only_ours(one: Said) -> Difference:
    kind = "message-left-out"
    if one.session:
        kind = "sub-agent"
    elif one.abandoned:
        kind = "rewound"
    elif one.what == "result":
        kind = "result-without-call" if one.call is None else "result"
    elif one.what == "call":
        kind = "call"
    return Difference(kind, _short(one), "")


def _only_theirs(one: Said) -> Difference:
    return Difference("observation-beside" if one.what == "observation" else "missing", "", _short(one))


def _texts(a: Said, b: Said) -> Iterator[Difference]:
    if a.what != b.what:
        yield Difference("thought-or-text", _short(a), _short(b))
    if a.text == b.text:
        return
    kind = "text"
    if a.what == "call":
        kind = "arguments-wrapped" if unwrapped(a.text) == unwrapped(b.text) else "arguments"
    elif a.media and _IMAGE in b.text and a.text == b.text.replace(_IMAGE, "").strip("\n"):
        kind = "picture"
    elif b.text == f"Error: {a.text}" and b.ok is False:
        kind = "error-prefix"
    elif a.what == "result" and not a.text and "subagent" in b.text:
        kind = "reference-as-text"
    elif a.what == "result" and a.text and unwrapped_result(b.text) == a.text:
        kind = "result-unwrapped"
    elif a.what == "reasoning" and _key(a) == _key(b):
        kind = "thoughts-joined"
    yield Difference(kind, _short(a), _short(b))


def unwrapped_result(text: str) -> str:
    """Return the one text of a JSON object, the text itself where it is none."""
    found = text.removeprefix('{"error":"').removesuffix('"}')
    return found if len(found) == len(text) - len('{"error":""}') else text


def _times(a: Said, b: Said) -> Iterator[Difference]:
    if a.time is None or b.time is None:
        if a.time != b.time:
            yield Difference("time", str(a.time), str(b.time))
    elif a.rule and b.rule:
        if a.time != b.time:
            yield Difference("time-made-up", f"{a.time:.0f}, `{a.rule}`", f"{b.time:.0f}, synthesized")
    elif abs(a.time - b.time) >= 0.001:
        yield Difference("time", str(a.time), str(b.time))
    elif a.rule:
        kind = "time-zone-unmarked" if a.rule == _NAIVE else "time-unmarked"
        yield Difference(kind, f"marked `{a.rule}`", "not marked")


def _calls(a: Said, b: Said) -> Iterator[Difference]:
    if a.what != "call":
        return
    if a.name != b.name:
        kind = "tool-name-made-up" if not a.name and b.name == "unknown_tool" else "tool-name"
        yield Difference(kind, f"`{a.name}`", f"`{b.name}`")
    if a.call_id != b.call_id:
        kind = "call-id"
        if b.call_id.startswith(f"{a.call_id}__"):
            kind = "call-id-renamed"
        elif b.call_id == f"oh_{a.call_id}":
            kind = "call-id-prefixed"
        yield Difference(kind, f"`{a.call_id}`", f"`{b.call_id}`")


def _partner(own: Reading, result: Said, calls: dict[int, int]) -> int | None:
    """Return which of the other reading's calls is the one that our result answers."""
    return None if result.call is None else calls.get(id(own.of("call")[result.call]))


def _called(other: Reading, result: Said) -> int | None:
    return None if result.call is None else id(other.of("call")[result.call])


def _answers(a: Said, b: Said, mine: int | None, yours: int | None) -> Iterator[Difference]:
    if mine != yours:
        yield Difference("pairing", _short(a), _short(b))
    if a.ok != b.ok:
        kind = "failure-unsaid" if b.ok is None and a.ok is False else "failure"
        yield Difference(kind, f"ok: {a.ok}", f"ok: {b.ok}")


def _order(own: Reading, other: Reading, pairs: list[tuple[Said, Said]]) -> Iterator[Difference]:
    place = {id(b): number for number, b in enumerate(other.said)}
    partner = {id(a): b for a, b in pairs}
    places = [place[id(partner[id(a)])] for a in own.said if id(a) in partner]
    if places != sorted(places):
        yield Difference("order", str(places), "in order")


def _heads(own: Reading, other: Reading) -> Iterator[Difference]:
    for kind, a, b in (
        ("directory", own.cwd, other.cwd),
        ("git-branch", own.branch, other.branch),
        ("damaged", own.damaged, other.damaged),
    ):
        if a != b:
            yield Difference(kind, str(a), str(b))
    if own.models != other.models:
        kind = "one-model" if other.models < own.models and other.models else "model"
        yield Difference(kind, ", ".join(sorted(own.models)), ", ".join(sorted(other.models)))
    if own.usage:
        yield Difference("usage", f"{own.usage} recorded", "none")
    if own.counts["session"] > 1 or own.counts["link"]:
        told = f"{own.counts['session']} session(s), {own.counts['link']} link(s)"
        yield Difference("sub-agent", told, "one trajectory")
    kept = own.counts["kept"] + own.counts["instructions"]
    if kept:
        yield Difference("kept-beside", f"{kept} kept", "dropped")


def _short(one: Said) -> str:
    text = " ".join(one.text.split())
    return f"{one.what} “{text if len(text) <= 60 else text[:59] + '…'}”"


def cases(folder: Path) -> Iterator[Case]:
    """Compare every case below a folder, in the order of their names."""
    for expected in sorted(folder.glob("**/expected.json")):
        name = expected.parent.relative_to(folder).as_posix()
        for given in sorted(expected.parent.glob("input.json*")):
            own = ours(given)
            other = theirs(expected)
            yield compare(name, own, other) if own.source else Case(name, own, other)


def main() -> int:
    """Print or write the page; 1 where a difference has no reason, or a reason no difference."""
    parser = argparse.ArgumentParser(prog="scripts/compare-readings", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder `fixtures` of letta-ai/trajectory")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name} instead of printing it")
    given = parser.parse_args()
    every = list(cases(given.folder))
    found = [case for case in every if case.ours.source]
    if not found:
        parser.error("no case in this folder: no expected.json beside an input that we read")
    page = written(found, [case.name for case in every if not case.ours.source], REASONS)
    if given.write:
        PAGE.write_text(page, "utf-8")
    else:
        print(page, end="")
    wrong = list(problems(found))
    for line in wrong:
        print(line, file=sys.stderr)
    return int(bool(wrong))


def problems(found: list[Case]) -> Iterator[str]:
    """Yield the differences that nobody explained, and the explanations that nothing needs."""
    met = set()
    for case in found:
        for one in case.differences:
            met.add(one.kind)
            if one.kind not in REASONS:
                yield f"{case.name}: no reason for {one.kind}: ours {one.ours!r}, theirs {one.theirs!r}"
    for kind in sorted(REASONS.keys() - met):
        yield f"no case shows {kind} any more"


if __name__ == "__main__":
    sys.exit(main())
