"""A terminal that a program believes in: a pseudo-terminal, and an emulator that shows what would be seen."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyte

_PATIENCE = 30.0
_STROKE = 0.12


class Session:
    """The command line in a terminal of its own: `lines()` is the screen, `sent` all that was written."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: dict[str, str] | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.sent = bytearray()
        self._struck = "", 0.0
        self._master, slave = pty.openpty()
        self._resize(columns, rows)
        self.modes = termios.tcgetattr(slave)
        self._slave = slave
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "geode_traj", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**kept, "TERM": "xterm-256color", "PYTHONPATH": str(Path.cwd()), **(env or {})},
            preexec_fn=lambda: os.login_tty(
                os.dup(slave)
            ),  # so that it is the terminal that signals come from
        )

    def lines(self) -> list[str]:
        """Return the rows of the screen."""
        self._read(0)
        return [line.rstrip() for line in self.screen.display]

    def type(self, keys: str) -> None:
        """Strike keys, the same one no sooner again than a finger can."""
        for key in keys:
            if key == self._struck[0]:
                time.sleep(max(0.0, self._struck[1] + _STROKE - time.monotonic()))
            self.send(key.encode())
            self._struck = key, time.monotonic()

    def send(self, data: bytes) -> None:
        """Send bytes in one piece."""
        os.write(self._master, data)

    def wait(self, condition: Callable[[list[str]], bool]) -> list[str]:
        """Return the screen once it is as expected."""
        until = time.monotonic() + _PATIENCE
        while not condition(self.lines()):
            assert time.monotonic() < until, "\n".join(self.lines())
            self._read(0.2)
        return self.lines()

    def wait_for(self, text: str) -> list[str]:
        """Return the screen once a text stands on it."""
        return self.wait(lambda lines: any(text in line for line in lines))

    def settle(self) -> None:
        """Wait until the program has answered a key, if it does: what comes next is no part of it."""
        self._read(0.1)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._resize(columns, rows)

    def ended(self) -> int:
        """Wait for the program to end and return its exit code; the terminal must be as it was before."""
        until = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < until, "\n".join(self.lines())
            self._read(0.05)
        self._read(0)
        assert termios.tcgetattr(self._slave) == self.modes
        return self.process.returncode

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
        os.close(self._master)
        os.close(self._slave)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, seconds: float) -> None:
        while select.select([self._master], [], [], seconds)[0]:
            data = os.read(self._master, 1 << 16)
            self.sent += data
            self._stream.feed(data)
            seconds = 0
