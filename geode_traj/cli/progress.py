"""A progress bar on stderr, where a person looks at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def records(total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Give an observer of finished records that draws a bar, but off a terminal or when quiet nothing."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("records"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # No thread redraws it: a process that forks must not have others.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=total)

        def advance(count: int) -> None:
            bar.advance(task, count)
            bar.refresh()

        yield advance
