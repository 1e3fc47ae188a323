"""The progress of a search: a bar on a terminal, without one a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

SAID_EVERY_S = 20
"""Interval of progress lines without a terminal."""
Show = Callable[[float, str], None]
"""Shows how much is done, and a summary."""


@contextmanager
def search_progress(console: Console, total: float) -> Iterator[Show]:
    """Shows progress while the block runs; `total` is how much there is to do."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        line = progress.add_task("exploring", total=total)
        began_s = said_s = time.monotonic()

        def show(done: float, summary: str) -> None:
            nonlocal said_s
            now_s = time.monotonic()
            progress.update(line, completed=done, description=summary)
            if progress.disable and now_s - said_s > SAID_EVERY_S:
                said_s = now_s
                console.print(f"{summary}, {estimate(done, total, now_s - began_s)}")

        yield show


def estimate(done: float, total: float, took_s: float) -> str:
    """The share that is done, and about how long the rest takes."""
    share = min(1.0, done / total) if total else 1.0
    left = f", about {took_s * (1 - share) / share:.0f} s left" if 0 < share < 1 else ""
    return f"{share:.0%} done{left}"
