"""Redaction with a guide: what else is to go, and what a person lets stay."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import GITHUB, OPENAI, VALUES, leaves
from test_scan_redact import GH1, at, redactor

from geode_traj.errors import DataError
from geode_traj.scan import redact
from geode_traj.scan.listed import Listed
from geode_traj.scan.matching import Span

Place = tuple[str, bool]


@dataclass
class Told:
    """A guide made of what it says; it notes what it is asked."""

    extra: dict[Place, list[Span]] = field(default_factory=dict)
    keep: Callable[[str, Span, bool], bool] = lambda pointer, span, in_key: False
    asked: list[Place] = field(default_factory=list)

    def more(self, pointer: str, *, in_key: bool) -> Sequence[Span]:
        self.asked.append((pointer, in_key))
        return self.extra.get((pointer, in_key), ())

    def keeps(self, pointer: str, span: Span, *, in_key: bool) -> bool:
        return self.keep(pointer, span, in_key)


def cut(start: int, end: int, value: str = GITHUB) -> Span:
    return Span(start, end, "github_token", "github_token", "high", value, "chunks", -1, blob=True)


def by_class(cls: str) -> Callable[[str, Span, bool], bool]:
    return lambda pointer, span, in_key: span.cls == cls


def test_more_is_replaced_where_it_stands_and_numbered_as_the_whole() -> None:
    value = {"a/b": ["x " + GITHUB[:9], GITHUB], GITHUB[9:]: 1}
    guide = Told({("/a~1b/0", False): [cut(2, 11)], (f"/{GITHUB[9:]}", True): [cut(0, len(GITHUB) - 9)]})
    new, redactions = redactor().redact(value, guide=guide)
    assert new == {"a/b": ["x " + GH1, GH1], GH1: 1}
    assert all(at(new, one) == GH1 and not one.kept for one in redactions)
    assert guide.asked == [("/a~1b", True), (f"/{GITHUB[9:]}", True), ("/a~1b/0", False), ("/a~1b/1", False)]


def test_more_and_what_is_found_there_are_one_value() -> None:
    whole = OPENAI + "Xy9" * 9
    guide = Told({("/1", False): [cut(3, 3 + len(OPENAI), whole)], ("/2", False): [cut(0, 5, whole)]})
    new, redactions = redactor().redact([GITHUB, f"is {OPENAI}", "Xy9Xy and"], guide=guide)
    assert new == [GH1, "is [REDACTED:github_token:2]", "[REDACTED:github_token:2] and"]
    assert [one.n for one in redactions] == [1, 2, 2]


def test_what_is_kept_stays_and_is_told() -> None:
    text = f"mail anna.b@mail.example.net key {GITHUB} mail anna.b@mail.example.net"
    guide = Told(keep=by_class("email"))
    new, redactions = redactor("publish").redact({"t": text}, guide=guide)
    assert new == {"t": text.replace(GITHUB, GH1)}
    assert [(at(new, one), one.kept, one.n) for one in redactions] == [
        ("anna.b@mail.example.net", True, 0),
        (GH1, False, 1),
        ("anna.b@mail.example.net", True, 0),
    ]
    assert Listed(new, [one.to_json() for one in redactions]).rest == [
        one.to_json() for one in redactions if one.kept
    ]


def test_places_are_those_of_the_value_as_given() -> None:
    asked: list[tuple[str, tuple[int, int], bool]] = []

    def keep(pointer: str, span: Span, in_key: bool) -> bool:
        asked.append((pointer, span[:2], in_key))
        return in_key

    value = {f"a {GITHUB}": [f"{GITHUB} {OPENAI}"]}
    new, redactions = redactor().redact(value, guide=Told(keep=keep))
    key, both = f"a {GITHUB}", len(GITHUB)
    assert list(new) == list(value)
    assert asked == [
        (f"/{key}", (2, 2 + both), True),
        (f"/{key}/0", (0, both), False),
        (f"/{key}/0", (both + 1, both + 1 + len(OPENAI)), False),
    ]
    assert [(one.kept, one.in_key) for one in redactions] == [(True, True), (False, False), (False, False)]


def test_nobody_keeps_the_value_of_a_sensitive_key() -> None:
    new, (redaction,) = redactor().redact({"token": GITHUB}, guide=Told(keep=lambda *_: True))
    assert (new, redaction.kept) == ({"token": "<REDACTED>"}, False)


@pytest.mark.parametrize(("later", "stays"), [((26, 30), True), ((27, 29), True), ((26, 31), False)])
def test_a_later_finding_beyond_what_is_kept_takes_all_of_it(later: tuple[int, int], stays: bool) -> None:
    engine = redactor()
    # After the first round a placeholder of 25 characters stands before what is kept.
    rounds = iter([[Span(4, 8, "a", "a", "note", "kept")], [Span(*later, "b", "b", "high", "")], []])
    engine.scanner.find = lambda text, key="", *, damaged=False: next(rounds)  # type: ignore[method-assign]
    new, redactions = engine.redact("abc kept! z", guide=Told({("", False): [cut(0, 3)]}, by_class("a")))
    assert new == (f"{GH1} kept! z" if stays else f"{GH1} [REDACTED:b:1] z")
    assert [one.kept for one in redactions] == [False, stays]


def test_kept_around_an_earlier_redaction_moves_with_it() -> None:
    value = [f"see [REDACTED:email:7] {GITHUB}"]
    entry = {"pointer": "/0", "start": 4, "end": 22, "rule": "email", "class": "email", "n": 7}
    guide = Told({("/0", False): [Span(0, 22, "note", "note", "note", "see")]}, by_class("note"))
    new, redactions = redactor().redact(value, Listed(value, [entry]), renumber=True, guide=guide)
    assert new == [f"see [REDACTED:email:1] {GH1}"]
    assert [at(new, one) for one in redactions] == ["see [REDACTED:email:1]", "[REDACTED:email:1]", GH1]


@given(VALUES, st.data())
def test_any_choice_leaves_exactly_what_was_kept(value: object, data: st.DataObject) -> None:
    guide = Told(keep=lambda *_: data.draw(st.booleans()))
    new, redactions = redactor("publish").redact(value, guide=guide)
    for one in redactions:
        assert one.kept or at(new, one).strip('"\\') in (
            "REDACTED",
            "<REDACTED>",
            f"[REDACTED:{one.cls}:{one.n}]",
        )
    kept: dict[str, list[tuple[int, int]]] = {}
    for one in redactions:
        if one.kept:
            kept.setdefault(at_text(new, one), []).append((one.start, one.end))
    for name, text, _ in leaves(new):
        for span in redactor("publish").scanner.find(text, name):
            assert any(low <= span.start and span.end <= high for low, high in kept.get(text, ()))


def at_text(value: Any, redaction: redact.Redaction) -> str:
    return at(value, redact.Redaction(redaction.pointer, 0, 1 << 30, "", "", 0, redaction.in_key))


def test_asking_for_long_pointers_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "MAX_ASKED", 1 << 20)
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as caught:
            redactor().redact({"k" * 40_000: ["x"] * 20_000}, guide=Told())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "TE203"
    assert peak < 40 << 20
