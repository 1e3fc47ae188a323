"""Calls of a trial as lines of text, as in a scenario file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NamedTuple

import msgspec

from nodes.metadata.operations import (
    CloseSession,
    ContentSummary,
    Create,
    Delete,
    Link,
    List,
    Mkdir,
    Open,
    Operation,
    Rename,
    SetOwner,
    SetPermission,
    SetReplication,
    SetTimes,
    Stat,
)

PAYLOAD_MAX = 1 << 20
CONTENT = ("put", "append", "get")
SPAN_MAX_MS = 3_600_000
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=SPAN_MAX_MS)]


class Caller(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One process of one client, with its calls in order, each as a line: `create /a`, `rename /a /b`, `put /f 300`."""

    name: str
    calls: list[str]
    lanes: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    """Number of calls that are open at once."""
    pause_us: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Closed loop: pause of a lane between two calls; 0 for saturation."""
    every_us: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Open loop: interval between the beginnings of calls, whether others have returned or not; 0 for a closed loop."""
    start_ms: Milliseconds = 0
    dies_ms: Milliseconds = 0
    """Time when its process is killed, which leaves its session open; 0 for never."""
    leaves: bool = False
    """Whether it closes its session when its calls are done."""


class WithContent(NamedTuple):
    """A call on the content of a file: put, append, get."""

    verb: str
    path: str
    size: int


Call = Operation | WithContent

ONE_PATH: dict[str, Callable[[str], Operation]] = {
    "create": Create,
    "mkdir": Mkdir,
    "delete": Delete,
    "stat": Stat,
    "list": List,
    "summary": ContentSummary,
    "open": Open,
}


def parse(line: str) -> Call:
    """Raises ValueError in one line."""
    verb, *words = line.split(" ")
    try:
        return _parsed(verb, words)
    except (ValueError, IndexError, KeyError):
        known = ", ".join((*ONE_PATH, *OTHERS, *CONTENT, "leave"))
        raise ValueError(
            f"{line[:60]!r} is no call; there are {known}, each with its paths and numbers"
        ) from None


def _parsed(verb: str, words: list[str]) -> Call:
    if verb == "leave" and not words:
        return CloseSession()
    if any(not word.startswith("/") for word in words[:1]):
        raise ValueError
    if verb in ONE_PATH:
        (path,) = words
        return ONE_PATH[verb](path)
    if verb in CONTENT:
        size = int(words[1]) if verb != "get" else 0
        if not 0 <= size <= PAYLOAD_MAX or len(words) != 1 + (verb != "get"):
            raise ValueError
        return WithContent(verb, words[0], size)
    operation, count = OTHERS[verb]
    if len(words) != count:
        raise ValueError
    return operation(*words)


OTHERS: dict[str, tuple[Callable[..., Operation], int]] = {
    "mkdirs": (lambda path: Mkdir(path, parents=True), 1),
    "delete-tree": (lambda path: Delete(path, recursive=True), 1),
    "rename": (Rename, 2),
    "replace": (lambda old, new: Rename(old, new, overwrite=True), 2),
    "link": (Link, 2),
    "chmod": (lambda path, mode: SetPermission(path, int(mode, 8)), 2),
    "chown": (lambda path, owner: SetOwner(path, owner), 2),
    "utime": (lambda path, at_ns: SetTimes(path, int(at_ns), int(at_ns)), 2),
    "replicas": (lambda path, count: SetReplication(path, int(count)), 2),
}
"""Verb to (operation, number of arguments behind it)."""
