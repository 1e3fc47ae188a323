"""The world of a server. The server's code cannot distinguish a real from a simulated one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import msgspec

from nodes.scope import Scope
from nodes.states import SessionState
from nodes.trace.base import Event
from nodes.trace.present import Cause
from nodes.wire.messages import Message


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def monotonic_ns(self) -> int:
        """Nanoseconds of a clock that also runs while the process is stopped or the machine sleeps."""

    def wall_ns(self) -> int:
        """Nanoseconds since 1970 by this server's wall clock, which may be skewed and may step."""

    async def sleep(self, duration_ns: int) -> None: ...

    def call_later(self, duration_ns: int, step: Callable[..., None], *args: Any) -> Timer: ...


class Wakeable(Protocol):
    """An `asyncio.Event` or a `Wake`."""

    def set(self) -> None: ...

    async def wait(self) -> Any: ...


async def wait_at_most(clock: Clock, event: Wakeable, longest_ns: int) -> None:
    """Waits until the event is set, or the time is over."""
    timer = clock.call_later(longest_ns, event.set)
    try:
        await event.wait()
    finally:
        timer.cancel()


class Network(Protocol):
    name: str
    address: str
    """`host:port` of this server at which others may dial it; empty for one that only dials."""

    def send(self, to: str, message: Message) -> None:
        """Never blocks, never raises. Messages to one peer leave in order at the end of the present turn."""

    def receive(self, step: Callable[[str, Message], None]) -> None:
        """Every message that arrives is given to `step(peer, message)`, in its order of arrival."""

    def know(self, peer: str, address: str) -> None:
        """Registers the address at which a peer listens; a later one replaces it. Earlier dials in vain delay the next one no more."""


class AppendFile(Protocol):
    @property
    def size(self) -> int: ...

    def append(self, data: bytes) -> None:
        """Hands the bytes to the operating system; they survive a crash, but not a power loss. Raises OSError."""

    async def sync(self) -> None:
        """Makes everything appended before the call durable. Raises OSError."""

    async def truncate(self, size: int) -> None:
        """Cuts the file; durable on return."""

    def close(self) -> None: ...


class Disk(Protocol):
    """A server's own directory; paths are relative to it and use `/`."""

    def names(self, directory: str) -> list[str]:
        """Sorted names of the files in a directory; empty when there is none."""

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """Raises FileNotFoundError, OSError."""

    def size(self, path: str) -> int: ...

    def capacity(self) -> int:
        """Capacity of the medium in bytes, including used ones."""

    def free(self) -> int:
        """Free bytes of the medium."""

    def open_append(self, path: str) -> AppendFile:
        """Creates the file (and its directories) when there is none."""

    async def replace(self, path: str, data: bytes) -> None:
        """Writes a whole file so that after a crash the old or the new one exists; durable on return."""

    async def move(self, path: str, to: str) -> None:
        """Renames a file, replacing the one with the new name; durable on return. Raises FileNotFoundError, OSError."""

    def remove(self, path: str) -> None:
        """Removes a file; durable on return. Raises FileNotFoundError, OSError."""


class NodeStat(msgspec.Struct, frozen=True, array_like=True):
    version: int
    owner_session: int
    """Session that owns an ephemeral node; 0 for a persistent one."""
    czxid: int
    mzxid: int


class CreateNode(msgspec.Struct, frozen=True):
    path: str
    data: bytes = b""
    ephemeral: bool = False


class SetNode(msgspec.Struct, frozen=True):
    path: str
    data: bytes
    version: int = -1


class DeleteNode(msgspec.Struct, frozen=True):
    path: str
    version: int = -1


class CheckNode(msgspec.Struct, frozen=True):
    path: str
    version: int


Change = CreateNode | SetNode | DeleteNode | CheckNode


class CoordinationError(Exception):
    """The coordination service refused a call, or its outcome is unknown."""


class NoNode(CoordinationError): ...


class NodeExists(CoordinationError): ...


