"""The terminal, taken over for a sitting and given back whatever happens: keys come in, screens go out.

Screens are written row by row, each from its own place, with wrapping off: no text can reach into another
row. What a terminal would obey in a text was made visible before; it is made visible once more here.
"""

from __future__ import annotations

import codecs
import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

from geode_traj.codec.text import neutralise
from geode_traj.errors import WorldError
from geode_traj.view.cells import Row
from geode_traj.view.review_screens import draw
from geode_traj.view.review_tty import Sitting

_ENTER: Final = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h"
_LEAVE: Final = b"\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
_PASTED: Final = (b"\x1b[200~", b"\x1b[201~")
_FINAL: Final = range(0x40, 0x7F)
_NAMES: Final = {
    b"[A": "up", b"[B": "down", b"[C": "right", b"[D": "left", b"OA": "up", b"OB": "down", b"OC": "right",
    b"OD": "left", b"[5~": "pgup", b"[6~": "pgdn", b"\r": "enter", b"\n": "enter", b"\x7f": "backspace",
    b"\x08": "backspace", b"\x15": "ctrl-u",
}  # fmt: skip
_COLOURS: Final = {"mark": "1;4;30;43", "mask": "35", "title": "1", "dim": "2", "error": "1;31"}
_PLAIN: Final = {"mark": "1;4", "mask": "2", "title": "1", "dim": "2", "error": "1"}

_ESCAPE_WAIT: Final = 0.05
_REPEAT: Final = 0.08
"""A key that comes again within this many seconds is held down: nobody strikes that fast."""

_LONGEST: Final = 64
_BURST: Final = 24
"""So many keys in one piece are no typing, but a paste into a terminal that does not say so."""


class Keys:
    """Bytes from a terminal as the names of keys; what is pasted becomes one key "paste"."""

    def __init__(self) -> None:
        self._data = b""
        self._pasting = False
        self._text = codecs.getincrementaldecoder("utf-8")("ignore")

    @property
    def waits(self) -> bool:
        """Tell whether a sequence has begun that may be the escape key alone."""
        return bool(self._data)

    def feed(self, data: bytes) -> list[str]:
        """Return the keys that are complete with these bytes."""
        self._data += data
        keys = list(self._taken())
        return keys if len(keys) <= _BURST else ["paste"]

    def flush(self) -> list[str]:
        """Return what an unfinished sequence means when nothing follows."""
        alone = self._data == b"\x1b"
        if not self._pasting:
            self._data = b""
        return ["esc"] if alone else []

    def _taken(self) -> Iterator[str]:
        while self._data:
            if self._pasting:
                _, found, rest = self._data.partition(_PASTED[1])
                if not found:
                    self._data = self._data[-len(_PASTED[1]) + 1 :]
                    return
                self._pasting, self._data = False, rest
                yield "paste"
            elif self._data[0] == 0x1B:
                length = _sequence(self._data)
                if not length:
                    return
                sequence, self._data = self._data[:length], self._data[length:]
                self._pasting = sequence == _PASTED[0]
                if sequence[1:] in _NAMES:
                    yield _NAMES[sequence[1:]]
            else:
                byte, self._data = self._data[:1], self._data[1:]
                text = self._text.decode(byte)
                if byte in _NAMES:
                    yield _NAMES[byte]
                elif text.isprintable():
                    yield from text


def _sequence(data: bytes) -> int:
    """Return the length of the escape sequence that begins here, 0 for an unfinished one."""
    if len(data) < 2:
        return 0
    if len(data) > _LONGEST:
        return _LONGEST
    if data[1:2] == b"O":
        return 3 if len(data) >= 3 else 0
    if data[1:2] != b"[":
        return 2
    return next((at + 1 for at in range(2, len(data)) if data[at] in _FINAL), 0)


