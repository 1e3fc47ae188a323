"""Output of a process that was just started: its ready line, or its last error line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def ready_line(output: Path) -> dict[str, Any] | None:
    """The JSON object in the first line of its standard output; None before it is written."""
    line, whole, _ = output.read_bytes().partition(b"\n")
    if not whole:
        return None
    try:
        reported = json.loads(line)
    except ValueError:
        return None
    return reported if isinstance(reported, dict) else None


def last_words(errors: Path, mark: int) -> str:
    """The last line of its standard error since the offset `mark`; empty for none."""
    with errors.open("rb") as file:
        file.seek(mark)
        lines = [line for line in file.read()[-8192:].decode("utf-8", "replace").splitlines() if line.strip()]
    return " ".join(lines[-1].split()) if lines else ""
