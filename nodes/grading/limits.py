"""The limits of the process that runs a submission: memory, time, files, processes, network, output."""

from __future__ import annotations

import os
import resource
import signal
import sys
from types import FrameType
from typing import Any

from nodes.grading.refusal import refuse

MEMORY_BYTES = 1 << 30
SEED_CPU_S = 20.0
"""Longest CPU time of one trial, in seconds; a reference solution needs less than one."""
FILE_BYTES = 1 << 16
OUTPUT_BYTES = 1 << 16
FORBIDDEN = (
    "socket.", "subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.system", "os.spawn", "os.kill", "os.remove", "os.rename",
    "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.truncate", "ctypes.", "pty.", "shutil.", "signal.",
)  # fmt: skip
"""Beginnings of the names of audit events that a submission must not cause."""


class SubmissionGuard:
    """Refuses what a submission does on its way around the import check. It watches between `arm` and the end of the process."""

    def __init__(self) -> None:
        self.armed = False
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event.startswith(FORBIDDEN):
            refuse(f"the submission does {event}, which the lab does not allow")
        if event == "open" and len(arguments) == 3 and writes(arguments):
            refuse(f"the submission writes the file {str(arguments[0])[:100]!r}")


def writes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def limit_process(cpu_s: int) -> None:
    """Sets the limits of this process, for good. `cpu_s` is for all its trials together."""
    for kind, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(kind, (value, value))


class SeedTimer:
    """Ends the process when one trial uses too much CPU time. Only code without an end does."""

    def __init__(self, file: str, limit_s: float):
        self._file = file
        self._limit_s = limit_s
        self.seed = 0
        signal.signal(signal.SIGPROF, self._on_alarm)

    def begin(self, seed: int) -> None:
        self.seed = seed
        signal.setitimer(signal.ITIMER_PROF, self._limit_s)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _on_alarm(self, number: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        where = "" if frame is None else f", in {frame.f_code.co_name}, line {frame.f_lineno}"
        refuse(
            f"seed {self.seed} has used {self._limit_s:g} s of processor time{where}: does the code loop for ever?"
        )


class Output:
    """The submission's `print`: bounded, and to standard error."""

    def __init__(self) -> None:
        self._left = OUTPUT_BYTES

    def print(self, *values: object, sep: str = " ", end: str = "\n", **others: object) -> None:
        for value in values:
            text = str(value) + sep
            self._left -= len(text)
            if self._left < 0:
                refuse(f"the submission prints more than {OUTPUT_BYTES >> 10} KiB")
            os.write(2, text.encode(errors="replace"))
        os.write(2, end[:100].encode(errors="replace"))
