"""Log lines of every process, in one format, on standard error. The environment chooses it, so that each process that is started has the same."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
import traceback
from typing import Literal

FORMAT = "CLOVERLAB_LOG_FORMAT"
"""Variable of the format: text (default) or json."""
LEVEL = "CLOVERLAB_LOG_LEVEL"
"""Variable of the lowest level that is written: info by default."""
Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")


def log(level: Level, name: str, line: str, error: BaseException | None = None) -> None:
    """Writes a line of the process `name`, with the traceback of an error below it. A line for which there is no room is lost: it ends no process."""
    if LEVELS.index(level) < lowest():
        return
    trace = "".join(traceback.format_exception(error)) if error is not None else ""
    now = time.time()
    at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
    line = " ".join(line.split())
    if os.environ.get(FORMAT) == "json":
        fields = {"time": at, "level": level, "name": name, "line": line}
        written = json.dumps(fields | ({"traceback": trace} if trace else {})) + "\n"
    else:
        written = f"{at} {level} {name}: {line}\n{trace}"
    with contextlib.suppress(OSError):
        sys.stderr.write(written)
        sys.stderr.flush()


def lowest() -> int:
    """Place of the lowest level that is written; an unknown word counts as info."""
    word = os.environ.get(LEVEL, "")
    return LEVELS.index(word) if word in LEVELS else LEVELS.index("info")


class LogLines(logging.Handler):
    """Writes the records of libraries as lines of the process `name`."""

    def __init__(self, name: str):
        super().__init__()
        self._process = name

    def emit(self, record: logging.LogRecord) -> None:
        level = LEVELS[min(max(record.levelno // 10 - 1, 0), len(LEVELS) - 1)]
        error = record.exc_info[1] if record.exc_info else None
        log(level, self._process, f"{record.name}: {record.getMessage()}", error)
