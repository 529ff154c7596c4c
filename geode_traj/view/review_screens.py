"""The screens of a sitting at a review: rows of styled text for a terminal of any size.

What was found is underlined, bracketed with its value number and class, and its rows begin with `>`: colour
says nothing that is not said without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from geode_traj.errors import TrajError
from geode_traj.review.folder import Found
from geode_traj.review.state import APPROVE, POLICY, REDACT, Outcome
from geode_traj.view.cells import Row, Span, Style, cells, columns, fit, visible, wrap
from geode_traj.view.event_rows import MASKED_BAND
from geode_traj.view.review_pages import Page, Pages
from geode_traj.view.review_tty import Choices, Note, SameValue, Sitting

MIN_COLUMNS: Final = 40
MIN_ROWS: Final = 14

KEYS: Final = (
    ("a, then 1 to 5", "approve: publish it as it is, for one of five reasons"),
    ("r", "redact: replace it"),
    ("x, then 1 to 5", "reject: leave the whole trajectory out of the release"),
    ("s", "later: decide nothing yet"),
    ("u", "undo your last decision that stands"),
    ("A, R", "approve or redact this value everywhere; first see where"),
    ("m", "a note for the next decision here, with nothing private in it"),
    ("v", "reveal what is masked until another key; it is logged"),
    ("c", "more context; up and down scroll"),
    ("n, p", "the next finding, and the previous one"),
    ("N", "the next finding that waits for you"),
    ("space", "page through the trajectory: what was on a page counts as seen"),
    ("q", "leave; every decision is on disk already"),
)
PAGE_KEYS: Final = (
    ("space, b", "the next page, and back"),
    ("j, k", "the next event, and the previous one"),
    ("g, G", "the first event, the last"),
    ("t, T", "the next trajectory, and the previous one"),
    ("x, then 1 to 5", "reject: leave the whole trajectory out of the release"),
    ("u", "undo your last decision that stands"),
    ("enter", "the first finding from here on"),
    ("esc", "back to the finding"),
    ("q", "leave; every decision is on disk already"),
)
_HINTS: Final[tuple[tuple[str, ...], ...]] = (
    ("a approve (publish as it is)", "r redact (replace)", "x reject (leave the file out)"),
    ("s later", "u undo", "v reveal", "c context", "A/R same value", "N next", "space page", "m note"),
)
_PAGE_HINTS: Final[tuple[tuple[str, ...], ...]] = (
    ("space on", "b back", "j/k event", "t/T trajectory", "enter first finding here"),
    ("x reject (leave the file out)", "u undo", "esc back to the finding"),
)
_BECOMES: Final = {APPROVE: "publish as they are", REDACT: "replace"}
_MAX_MESSAGE: Final = 3
_ALWAYS: Final = ("? keys", "q leave")


def draw(sitting: Sitting, width: int, height: int) -> list[Row]:
    """Return the screen, `height` rows of at most `width` columns; whole events on it count as seen."""
    if width < MIN_COLUMNS or height < MIN_ROWS:
        small = fit([Span(f"make the window {MIN_COLUMNS} by {MIN_ROWS} or larger")], width)
        return [small, *[()] * (height - 1)][:height]
    foot = _foot(sitting, width)
    room = height - len(foot) - 2
    try:
        head, body = _middle(sitting, width, room)
    except TrajError as error:
        head, body = _head(sitting), [fit([Span(f"{error.code}: {error.message}", "error")], width)]
    top = [fit([_first(sitting)], width), *(fit(parts, width) for parts in head)]
    body = body[: room - len(top)]
    rule: Row = (Span("─" * width, "dim"),)
    return [*top, rule, *body, *[()] * (room - len(top) - len(body)), rule, *foot]


def _middle(sitting: Sitting, width: int, room: int) -> tuple[list[list[Span]], list[Row]]:
    over = sitting.over
    if isinstance(over, str):
        keys = KEYS if sitting.pages is None else PAGE_KEYS
        rows = [fit([Span(f"  {key:16}", "title"), Span(what)], width) for key, what in keys]
        return [[Span("the keys", "title")]], rows
    if isinstance(over, SameValue):
        return _same(sitting, over, width, room - 3)
    if sitting.pages is not None:
        return _page(sitting, sitting.pages, width, room - 4)
    return _head(sitting), _around(sitting, width, room - 4)


def _first(sitting: Sitting) -> Span:
    queue = sitting.queue
    total = len(queue.findings)
    events = sum(queue.events.values())
    seen = sum(map(sitting.state.covered, queue.events))
    percent = 100 * seen // events if events else 100
    parts = (
        f"review {sitting.review.begun.review_id[:8]}",
        f"policy {sitting.review.policy.name}",
        f"{total - queue.left} of {total} decided",
        f"{percent} % seen",
        sitting.reviewer,
    )
    return Span(" · ".join(parts), "title")


# --- a finding


def _head(sitting: Sitting) -> list[list[Span]]:
    found = sitting.found
    if found is None:
        return []
    queue, total = sitting.queue, len(sitting.queue.findings)
    others = len(queue.sharing(found)) - 1
    shared = f"{others} more like it" if others else "no other like it"
    rule = f" by {found.rule}" if found.rule != found.cls else ""
    what = f"finding {found.id} of {total} · {found.cls}{rule}, {found.band} band"
    note = f" · note: {sitting.note}" if sitting.note else ""
    return [
        [Span(f"{what} · v{found.value}, {shared}", "title")],
        [Span(_where(found))],
        [Span(f"{_standing(sitting, found)} · {_seen(sitting, found.path)}{note}")],
    ]


def _seen(sitting: Sitting, path: str) -> str:
    wanted = sitting.queue.wanted[path]
    said = f", {wanted} % wanted" if wanted else ""
    return f"{sitting.queue.seen_percent(path)} % of the file seen{said}"


def _where(found: Found) -> str:
    span = f", characters {found.span[0] + 1} to {found.span[1]}" if found.span else ""
    view = f", seen as {found.view}" if found.view else ""
    event = f"event {found.ordinal}" if found.ordinal else "around the events"
    key = "key in " if found.in_key else ""
    return f"{found.path}, {event} · {key}{found.pointer or '/'}{span}{view}"


def _standing(sitting: Sitting, found: Found) -> str:
    """Say what becomes of a finding as things stand, and what an approval needs."""
    outcome = sitting.state.outcome(found)
    two = " · an approval needs two people" if sitting.state.needed(found) > 1 else ""
    if outcome.kind == "undecided":
        return f"undecided{f' ({outcome.reason})' if outcome.reason else ''}{two}"
    return _said(outcome)


def _said(outcome: Outcome) -> str:
    if outcome.by == POLICY:
        becomes = "replaced" if outcome.kind == "redact" else "published as it is"
        return f"{becomes}: the policy has fixed that"
    if outcome.kind == "withheld":
        return f"left out with its whole trajectory, says {outcome.by}"
    if outcome.kind == "redact":
        return f"to be replaced, says {outcome.by}"
    return f"to be published as it is ({outcome.reason}), says {outcome.by}"


def _around(sitting: Sitting, width: int, height: int) -> list[Row]:
    found = sitting.found
    if found is None:
        return []
    event = sitting.event(found.path, found.ordinal)
    window = event.window(found, sitting.around, width - 2, revealed=sitting.revealed)
    last = max(0, len(window.lines) - height)
    at = min(last, max(0, window.first - height // 3 + sitting.scrolled))
    # Scrolling past an end is forgotten, so that the way back begins at once.
    sitting.scrolled = at - (window.first - height // 3) if sitting.scrolled else 0
    if window.whole and not last and found.ordinal:
        sitting.saw(found.path, [found.ordinal])
    shown = window.lines[at : at + height]
    return [(Span("> " if line.current else "  ", "title"), *line.row) for line in shown]


# --- what stands over it


def _same(sitting: Sitting, same: SameValue, width: int, height: int) -> tuple[list[list[Span]], list[Row]]:
    same.shown = max(1, height // 2)
    body: list[Row] = []
    for one in islice(same.findings, same.top, same.top + same.shown):
        body.append(fit([Span(f"finding {one.id} · {_where(one)}", "dim")], width))
        body.append((Span("> ", "title"), *sitting.event(one.path, one.ordinal).snippet(one, width - 2)))
    last = min(same.top + same.shown, len(same.findings))
    count = len(same.findings)
    head = [
        [Span(f"v{same.findings[0].value}: {same.top + 1} to {last} of {count} to decide together", "title")],
        [Span(f"to {same.action}: {_BECOMES[same.action]} all of them")],
    ]
    return head, body


def _page(sitting: Sitting, pages: Pages, width: int, height: int) -> tuple[list[list[Span]], list[Row]]:
    page: Page = pages.page(width - 2, height)
    sitting.saw(pages.path, page.whole)
    here = [
        one
        for ordinal in range(page.first, page.last + 1)
        for one in sitting.queue.of_event(pages.path, ordinal or None)
    ]
    out = " · left out of the release" if pages.path in sitting.state.rejected else ""
    head = [
        [Span(f"{pages.path} · {_events(page)} of {pages.events}", "title")],
        [Span(f"{len(here)} found in what is shown")],
        [Span(f"{_seen(sitting, pages.path)}{out}")],
    ]
    return head, [(Span("  "), *row) for row in page.rows]


def _events(page: Page) -> str:
    if not page.last:
        return "before event 1"
    first = max(1, page.first)
    return f"event {first}" if first == page.last else f"events {first} to {page.last}"


# --- the foot


def _foot(sitting: Sitting, width: int) -> list[Row]:
    over = sitting.over
    if isinstance(over, Choices):
        answers = [f"{number} {text}" for number, text in enumerate(over.answers.values(), start=1)]
        return [_line(over.question, width, "title"), *_flow([*answers, "any other key: nothing"], width)]
    if isinstance(over, Note):
        room = width - columns("note: _")
        written = over.text[-room:]
        message = sitting.message or "enter keeps it, esc does not; nothing private may be in it"
        return [
            *_message(message, width, "error" if sitting.failed else ""),
            _line(f"note: {written}_", width, "title"),
            _line("enter keep   esc drop   ctrl-u empty", width),
        ]
    if isinstance(over, SameValue):
        return [
            _line(f"{over.key} again: {_BECOMES[over.action]} all {len(over.findings)}", width, "title"),
            *_flow(["space the next of them", "any other key: nothing"], width),
        ]
    if isinstance(over, str):
        return [_line("any key goes back", width, "title")]
    style: Style = "error" if sitting.failed else "title"
    hints = _HINTS if sitting.pages is None else _PAGE_HINTS
    if sitting.found is not None and sitting.pages is None and sitting.found.band != MASKED_BAND:
        hints = (hints[0], tuple(hint for hint in hints[1] if hint != "v reveal"))
    return [
        *_message(sitting.message, width, style),
        _fitting(hints[0], (), width),
        _fitting(hints[1], _ALWAYS, width),
    ]


def _line(text: str, width: int, style: Style = "") -> Row:
    return fit([Span(text, style)], width)


def _message(text: str, width: int, style: Style) -> list[Row]:
    lines = wrap(cells(visible(text), style), width)
    return [line.row for line in islice(lines, _MAX_MESSAGE)] or [()]


def _fitting(hints: Iterable[str], always: Iterable[str], width: int) -> Row:
    """Return as many hints as there is room for, and those that are always shown."""
    chosen = list(hints)
    while chosen and columns("  ".join([*chosen, *always])) > width:
        chosen.pop()
    return _line("  ".join([*chosen, *always]), width)


def _flow(words: Iterable[str], width: int) -> list[Row]:
    """Return words on as many rows as they need."""
    lines = [""]
    for word in words:
        joined = f"{lines[-1]}   {word}" if lines[-1] else word
        if columns(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return [_line(line, width) for line in lines]