class Painter:
    """Writes what differs from the screen before; `colour` False: underline, weight and words alone."""

    def __init__(self, write: Callable[[bytes], None], *, colour: bool) -> None:
        self._write = write
        self._codes: Mapping[str, str] = _COLOURS if colour else _PLAIN
        self._shown: list[bytes] = []

    def forget(self) -> None:
        """Take nothing for granted of what is on the screen."""
        self._shown = []

    def paint(self, rows: Sequence[Row]) -> None:
        """Make the screen show these rows."""
        new = [self._row(row) for row in rows]
        out = [] if len(new) == len(self._shown) else [b"\x1b[0m\x1b[2J"]
        before = self._shown if not out else [b""] * len(new)
        for number, (data, old) in enumerate(zip(new, before, strict=True), start=1):
            if data != old:
                out.append(b"\x1b[%d;1H\x1b[0m\x1b[K%b" % (number, data))
        self._shown = new
        if out:
            self._write(b"".join(out))

    def _row(self, row: Row) -> bytes:
        parts = []
        for text, style in row:
            safe = neutralise(text)
            parts.append(f"\x1b[{self._codes[style]}m{safe}\x1b[0m" if style else safe)
        return "".join(parts).encode("utf-8", "replace")


class Terminal:
    """The terminal in raw form, on a screen of its own, while its `with` block runs."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._saved: list[Any] = []
        self._wake, self._woken = os.pipe()
        for descriptor in (self._wake, self._woken):
            os.set_blocking(descriptor, False)
        self.changed = True

    def __enter__(self) -> Terminal:
        self._saved = termios.tcgetattr(self._source)
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        os.close(self._wake)
        os.close(self._woken)

    @contextmanager
    def heeding(self) -> Iterator[None]:
        """Heed that the window changes its size, and that the process is stopped and goes on."""
        before = {number: signal.signal(number, self._signalled) for number in (signal.SIGWINCH,)}
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stopped)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def size(self) -> tuple[int, int]:
        """Return columns and rows."""
        with suppress(OSError):
            columns, rows = os.get_terminal_size(self._target)
            if columns and rows:
                return columns, rows
        return 80, 24

    def write(self, data: bytes) -> None:
        """Write all of it."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._target, view) :]

    def read(self, seconds: float | None) -> bytes | None:
        """Return what was typed; None when nothing was for so long, or the window changed; b"" at its end."""
        ready, _, _ = select.select([self._source, self._wake], [], [], seconds)
        if self._wake in ready:
            os.read(self._wake, 512)
            return None
        return os.read(self._source, 4096) if ready else None

    def _open(self) -> None:
        # What was typed before anything was shown decides nothing.
        tty.setcbreak(self._source, termios.TCSAFLUSH)
        self.write(_ENTER)
        self.changed = True

    def _close(self) -> None:
        # The terminal may be gone already; what else is to be said must not be lost for that.
        with suppress(OSError, termios.error):
            self.write(_LEAVE)
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._source, termios.TCSADRAIN, self._saved)

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self.changed = True
        with suppress(BlockingIOError):
            os.write(self._woken, b"\0")

    def _stopped(self, number: int, frame: FrameType | None) -> None:
        self._close()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stopped)
        self._open()
        self._signalled(number, frame)


def run(sitting: Sitting) -> None:
    """Let somebody sit at a review until they leave; raise `WorldError` TE101 where there is no terminal."""
    try:
        with Terminal(*_descriptors()) as terminal, terminal.heeding():
            _sit(sitting, terminal, Painter(terminal.write, colour=not os.environ.get("NO_COLOR")))
    finally:
        sitting.settle()


def _sit(sitting: Sitting, terminal: Terminal, painter: Painter) -> None:
    keys = Keys()
    last, at = "", 0.0
    while not sitting.left:
        if terminal.changed:
            terminal.changed = False
            painter.forget()
        painter.paint(draw(sitting, *terminal.size()))
        wait = _ESCAPE_WAIT if keys.waits else sitting.patience
        data = terminal.read(wait)
        if data == b"":
            return
        if data is None and not keys.waits and not terminal.changed:
            sitting.settle()
        for key in keys.flush() if data is None else keys.feed(data):
            now = time.monotonic()
            sitting.press(key, repeated=key == last and now - at < _REPEAT)
            last, at = key, now
            if sitting.left:
                return


def _descriptors() -> tuple[int, int]:
    for stream in (sys.stdin, sys.stdout):
        if stream is None or not stream.isatty():
            why = "stdin and stdout are none; decide with `review decide`"
            raise WorldError("TE101", what="the terminal", why=why)
    return sys.stdin.fileno(), sys.stdout.fileno()
