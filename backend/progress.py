"""Shows on a terminal what runs, for how long already, and how long the same took the last time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from backend.places import default_data
from nodes.real.private_files import replace_file

SHORT_S = 2.0
"""What takes less needs no estimate."""
KEPT = 500
"""Most commands whose durations are kept, the latest ones."""


def durations_file() -> Path:
    return default_data() / "durations.json"


def durations() -> dict[str, float]:
    """Seconds that each command took the last time, the latest one last; empty when the file cannot be read."""
    try:
        return msgspec.json.decode(durations_file().read_bytes(), type=dict[str, float])
    except (OSError, RuntimeError, msgspec.DecodeError, msgspec.ValidationError):
        return {}


def note(command: str, took_s: float) -> None:
    """Keeps the duration for the next estimate. Where it cannot be kept, there is none."""
    known = durations()
    known.pop(command, None)
    known[command] = round(took_s, 1)
    with contextlib.suppress(OSError, RuntimeError):
        durations_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(durations_file(), msgspec.json.encode(dict([*known.items()][-KEPT:])))


class Elapsed:
    """One line, made anew whenever it is drawn."""

    def __init__(self, command: str, about_s: float | None):
        self._command = command
        self._about_s = about_s
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def __rich__(self) -> Text:
        about = f" of about {self._about_s:.0f} s" if self._about_s else ""
        return Text(f"{self._command}: {self.seconds:.0f} s{about}")


@contextlib.contextmanager
def shown(command: str) -> Iterator[None]:
    """Shows progress on standard error while the block runs, if that is a terminal. `command` names the work from one time to the next."""
    elapsed = Elapsed(command, durations().get(command))
    with Console(stderr=True).status(elapsed, refresh_per_second=2):
        yield
    if elapsed.seconds > SHORT_S:
        note(command, elapsed.seconds)
