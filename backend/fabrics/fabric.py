"""The control plane's interface to a running cluster, the same on processes and in containers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

import msgspec

from backend.errors import FaultUnsupported
from backend.fabrics.coordination import Ensemble
from backend.fabrics.driver import Driver
from backend.fabrics.home import Home
from backend.fabrics.ledger import Ledger
from backend.fabrics.process_watch import ProcessWatch
from backend.fabrics.traces import Traces
from backend.names import CLIENT, CONTROL, COORDINATION
from backend.picture import ClientState, Picture
from nodes.config import ClientConfig, NodeConfig, ServerConfig, WorkloadConfig
from nodes.faults.model import Fabric
from nodes.listeners import Listeners
from nodes.real.clock import monotonic_ns
from nodes.roles import IN_STEP, SERVING
from nodes.states import ProcessState
from nodes.trace.base import Event
from nodes.trace.events import Stamped, Warned
from nodes.trace.present import UNKNOWN, Cause

TICK_S = 0.02
GENTLE = WorkloadConfig(
    clients=4,
    rate_per_s=50.0,
    mix={"create": 42, "delete": 42, "mkdir": 4, "rmdir": 4, "rename": 8},
    objects=1_000,
)
"""The load of a cluster that is left alone: changes only, over a bounded number of objects."""


class ClusterFabric(Driver):
    """Starts, watches, breaks and ends the processes of one cluster. `on_events` is given every event of it, in order of time."""

    kind: Fabric
    ensemble: Ensemble

    def __init__(
        self,
        home: Home,
        on_events: Callable[[list[Stamped]], None],
        workload: WorkloadConfig | None = GENTLE,
        positions: dict[str, int] | None = None,
        boot: int = 1,
        last: Picture | None = None,
    ):
        self.home = home
        self.boot = boot
        self.last = last or Picture()
        """The last picture that the earlier control plane stored."""
        self.workload = workload
        self.traces = Traces(
            positions or {}, lambda server, line: self.report(CONTROL, Warned(f"{server}: {line}"))
        )
        self.ledger = Ledger(lambda event: self.report(CONTROL, event))
        self.picture = Picture.of(
            home.file.cluster, home.file.added, [CLIENT] if workload else [], home.file.removed
        )
        self.rng = random.Random(home.file.seed)
        self.throttle: dict[str, Any] = {
            "rate_per_s": workload.rate_per_s if workload else 0.0,
            "paused": False,
        }
        self.on_states: Listeners[()] = Listeners()
        self._on_events = on_events
        self._numbers: dict[str, int] = {}
        self.processes = ProcessWatch(self)
        self._tasks: list[asyncio.Task[None]] = []
        self.skews_ms: dict[str, int] = {}
        """Clock skews in ms by server. A server that starts again receives its skew."""
        self.ending = False
        """True while the control plane itself ends the processes."""

    # --- processes and rules ----------------------------------------------------------------------

    def spread(self, names: list[str]) -> list[str]:
        """Expands `coordination` to the names of all of its servers."""
        own = self.coordination_servers
        return [each for name in names for each in (own if name == COORDINATION and own else [name])]

    def recall(self, name: str) -> None:
        """Seeds the state of a server that kept running from the last picture, because its role event is old; newer events correct it."""
        node = self.last.nodes.get(name)
        if node is not None:
            self.picture.nodes[name] = msgspec.structs.replace(node, faults=[], process="running")
        old = self.last.servers.get(name)
        if old is not None:
            self.picture.servers[name] = msgspec.structs.replace(
                old, role="down", faults=[], process="running"
            )

    async def start_process(self, name: str) -> None:
        """Starts a metadata server or a node."""
        cluster, nodes = self.home.file.cluster, self.home.nodes()
        if name in nodes:
            await self.launch(name, nodes[name].role, NodeConfig(name, cluster))
        else:
            config = ServerConfig(name, self.home.servers()[name], cluster)
            await self.launch(name, "server", config, self.coordination_of(name))

    async def start_client(self) -> None:
        """Starts the workload's client; ends the earlier one first."""
        before = self.process(CLIENT)
        if before is not None:
            await before.stop()
        assert self.workload is not None
        await self.launch(CLIENT, "workload", ClientConfig(CLIENT, self.home.file.cluster, self.workload))

    async def restart(self, name: str) -> None:
        if name in self.home.servers() or name in self.home.nodes():
            await self.start_process(name)
        elif name == CLIENT:
            await self.start_client()
        elif name == COORDINATION:
            await self.ensemble.restart()
        else:
            raise FaultUnsupported(f"{name!r} cannot be restarted")
        if self.skews_ms.get(name):
            await self.put_clock(name)
        if self.ledger.options_of(name, "slow_disk") or self.ledger.options_of(name, "fail_disk"):
            await self.put_disk(name)

    async def put_clock(self, name: str) -> None:
        """Applies the server's clock skew. Raises Unavailable."""
        await self.ask(name, {"do": "clock", "skew_ms": self.skews_ms[name]})

    async def put_disk(self, name: str) -> None:
        """Applies the disk faults in force to a server. Raises Unavailable."""
        slow = self.ledger.options_of(name, "slow_disk") or {"ms": 0}
        fails = self.ledger.options_of(name, "fail_disk") is not None
        await self.ask(name, {"do": "disk", "slow_ms": slow["ms"], "fail": fails})

    async def replace_client(self, workload: WorkloadConfig) -> None:
        """Ends the workload's client and starts it with another configuration."""
        self.workload = workload
        self.picture.clients.setdefault(CLIENT, ClientState(CLIENT))
        await self.start_client()
        self.throttle = {"rate_per_s": workload.rate_per_s, "paused": False}

    async def set_throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        """Raises Unavailable when there is no client."""
        await self.ask(CLIENT, {"do": "throttle", "rate_per_s": rate_per_s, "paused": paused})
        if rate_per_s is not None:
            self.throttle["rate_per_s"] = rate_per_s
        if paused is not None:
            self.throttle["paused"] = paused

    async def report_peers(self) -> None:
        """Sends the client the addresses of all servers, after a server was added."""
        client = self.process(CLIENT)
        if client is not None and client.running:
            await self.ask(CLIENT, {"do": "peers", "peers": self.peers()})

    def state_of(self, name: str) -> ProcessState:
        process = self.process(name)
        return process.state if process is not None else "stopped"

    def pid_of(self, name: str) -> int:
        process = self.process(name)
        return process.pid if process is not None and process.running else 0

    def states(self) -> dict[str, ProcessState]:
        names = (*self.home.servers(), *self.home.nodes(), CLIENT, *self.spread([COORDINATION]))
        return {name: self.state_of(name) for name in names}

    def settled(self) -> bool:
        """True when every server runs and has a place in the global view, and the active or a member of every group serves."""
        servers = self.picture.servers.values()
        serving = {s.group for s in servers if s.believes in SERVING}
        in_place = all(s.role in IN_STEP and self.state_of(s.name) == "running" for s in servers)
        return in_place and serving >= set(self.picture.groups)

    # --- events -----------------------------------------------------------------------------------

    def report(self, server: str, event: Event, at_ns: int = 0, cause: Cause = UNKNOWN) -> None:
        """Emits an event of the control plane itself. The server is `control`, `coordination` or `checks`."""
        self._numbers[server] = self._numbers.get(server, 0) + 1
        at_ns = at_ns or monotonic_ns()
        self.traces.add(Stamped(server, self.boot, self._numbers[server], at_ns, cause[1], event, cause[0]))  # type: ignore[arg-type]

    def report_rest(self) -> None:
        self._pass_on(self.traces.take_all())

    def _pass_on(self, events: list[Stamped]) -> None:
        for stamped in events:
            self.picture.apply(stamped, self.picture.seq)
        if events:
            self._on_events(events)

    def watch(self) -> None:
        """Starts to follow traces, the global view and the processes."""
        self._tasks += [
            asyncio.create_task(self._follow_traces(), name="traces"),
            asyncio.create_task(self.ensemble.observe(), name="observer"),
            asyncio.create_task(self.processes.run(), name="processes"),
        ]

    async def end_watching(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.ensemble.close()

    async def _follow_traces(self) -> None:
        while True:
            self._pass_on(self.traces.take(monotonic_ns()))
            await asyncio.sleep(TICK_S)


async def wait_until(true: Callable[[], bool], timeout_s: float) -> bool:
    """Polls a condition; returns whether it became true in time."""
    deadline = time.monotonic() + timeout_s
    while not true():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
