"""The control plane's end of one supervisor: a connection that is opened again whenever it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from backend.errors import Unavailable
from backend.fabrics.traces import moved
from backend.names import CONTROL
from nodes.real.clock import monotonic_ns
from nodes.real.connection import PeerConnection, ProcessIdentity
from nodes.states import ProcessState
from nodes.supervisor.messages import CLUSTER, ControlQuestion, ControlReply, Status, SupervisorMessage
from nodes.supervisor.supervisor import BEAT_S, BOOT_ID, READY_S
from nodes.trace.events import Stamped
from nodes.wire.codec import BadFrame
from nodes.wire.keys import Realm, supervisor_key

DIAL_AGAIN_S = 0.25
ANSWER_S = 5.0
SILENT_S = 10 * BEAT_S
"""Silence after which the connection to a supervisor is closed."""
START_S = READY_S + 5.0
APART_NS = 1_000_000_000
OFFSETS = 60
"""Number of reports, one a second, over which the offset of a clock is measured."""
_decode = msgspec.msgpack.Decoder(SupervisorMessage).decode


def own_boot_id() -> str:
    return BOOT_ID.read_text().strip() if BOOT_ID.exists() else ""


class ContainerHost:
    """One container and its process; `container` is given when its name differs. It implements `Process` for the faults and `Source` for the
    traces.

    `on_status` is called with the status before and the one now whenever a supervisor speaks, and with None for now when it falls silent.

    Many methods: it is `Process`, `Source`, and one end of a connection.
    """

    def __init__(
        self,
        name: str,
        address: tuple[str, int],
        token: bytes,
        on_status: Callable[[ContainerHost, Status | None, Status | None], None],
        container: str = "",
    ):
        self.name = name
        """Name of the process."""
        self._container = container or name
        self.status: Status | None = None
        """Present status; None while the supervisor is unreachable."""
        self.last: Status | None = None
        """Last status that the supervisor reported."""
        self.offset_ns = 0
        """Offset from the supervisor's monotonic clock to ours, in ns: the least of the last minute, for clocks drift apart."""
        self._offsets: deque[int] = deque(maxlen=OFFSETS)
        self._boot_id = ""
        self.trouble = "it has not been reached yet"
        self._address = address
        key = supervisor_key(token, self._container)
        self._identity = ProcessIdentity(CLUSTER, CONTROL, Realm.SUPERVISOR, {Realm.SUPERVISOR: key})
        self._on_status = on_status
        self._connection: PeerConnection | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ControlReply]] = {}
        self._events: list[Stamped] = []
        self._followed = ""
        self._after = 0
        self._lost = asyncio.Event()
        self._spoke = False
        self._same_clock = own_boot_id()

    # --- connection -------------------------------------------------------------------------------

    async def keep_connected(self) -> None:
        """Keeps the connection open until the task is cancelled."""
        while True:
            self._lost.clear()
            try:
                host, port = self._address
                loop = asyncio.get_running_loop()
                async with asyncio.timeout(ANSWER_S):
                    await loop.create_connection(self._made, host, port)
                await self._lost_or_silent()
            except (OSError, TimeoutError) as error:
                self.trouble = str(error) or "no answer"
            await asyncio.sleep(DIAL_AGAIN_S)

    async def _lost_or_silent(self) -> None:
        """Waits for the end or the silence of the connection. Reports that queued while this process was suspended are handled before the
        supervisor counts as silent."""
        while not self._lost.is_set():
            self._spoke = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SILENT_S):
                    await self._lost.wait()
            await asyncio.sleep(DIAL_AGAIN_S)
            if not self._spoke:
                self.close()
                return

    def _made(self) -> PeerConnection:
        return PeerConnection(
            self._identity, self._container, self._opened, self._reported, self._closed, self._warned
        )

    def _warned(self, peer: str, line: str) -> None:
        self.trouble = line

    def _opened(self, connection: PeerConnection) -> None:
        self._connection = connection
        self._send("follow", {"cluster": self._followed or "none", "after": self._after})

    def _closed(self, connection: PeerConnection) -> None:
        self._lost.set()
        if self._connection is not connection:
            return
        self._connection = None
        self.trouble = "its supervisor does not answer"
        before, self.status = self.status, None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Unavailable(f"{self.name}: {self.trouble}"))
        self._waiting.clear()
        self._on_status(self, before, None)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    # --- reports ----------------------------------------------------------------------------------

    def _reported(self, connection: PeerConnection, payload: bytes) -> None:
        """Handles one report. Raises BadFrame."""
        try:
            reported: SupervisorMessage = _decode(payload)
        except msgspec.DecodeError as error:
            raise BadFrame(f"not understood: {error}") from None
        if isinstance(reported, ControlReply):
            waiting = self._waiting.pop(reported.id, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(reported)
        elif isinstance(reported, Status):
            self._stated(reported)
        elif reported.stamped:
            self._after = max(self._after, reported.stamped[-1].number)
            self._events += (
                reported.stamped if not self.offset_ns else [self._shifted(each) for each in reported.stamped]
            )

    def _stated(self, status: Status) -> None:
        self._spoke = True
        before, self.status, self.last = self.status, status, status
        if status.boot_id != self._boot_id:
            self._boot_id = status.boot_id
            self._offsets.clear()
        self._offsets.append(monotonic_ns() - status.monotonic_ns)
        same = bool(status.boot_id) and status.boot_id == self._same_clock
        self.offset_ns = 0 if same else min(self._offsets)
        self._on_status(self, before, status)

    def _shifted(self, stamped: Stamped) -> Stamped:
        return moved(stamped, stamped.at_ns + self.offset_ns)

    @property
    def clock_apart_ns(self) -> int:
        """Difference of the wall clocks; 0 while it is unknown or below a second."""
        if self.status is None:
            return 0
        aged_ns = monotonic_ns() - self.status.monotonic_ns - self.offset_ns
        apart = self.status.wall_ns + aged_ns - time.time_ns()
        return apart if abs(apart) > APART_NS else 0

    def read(self) -> list[Stamped]:
        found, self._events = self._events, []
        return found

    def follow(self, cluster: str, after: int) -> None:
        """Follows the events of this cluster's server from the one after this number."""
        self._followed, self._after = cluster, after
        if self._connection is not None:
            self._send("follow", {"cluster": cluster, "after": after})

    # --- requests ---------------------------------------------------------------------------------

    def _send(self, do: str, args: dict[str, Any]) -> int:
        assert self._connection is not None
        number = next(self._numbers)
        self._connection.send(msgspec.msgpack.encode(ControlQuestion(number, do, args)))
        return number

    async def ask(
        self, do: str, args: dict[str, Any] | None = None, timeout_s: float = ANSWER_S
    ) -> dict[str, Any]:
        """Sends a request to the supervisor. Raises Unavailable with one line when it refuses or does not answer in time."""
        if self._connection is None:
            raise Unavailable(f"{self.name}: {self.trouble}")
        answered: asyncio.Future[ControlReply] = asyncio.get_running_loop().create_future()
        number = self._send(do, args or {})
        self._waiting[number] = answered
        try:
            reply = await asyncio.wait_for(answered, timeout_s)
        except TimeoutError:
            raise Unavailable(
                f"{self.name}: its supervisor does not answer {do} within {timeout_s:g} s"
            ) from None
        finally:
            self._waiting.pop(number, None)
        if reply.error:
            raise Unavailable(f"{self.name}: {reply.error}")
        return reply.result

    # --- the process ------------------------------------------------------------------------------

    @property
    def state(self) -> ProcessState:
        return self.status.state if self.status is not None else "stopped"

    @property
    def running(self) -> bool:
        return self.state != "stopped"

    @property
    def paused(self) -> bool:
        return self.state == "paused"

    @property
    def pid(self) -> int:
        return self.status.pid if self.status is not None else 0

    @property
    def life(self) -> int:
        """A number that differs for each start of the process: the start time that the supervisor last reported."""
        return self.last.began_ns if self.last is not None else 0

    @property
    def ended(self) -> str:
        if self.status is None:
            return f"its container is gone or cannot be reached: {self.trouble}"
        return self.status.ended

    async def start(self, launch: dict[str, Any]) -> None:
        await self.ask("start", launch, START_S)

    async def kill(self) -> None:
        await self.ask("kill", timeout_s=8.0)

    async def stop(self) -> None:
        if self.running:
            await self.ask("stop", timeout_s=10.0)

    async def pause(self) -> None:
        await self.ask("pause")

    async def resume(self) -> None:
        await self.ask("resume")
