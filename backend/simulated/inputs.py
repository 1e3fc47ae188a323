"""Everything from outside that a simulated cluster received: with seed and configuration it determines the cluster's events.

An input is applied at a virtual instant, after all that happens at this instant, in the order of the log. A replay runs to each instant and applies
the inputs again.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import Unavailable
from nodes.config import ClusterConfig, WorkloadConfig
from nodes.explore.plan import Plan
from nodes.metadata.operations import Operation

FORMAT = 1
LOG_BYTES = 256 << 20
"""Size at which a log is full: the cluster accepts no more inputs then."""
KEPT = 20
"""Number of logs that are kept, the newest ones."""


class InjectFault(msgspec.Struct, tag="fault", frozen=True):
    verb: str
    targets: list[str]
    options: dict[str, Any]


class AskServer(msgspec.Struct, tag="ask", frozen=True):
    """A question to a server over its control path; `within_ns` of virtual time."""

    server: str
    question: dict[str, Any]
    within_ns: int


class CallOperation(msgspec.Struct, tag="call", frozen=True):
    operation: Operation


class PutContent(msgspec.Struct, tag="put", frozen=True):
    """Creates a file with this content, or appends it."""

    path: str
    content: bytes
    block_size: int
    append: bool = False
    force: bool = False


class GetContent(msgspec.Struct, tag="get", frozen=True):
    """At least a part of a file from byte `start` on, at most `most` bytes and the rest of a part."""

    path: str
    start: int
    most: int


class FindBlocks(msgspec.Struct, tag="places", frozen=True):
    path: str
    first: int
    limit: int


class ThrottleWorkload(msgspec.Struct, tag="throttle", frozen=True):
    rate_per_s: float | None
    paused: bool | None


class ReplaceWorkload(msgspec.Struct, tag="workload", frozen=True):
    workload: WorkloadConfig


class ChangeClock(msgspec.Struct, tag="clock", frozen=True):
    """Changes nothing of the cluster; it is kept for a person who reads the log."""

    do: str
    speed: float


Input = (
    InjectFault | AskServer | CallOperation | PutContent | GetContent | FindBlocks | ThrottleWorkload
    | ReplaceWorkload | ChangeClock
)  # fmt: skip


class ClusterOrigin(msgspec.Struct, frozen=True):
    """What a simulated cluster begins with."""

    cluster: ClusterConfig
    seed: int
    workload: WorkloadConfig | None = None
    plan: Plan | None = None
    """A trial that is played, with a load and faults of its own."""


class PastRun(msgspec.Struct, frozen=True):
    """A part of another run, which a new cluster of the same origin repeats before it goes on by itself."""

    log: str
    """Path of the input log."""
    until_ns: int


class LogHeader(msgspec.Struct, frozen=True):
    """The first line of a log."""

    origin: ClusterOrigin
    format: int = FORMAT


class LoggedInput(msgspec.Struct, frozen=True):
    at_ns: int
    input: Input


class InputLog:
    """A file of JSON lines, written before an input is applied."""

    def __init__(self, path: Path, origin: ClusterOrigin, most: int = LOG_BYTES):
        """Raises OSError."""
        self._most = most
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self._size = 0
        self._write(LogHeader(origin))

    def append(self, at_ns: int, input: Input) -> None:
        """Raises Unavailable when the log is full or cannot be written: the input must not be applied then. A full one can still be paused."""
        if self._size >= self._most:
            if isinstance(input, ChangeClock):
                return
            raise Unavailable("the input log of this simulated cluster is full: start it afresh")
        try:
            self._write(LoggedInput(at_ns, input))
        except OSError as error:
            raise Unavailable(f"the input log cannot be written: {error.strerror}") from None

    def _write(self, line: msgspec.Struct) -> None:
        data = msgspec.json.encode(line) + b"\n"
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._size += len(data)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def read_log(path: Path) -> tuple[ClusterOrigin, list[LoggedInput]]:
    """A log's beginning and inputs. A last line that was cut off is left out. Raises ValueError for any other damage, OSError."""
    first, *lines = path.read_bytes().split(b"\n")
    header = msgspec.json.decode(first, type=LogHeader)
    if header.format != FORMAT:
        raise ValueError(f"{path} is an input log of format {header.format}, not {FORMAT}")
    return header.origin, [msgspec.json.decode(line, type=LoggedInput) for line in lines[:-1]]


def forget_logs(directory: Path, kept: int = KEPT) -> None:
    """Removes all logs but the newest ones. Raises OSError."""
    logs = sorted(directory.glob("*.jsonl"), key=lambda path: int(path.stem))
    for path in logs[: max(0, len(logs) - kept)]:
        path.unlink(missing_ok=True)
