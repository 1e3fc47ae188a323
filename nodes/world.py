"""The world a server lives in. A server's code cannot tell whether it is real or simulated."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from nodes.scope import Scope
from nodes.trace.base import Event
from nodes.trace.present import Cause
from nodes.wire.messages import Message


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def monotonic_ns(self) -> int:
        """Nanoseconds that go on while the process is stopped or the machine sleeps."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970 as this server believes; may be skewed, may step."""

    async def sleep(self, duration_ns: int) -> None: ...

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> Timer: ...


class Network(Protocol):
    name: str
    address: str
    """`host:port` of this server as others may dial it; empty for one that only dials."""

    def send(self, to: str, message: Message) -> None:
        """Never blocks, never raises. Messages to one peer leave in order at the end of the present turn."""

    def receive(self, step: Callable[[str, Message], None]) -> None:
        """Every message that arrives is given to `step(peer, message)`, in its order of arrival."""

    def know(self, peer: str, address: str) -> None:
        """Says where a peer listens; a later address replaces an earlier one."""


class AppendFile(Protocol):
    @property
    def size(self) -> int: ...

    def append(self, octets: bytes) -> None:
        """Hands the octets to the operating system; they survive a crash, not a power loss. Raises OSError."""

    async def sync(self) -> None:
        """Everything appended before the call is durable when this returns. Raises OSError."""

    async def truncate(self, size: int) -> None:
        """Durable when it returns."""

    def close(self) -> None: ...


class Disk(Protocol):
    """A server's own directory; paths are relative to it and use `/`."""

    def names(self, directory: str) -> list[str]:
        """Sorted names of the files in a directory; empty when there is none."""

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """Raises FileNotFoundError, OSError."""

    def size(self, path: str) -> int: ...

    def capacity(self) -> int:
        """Octets that the medium holds, used ones included."""

    def free(self) -> int:
        """Octets that the medium still takes."""

    def open_append(self, path: str) -> AppendFile:
        """Creates the file (and its directories) when there is none."""

    async def replace(self, path: str, octets: bytes) -> None:
        """Writes a whole file so that after a crash the old or the new one is there; durable on return."""

    async def move(self, path: str, to: str) -> None:
        """Gives a file another name, over what has it; durable on return. Raises FileNotFoundError, OSError."""

    def remove(self, path: str) -> None: ...


class Stat(msgspec.Struct, frozen=True, array_like=True):
    version: int
    owner_session: int
    """0 for a persistent node."""
    czxid: int
    mzxid: int


class Create(msgspec.Struct, frozen=True):
    path: str
    octets: bytes = b""
    ephemeral: bool = False


class Set(msgspec.Struct, frozen=True):
    path: str
    octets: bytes
    version: int = -1


class Delete(msgspec.Struct, frozen=True):
    path: str
    version: int = -1


class Check(msgspec.Struct, frozen=True):
    path: str
    version: int


Change = Create | Set | Delete | Check


class CoordinationError(Exception):
    """Something the coordination service refused or could not say."""


class NoNode(CoordinationError): ...


class NodeExists(CoordinationError): ...


class BadVersion(CoordinationError): ...


class NotEmpty(CoordinationError): ...


class ConnectionLoss(CoordinationError):
    """The outcome of the call is unknown: it is to be read back, not believed either way."""


class SessionExpired(CoordinationError): ...


class Coordination(Protocol):
    """A session with the coordination service. Watches fire once, as a plain step `watch(path)`.

    Session states, told to `on_state(state)`: "connected", "suspended" (stop answering now), "lost" (the session and
    its ephemeral nodes are gone: the tenure ends). After "lost" a new session is opened by itself and "connected" is told again.
    """

    state: str
    session: int
    """The session's number; 0 before there is one."""
    session_timeout_ns: int
    """As negotiated."""

    def on_state(self, step: Callable[[str], None]) -> None: ...

    def on_close(self, step: Callable[[], list[Change]]) -> None:
        """Asked once, when this server ends in good order and everything in its scope has ended: what it returns is written, in one
        transaction, before the session is closed. It may be lost."""

    async def get(self, path: str, watch: Callable[[str], None] | None = None) -> tuple[bytes, Stat]: ...

    async def exists(self, path: str, watch: Callable[[str], None] | None = None) -> Stat | None: ...

    async def children(self, path: str, watch: Callable[[str], None] | None = None) -> list[str]:
        """Sorted names."""

    async def sync(self, path: str) -> None:
        """What is read after this is at least as new as what anybody was told before it."""

    async def multi(self, changes: list[Change]) -> list[Stat | None]:
        """All or nothing, in order; the stats of created or set nodes. Raises the first error by its class.

        There is no other write: one change is a list of one. Parents must exist; see `ensure`.
        """


async def ensure(coordination: Coordination, path: str, octets: bytes = b"") -> None:
    """Creates a persistent node with this content, and empty parents, where they lack. Raises CoordinationError."""
    # A look costs far less than a write, which takes a majority: whoever comes later finds everything.
    if await coordination.exists(path) is not None:
        return
    parent = path.rpartition("/")[0]
    if parent:
        await ensure(coordination, parent)
    with suppress(NodeExists):
        await coordination.multi([Create(path, octets)])


class Trace(Protocol):
    def emit(self, event: Event) -> int:
        """Writes a state event before any message of the same turn leaves; returns its number in this server's trace."""

    def at(self) -> Cause:
        """What leads to whatever happens now: kept with work that waits for its turn among other work."""

    def follows(self, cause: Cause) -> None:
        """What comes next in this turn follows from `cause`: such work is taken up now."""


class World(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def rng(self) -> random.Random: ...

    @property
    def network(self) -> Network: ...

    @property
    def disk(self) -> Disk: ...

    @property
    def coordination(self) -> Coordination: ...

    @property
    def trace(self) -> Trace: ...

    @property
    def scope(self) -> Scope:
        """Closed when the server stops; everything else is inside."""

    def when_idle(self, step: Callable[[], None]) -> None:
        """Runs `step` once after all that is ready on this server now."""


Procedure = Coroutine[Any, Any, None]
