"""A progress bar on stderr, where a person looks at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


@contextmanager
def records(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Give an observer of finished records that draws a bar, but off a terminal or when quiet nothing."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    with _bar(TextColumn("records"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as add:
        yield add(total)


@contextmanager
def data(total: int | None) -> Iterator[Callable[[int], None]]:
    """Give an observer of bytes, of `total` if known, that draws a bar on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

    with _bar(BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) as add:
        yield add(total)


@contextmanager
def _bar(*columns: ProgressColumn) -> Iterator[Callable[[int | None], Callable[[int], None]]]:
    from rich.console import Console
    from rich.progress import Progress

    # No thread redraws it: a process that forks must not have others.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:

        def add(total: int | None) -> Callable[[int], None]:
            task = bar.add_task("", total=total)

            def advance(count: int) -> None:
                bar.advance(task, count)
                bar.refresh()

            return advance

        yield add
