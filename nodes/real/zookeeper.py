"""A server's session with ZooKeeper, or with the embedded server that implements its protocol, through kazoo in both cases.

kazoo runs threads of its own; its notifications enter the loop by `call_soon_threadsafe`, in order.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec
from kazoo import exceptions as k
from kazoo.client import TransactionRequest
from kazoo.protocol.serialization import Connect
from kazoo.protocol.states import KazooState, WatchedEvent
from kazoo.retry import KazooRetry

from nodes.real.authentication import authenticated
from nodes.real.clock import monotonic_ns
from nodes.states import SessionState
from nodes.trace.observer import NODE
from nodes.trace.present import UNKNOWN, Cause, causal, cause_in, change_of, with_cause
from nodes.world import (
    BadVersion,
    Change,
    CheckNode,
    ConnectionLoss,
    CoordinationError,
    CreateNode,
    DeleteNode,
    NodeExists,
    NodeStat,
    NoNode,
    NotEmpty,
    SessionExpired,
    SetNode,
)

STATES: dict[str, SessionState] = {
    KazooState.CONNECTED: "connected",
    KazooState.SUSPENDED: "suspended",
    KazooState.LOST: "lost",
}
ERRORS: tuple[tuple[type[Exception], type[CoordinationError]], ...] = (
    (k.NoNodeError, NoNode),
    (k.NodeExistsError, NodeExists),
    (k.BadVersionError, BadVersion),
    (k.NotEmptyError, NotEmpty),
    (k.SessionExpiredError, SessionExpired),
    (k.ConnectionLoss, ConnectionLoss),
    (k.ConnectionClosedError, ConnectionLoss),
    (k.SessionMovedError, ConnectionLoss),
    (k.OperationTimeoutError, ConnectionLoss),
)
CLOSING_S = 0.5
NOT_TRIED = (k.RolledBackError, k.RuntimeInconsistency)


class Zookeeper:
    """`Coordination` of nodes/world.py."""

    def __init__(self, hosts: str, session_timeout_ms: int, password: str):
        self._loop = asyncio.get_running_loop()
        self._causal = causal(self._loop)
        longest_s = min(session_timeout_ms / 20_000, 0.3)
        retry = KazooRetry(max_tries=-1, delay=0.02, backoff=1.5, max_jitter=0.5, max_delay=longest_s)
        self._client = authenticated(
            hosts, password, timeout=session_timeout_ms / 1000, connection_retry=retry, logger=_quiet()
        )
        self._client.add_listener(self._listener)
        self._on_state: Callable[[SessionState], None] = lambda state: None
        self._begun_by = UNKNOWN
        """The cause of the server's request for a session: kazoo reports connections from its own thread."""
        self._on_close: Callable[[], list[Change]] = list
        self._negotiated_ms = session_timeout_ms
        self._observe_negotiation()
        self.state: SessionState = "suspended"
        self.session = 0
        self.session_timeout_ns = session_timeout_ms * 1_000_000
        self._closed = False

    @property
    def credentials(self) -> tuple[int, bytes]:
        """Session number and password, with which the session can be ended. (0, b"") before the first one."""
        return self._client.client_id or (0, b"")

    def start(self) -> None:
        """Connects, and retries as long as necessary."""
        self._client.start_async()

    async def close(self) -> None:
        """Writes the changes of `on_close` and ends the session, if possible within a second."""
        changes = self._on_close()
        if changes:
            try:
                await asyncio.wait_for(self.multi(changes), CLOSING_S)
            except (TimeoutError, CoordinationError):
                pass
        self._closed = True
        try:
            await asyncio.wait_for(self._loop.run_in_executor(None, self._client.stop), CLOSING_S)
        except (TimeoutError, k.KazooException):
            pass

    # --- state -----------------------------------------------------------------------------------------------------

    def _listener(self, state: str) -> None:
        """Called in a thread of kazoo's."""
        session = self._client.client_id[0] if self._client.client_id else 0
        self._enter(self._become, STATES[state], session, self._negotiated_ms)

    def _observe_negotiation(self) -> None:
        """Reads the negotiated time-out from the handshake's answer, in a thread of kazoo's, because kazoo does not expose it."""
        connection = self._client._connection
        invoke = connection._invoke

        def observed(timeout: float, request: Any, xid: int | None = None) -> Any:
            result = invoke(timeout, request, xid)
            if isinstance(request, Connect) and result[0].time_out > 0:
                self._negotiated_ms = result[0].time_out
            return result

        connection._invoke = observed

    def _enter(self, step: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(step, *args)
        except RuntimeError:
            if not self._closed:
                raise

    def _become(self, state: SessionState, session: int, timeout_ms: int) -> None:
        if self._closed:
            return
        self.session_timeout_ns = timeout_ms * 1_000_000
        self.session = session if state == "connected" else 0 if state == "lost" else self.session
        if state != self.state:
            self.state = state
            self._causal.cause = self._causal.began = self._begun_by
            self._on_state(state)
            self._causal.cause = self._causal.began = UNKNOWN

    def on_state(self, step: Callable[[SessionState], None]) -> None:
        self._begun_by = self._causal.cause
        self._on_state = step

    def on_close(self, step: Callable[[], list[Change]]) -> None:
        self._on_close = step

    # --- calls -----------------------------------------------------------------------------------------------------

    async def _call(self, begin: Callable[..., Any], *args: Any) -> Any:
        """Raises CoordinationError; a call that cannot begin now is not queued."""
        if self.state != "connected":
            raise ConnectionLoss("there is no connection to the coordination service")
        answered: asyncio.Future[Any] = self._loop.create_future()
        asked = self._causal.cause
        try:
            begin(*args).rawlink(lambda result: self._enter(self._settle, asked, answered, result))
        except k.KazooException as error:
            raise _translated(error) from None
        return await answered

    def _settle(self, asked: Cause, answered: asyncio.Future[Any], result: Any) -> None:
        """Resolves a call. Its caller continues with the cause of its request: kazoo's threads have none."""
        if answered.done():
            return
        self._causal.cause = asked
        if result.exception is not None:
            answered.set_exception(_translated(result.exception))
        else:
            answered.set_result(result.value)
        self._causal.cause = UNKNOWN

    def _watch(self, step: Callable[[str], None] | None) -> Callable[[WatchedEvent], None] | None:
        """Wraps a watch's callback. kazoo also calls it without a path when the session ends, which is reported as a state."""
        if step is None:
            return None
        return lambda event: self._enter(self._fire, step, event.path) if event.path else None

    def _fire(self, step: Callable[[str], None], path: str) -> None:
        """Runs a watch's callback. The writer is unknown, so the cause is the change of this node at this time (nodes/trace/outside_causes.py)."""
        self._causal.cause = self._causal.began = change_of(path, monotonic_ns())
        step(path)
        self._causal.cause = self._causal.began = UNKNOWN

    async def get(self, path: str, watch: Callable[[str], None] | None = None) -> tuple[bytes, NodeStat]:
        data, stat = await self._call(self._client.get_async, path, self._watch(watch))
        if self._causal.cause[0] == path:
            self._follow_writer(data)
        return data, _stat(stat)

    def _follow_writer(self, data: bytes) -> None:
        """The reader was notified of a change of this node: it continues with the cause of the writer, if the node names it."""
        writer = cause_in(data)
        if writer != UNKNOWN:
            self._causal.cause = self._causal.began = writer

    async def exists(self, path: str, watch: Callable[[str], None] | None = None) -> NodeStat | None:
        stat = await self._call(self._client.exists_async, path, self._watch(watch))
        return None if stat is None else _stat(stat)

    async def children(self, path: str, watch: Callable[[str], None] | None = None) -> list[str]:
        return sorted(await self._call(self._client.get_children_async, path, self._watch(watch)))

    async def sync(self, path: str) -> None:
        await self._call(self._client.sync_async, path)

    async def multi(self, changes: list[Change]) -> list[NodeStat | None]:
        """The stat of a node that was created is not part of ZooKeeper's answer: None."""
        transaction, cause = self._client.transaction(), self._causal.cause
        for change in changes:
            if isinstance(change, CreateNode | SetNode) and NODE.match(change.path):
                change = msgspec.structs.replace(change, data=with_cause(change.data, cause))
            _ADD[type(change)](transaction, change)
        results = await self._call(transaction.commit_async)
        reasons = [result for result in results if isinstance(result, Exception)]
        if reasons:
            raise _translated(next((each for each in reasons if not isinstance(each, NOT_TRIED)), reasons[0]))
        return [_stat(result) if hasattr(result, "mzxid") else None for result in results]


_ADD: dict[type, Callable[[TransactionRequest, Any], None]] = {
    CreateNode: lambda t, change: t.create(change.path, change.data, ephemeral=change.ephemeral),
    SetNode: lambda t, change: t.set_data(change.path, change.data, change.version),
    DeleteNode: lambda t, change: t.delete(change.path, change.version),
    CheckNode: lambda t, change: t.check(change.path, change.version),
}


def _translated(error: BaseException) -> CoordinationError:
    for kind, ours in ERRORS:
        if isinstance(error, kind):
            return ours(str(error) or kind.__name__)
    return CoordinationError(f"{type(error).__name__}: {error}")


def _stat(stat: Any) -> NodeStat:
    return NodeStat(stat.version, stat.ephemeralOwner, stat.czxid, stat.mzxid)


def _quiet() -> logging.Logger:
    logger = logging.getLogger("cloverlab.kazoo")
    logger.setLevel(logging.CRITICAL)
    return logger
