"""Output of a process that was just started: its ready line, or its last error line."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

HEAD = re.compile(r"^\d{4}-\S+Z [a-z]+ .+?: ")


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
    """What the last line of its standard error since the offset `mark` says; empty for none."""
    with errors.open("rb") as file:
        file.seek(mark)
        lines = [line for line in file.read()[-8192:].decode("utf-8", "replace").splitlines() if line.strip()]
    return said(" ".join(lines[-1].split())) if lines else ""


def said(line: str) -> str:
    """A log line without its head; any other line as it is."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(json.loads(line)["line"])
    return HEAD.sub("", line)