class BadVersion(CoordinationError): ...


class NotEmpty(CoordinationError): ...


class ConnectionLoss(CoordinationError):
    """The outcome of the call is unknown: it must be read back."""


class SessionExpired(CoordinationError): ...


class Undecodable(CoordinationError):
    """A node's content is none that this version writes. Servers wait until it is, because a guess could be wrong for all of them."""


D = TypeVar("D")


def decoded(path: str, data: bytes, type: type[D]) -> D:
    """The content of a node. Raises Undecodable."""
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise Undecodable(f"{path} has a content that is not understood") from None


class Coordination(Protocol):
    """A session with the coordination service. Watches fire once, as a plain step `watch(path)`. `on_state(state)` receives each state. After
    "lost" a new session is opened automatically and "connected" is reported again.
    """

    state: SessionState
    session: int
    """The session's number; 0 before there is one."""
    session_timeout_ns: int
    """The negotiated time-out."""

    def on_state(self, step: Callable[[SessionState], None]) -> None: ...

    def on_close(self, step: Callable[[], list[Change]]) -> None:
        """Called once, when this server stops gracefully and everything in its scope has ended. The returned changes are written, in one
        transaction, before the session is closed. They may be lost."""

    async def get(self, path: str, watch: Callable[[str], None] | None = None) -> tuple[bytes, NodeStat]: ...

    async def exists(self, path: str, watch: Callable[[str], None] | None = None) -> NodeStat | None: ...

    async def children(self, path: str, watch: Callable[[str], None] | None = None) -> list[str]:
        """Sorted names."""

    async def sync(self, path: str) -> None:
        """Later reads are at least as new as every state that any client was shown before this call."""

    async def multi(self, changes: list[Change]) -> list[NodeStat | None]:
        """Carries out all changes or none, in order; returns the stats of created or set nodes. Raises the first error by its class.

        There is no other write: one change is a list of one. Parents must exist; see `ensure`.
        """


async def ensure(coordination: Coordination, path: str, data: bytes = b"") -> None:
    """Creates a persistent node with this content if it is missing, with empty missing parents. Raises CoordinationError."""
    # A read costs far less than a write, which needs a majority, and later callers find every node.
    if await coordination.exists(path) is not None:
        return
    parent = path.rpartition("/")[0]
    if parent:
        await ensure(coordination, parent)
    with suppress(NodeExists):
        await coordination.multi([CreateNode(path, data)])


class Trace(Protocol):
    def emit(self, event: Event) -> int:
        """Writes a state event before any message of the same turn leaves; returns its number in this server's trace."""

    def at(self) -> Cause:
        """Cause of the present step, to be kept with work that waits."""

    def follows(self, cause: Cause) -> None:
        """Makes `cause` the cause of the rest of this turn: the work kept with it continues now."""


Piece = tuple[int, bytes]
Share = Callable[[int, int], Iterator[Piece]]
"""`share(number, count)`: the pieces of one of `count` shares; a piece without bytes only gives others a turn."""


class CopyLost(Exception):
    """A copy of this process did not make its share to the end."""


class Shares(Protocol):
    """Copies of this process that make shares of some pieces."""

    async def next(self) -> Piece | None:
        """A piece of any share, those of one share in their order; None after the last. Raises CopyLost."""

    def close(self) -> None:
        """Ends the copies. Always called, once."""


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
        """Closed when the server stops; contains everything else of the server."""

    def answer(self, name: str, step: Callable[[dict[str, Any]], Any]) -> None:
        """Registers a handler: `step(question)` returns the fields of the answer to {"do": name}, asked over the control connection, which no
        fault touches."""

    def when_idle(self, step: Callable[[], None]) -> None:
        """Runs `step` once after all callbacks that are ready on this server now."""

    def copies(self, share: Share, most: int) -> Shares | None:
        """At most `most` copies of this process as it is now, with a share each; None when there can be none, and the caller has to do the work."""
