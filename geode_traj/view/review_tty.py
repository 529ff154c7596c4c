"""One person's sitting at a review: keys go in, decisions go to the journal.

Nothing here knows of a terminal: `press` takes the name of a key (a character, or "enter", "esc", "up",
"pgdn" and so on), `view.review_screens.draw` gives the screen. A decision is on disk before `press` returns;
what goes wrong is a message on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, NamedTuple

from geode_traj.codec.text import clip
from geode_traj.contract.policy import REASONS
from geode_traj.errors import TrajError, WorldError
from geode_traj.review import decide
from geode_traj.review.context import Candidates, reveal
from geode_traj.review.decide import MAX_NOTE, REJECTIONS
from geode_traj.review.folder import Found, Review
from geode_traj.review.state import APPROVE, LATER, REDACT, State, expanded
from geode_traj.view.event_rows import MASKED_BAND, EventRows
from geode_traj.view.review_pages import Pages
from geode_traj.view.review_queue import Queue

AROUND: Final = 20
"""Rows of context on each side of a finding, before anybody asks for more."""

_MORE: Final = 4
_MAX_AROUND: Final = AROUND * _MORE**2
_SEEN_BATCH: Final = 64
_SEEN_AFTER: Final = 1.0
_HIDE_AFTER: Final = 10.0
_DECIDING: Final = frozenset("arxsuAR12345")

_WHY: Final = {
    "false-positive": "it is nothing private",
    "synthetic": "it is invented, or a test",
    "already-public": "it is public already",
    "consent": "its owner agreed",
    "revoked": "it was revoked and is harmless",
}


class Choices(NamedTuple):
    """A question with a closed list of answers, each the key 1 to 9 of its place in it."""

    question: str
    answers: Mapping[str, str]
    then: Callable[[str], None]


@dataclass(slots=True)
class SameValue:
    """The findings of one value before they are decided together, and the first of those that are shown."""

    action: str
    key: str
    findings: Sequence[Found]
    top: int = 0
    shown: int = 1


@dataclass(slots=True)
class Note:
    """A note while it is being written."""

    text: str


class Sitting:
    """A reviewer at a review; `clock` gives the time, UTC to the second.

    What is open besides the finding, if anything, is `over`: a question, findings of one value, the pages of
    a trajectory, a note, or the list of keys. `left` is true once the reviewer has left.
    """

    def __init__(self, review: Review, reviewer: str, clock: Callable[[], str]) -> None:
        """Sit down at the first finding that waits; raise `WorldError` TE101 for a name that is none."""
        self.review: Final = review
        self.reviewer: Final = decide.named(reviewer)
        self.state: Final = State(review)
        self.queue: Final = Queue(self.state, self.reviewer)
        self.left = False
        self.message = ""
        self.failed = False
        self.index = self.queue.waiting(0) or 0
        self.over: Choices | SameValue | Pages | Note | str | None = None
        self.pages: Pages | None = None
        self.around = AROUND
        self.scrolled = 0
        self.revealed = False
        self.note = ""
        self._clock: Final = clock
        self._candidates: Final = Candidates(review)
        self.event: Final = lru_cache(maxsize=2)(self._event)
        self._seen: dict[str, set[int]] = {}
        if not self.queue.findings:
            self._open_pages()

    @property
    def found(self) -> Found | None:
        """Return the finding in question, None where nothing was found at all."""
        return self.queue.findings[self.index] if self.queue.findings else None

    @property
    def at(self) -> str:
        """Return the trajectory in question."""
        if self.pages is not None:
            return self.pages.path
        return self.found.path if self.found else next(iter(self.queue.events), "")

    def press(self, key: str, *, repeated: bool = False) -> None:
        """Do what a key says; `repeated`: it is held down, and decides nothing then."""
        if repeated and key in _DECIDING and not isinstance(self.over, Note):
            return
        self.message, self.failed = "", False
        self.revealed = self.revealed and key == "v"
        try:
            self.queue.refresh()
            self._press(key)
        except TrajError as error:
            self._fail(error)

    def saw(self, path: str, ordinals: Iterable[int]) -> None:
        """Take note of events that are on the screen, whole."""
        have = self.state.seen.get(path, b"")
        new = {one for one in ordinals if one >= len(have) or not have[one]}
        if new:
            self._seen.setdefault(path, set()).update(new)

    def settle(self) -> None:
        """Write down what was seen, else hide what was revealed: for when no key came for `patience`."""
        self.revealed = self.revealed and bool(self._seen)
        try:
            self._write_seen()
        except TrajError as error:
            self._fail(error)

    @property
    def patience(self) -> float | None:
        """Return after how many seconds without a key there is something to settle, None for never."""
        return _SEEN_AFTER if self._seen else _HIDE_AFTER if self.revealed else None

    @property
    def finished(self) -> bool:
        """Tell whether nothing is undecided, and as much was seen as the policy wants."""
        return not self.queue.left and not any(self.state.uncovered())

    def leave(self) -> None:
        """Get up; raise what writing down the last events that were seen raises."""
        self._write_seen()
        self.left = True

    def _event(self, path: str, ordinal: int | None) -> EventRows:
        return EventRows(self._candidates.value(path, ordinal), self.queue.of_event(path, ordinal))

    def _fail(self, error: TrajError) -> None:
        self.message, self.failed = f"{error.code}: {error.message}", True

    def _write_seen(self) -> None:
        while self._seen:
            path = next(iter(self._seen))
            decide.see(self.state, path, self._seen[path], reviewer=self.reviewer, at=self._clock())
            del self._seen[path]
        self.queue.refresh()

    def _press(self, key: str) -> None:
        if sum(map(len, self._seen.values())) >= _SEEN_BATCH:
            self._write_seen()
        if isinstance(self.over, Note):
            self._write(self.over, key)
        elif isinstance(self.over, Choices):
            self._answer(self.over, key)
        elif isinstance(self.over, SameValue):
            self._confirm(self.over, key)
        elif self.over is not None:
            self.over = None
        elif key == "?":
            self.over = "keys"
        elif key == "q":
            self.leave()
        elif key == "x":
            self._ask_rejection()
        elif key == "u":
            self._undo()
        elif key == "paste":
            self.message = "what is pasted decides nothing"
        elif self.pages is not None:
            self._turn(self.pages, key)
        elif self.found is not None:
            self._act(self.found, key)

    # --- at a finding

    def _act(self, found: Found, key: str) -> None:
        steps = {"n": 1, "p": -1, "right": 1, "left": -1}
        scrolls = {"down": 1, "up": -1}
        if key in steps:
            self._go((self.index + steps[key]) % len(self.queue.findings))
        elif key in scrolls:
            self.scrolled += scrolls[key]
        elif key == "N":
            self._next(self.index + 1)
        elif key == "c":
            self.around = AROUND if self.around >= _MAX_AROUND else self.around * _MORE
        elif key in (" ", "pgdn", "pgup"):
            self._open_pages(found)
        elif key == "v":
            self._reveal(found)
        elif key in "armsAR":
            self._decide(found, key)

    def _decide(self, found: Found, key: str) -> None:
        why = self.queue.fixed(found)
        if why is not None:
            self.message = why
        elif key == "a":
            self._ask_approval([found])
        elif key == "r":
            self._record([found], REDACT)
        elif key == "s":
            self._record([found], LATER)
        elif key == "m":
            self.over = Note(self.note)
        else:
            same = [one for one in self.queue.sharing(found) if self.queue.fixed(one) is None]
            self.over = SameValue(APPROVE if key == "A" else REDACT, key, same)

    def _record(self, chosen: Sequence[Found], action: str, reason: str = "") -> None:
        done = decide.decide(
            self.state,
            chosen,
            action,
            reviewer=self.reviewer,
            at=self._clock(),
            reason=reason,
            note=self.note,
        )
        self.queue.refresh()
        as_it_is = f"published as it is ({reason})"
        what = {APPROVE: as_it_is, REDACT: "replaced", LATER: "left for later"}[action]
        which = f"finding {chosen[0].id}" if len(chosen) == 1 else f"{done.findings} findings"
        told = f"{which}: {what}"
        self._next(self.index + 1)
        self.message = f"{told}; {self.message or f'{self.queue.left} left'}"

    def _next(self, start: int) -> None:
        index = self.queue.waiting(start % len(self.queue.findings))
        if index is None:
            others = f", {self.queue.left} for others" if self.queue.left else ""
            self.message = f"nothing waits for you{others}"
        else:
            self._go(index)

    def _go(self, index: int) -> None:
        self.index = index
        self.around, self.scrolled, self.note, self.revealed = AROUND, 0, "", False

    def _reveal(self, found: Found) -> None:
        if not self._is_masked(found):
            self.message = "it is not masked"
            return
        if not self.revealed:
            reveal(self.review, found, reviewer=self.reviewer, at=self._clock())
        self.revealed = True

    def _is_masked(self, found: Found) -> bool:
        start, end = found.span or (0, 0)
        return any(
            one.band == MASKED_BAND
            and (
                one is found
                or (
                    one.pointer == found.pointer
                    and one.span
                    and max(start, one.span[0]) < min(end, one.span[1])
                )
            )
            for one in self.queue.of_event(found.path, found.ordinal)
        )

    def _undo(self) -> None:
        entry = decide.undo(self.state, reviewer=self.reviewer, at=self._clock())
        self.queue.refresh()
        if "path" in entry.body:
            self.message = f"undone: {entry.body['path']} is not left out any more"
            return
        ids = list(expanded(entry.body["findings"]))
        which = f"finding {ids[0]}" if len(ids) == 1 else f"{len(ids)} findings"
        self.message = f"undone: {entry.body['action']} {which}"
        if self.pages is None:
            self._go(ids[0] - 1)

    # --- questions

    def _ask_approval(self, chosen: Sequence[Found]) -> None:
        which = "it" if len(chosen) == 1 else f"all {len(chosen)}"
        answers = {reason: f"{reason}: {_WHY[reason]}" for reason in REASONS}
        self.over = Choices(
            f"approve: publish {which} as found, because", answers, partial(self._record, chosen, APPROVE)
        )

    def _ask_rejection(self) -> None:
        path = self.at
        if path in self.state.rejected:
            self.message = f"{path} is left out already"
            return
        answers = {reason: reason for reason in REJECTIONS}
        self.over = Choices(f"reject: leave the whole of {path} out, because", answers, self._reject)

    def _reject(self, reason: str) -> None:
        path = self.at
        decide.reject(
            self.state, path, reviewer=self.reviewer, at=self._clock(), reason=reason, note=self.note
        )
        self.queue.refresh()
        told = f"{path} is left out ({reason})"
        if self.pages is None:
            self._next(self.index + 1)
        self.message = f"{told}; {self.queue.left} left"

    def _answer(self, asked: Choices, key: str) -> None:
        self.over = None
        answers = list(asked.answers)
        if key.isdecimal() and key.isascii() and 1 <= int(key) <= len(answers):
            asked.then(answers[int(key) - 1])
        else:
            self.message = "nothing was decided"

    def _confirm(self, same: SameValue, key: str) -> None:
        if key in (" ", "pgdn", "down"):
            same.top = same.top + same.shown if same.top + same.shown < len(same.findings) else 0
            return
        self.over = None
        if key != same.key:
            self.message = "nothing was decided"
        elif same.action == APPROVE:
            self._ask_approval(same.findings)
        else:
            self._record(same.findings, REDACT)

    # --- a note

    def _write(self, note: Note, key: str) -> None:
        if key == "enter":
            text = note.text.strip()
            self.note = decide.harmless(text, self.review) if text else ""
            self.over = None
            self.message = "the next decision here carries the note" if self.note else ""
        elif key == "esc":
            self.over = None
        elif key == "backspace":
            note.text = note.text[:-1]
        elif key == "ctrl-u":
            note.text = ""
        elif len(key) == 1 and len(note.text) < MAX_NOTE:
            note.text += key

    # --- pages of a trajectory

    def _open_pages(self, found: Found | None = None) -> None:
        path = found.path if found else next(iter(self.queue.events), None)
        if path is None:
            raise WorldError("TE104")
        self.pages = Pages(path, self.queue.events[path], self.event, (found.ordinal or 0) if found else 0)

    def _turn(self, pages: Pages, key: str) -> None:
        if key in (" ", "pgdn", "down"):
            if not pages.forward():
                self.message = f"this is the end of {pages.path}"
        elif key in ("b", "pgup", "up"):
            if not pages.back():
                self.message = f"this is the beginning of {pages.path}"
        elif key in "jk":
            pages.jump(pages.top.ordinal + (1 if key == "j" else -1))
        elif key in "gG":
            pages.jump(0 if key == "g" else pages.events)
        elif key in "tT":
            self._other(1 if key == "t" else -1)
        elif key in ("esc", "n", "p", "N", "enter") and self.queue.findings:
            self.pages = None
            if key == "enter":
                self._first_of(pages)
            elif key == "N":
                self._next(self.index)
            elif key in "np":
                self._act(self.queue.findings[self.index], key)

    def _other(self, step: int) -> None:
        paths = list(self.queue.events)
        path = paths[(paths.index(self.at) + step) % len(paths)]
        self.pages = Pages(path, self.queue.events[path], self.event)

    def _first_of(self, pages: Pages) -> None:
        """Go to the first finding from the page on, in its trajectory."""
        for index, one in enumerate(self.queue.findings):
            if one.path == pages.path and (one.ordinal or 0) >= pages.top.ordinal:
                self._go(index)
                return
        self.message = clip(f"nothing was found from here to the end of {pages.path}", 200)
