"""The control plane's interface to a running cluster of processes, the same here and in containers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from backend.errors import FaultImpossible
from backend.fabrics.coordination import Ensemble
from backend.fabrics.driver import Driver
from backend.fabrics.home import Home
from backend.fabrics.ledger import FaultLedger
from backend.fabrics.links import LinkFault
from backend.fabrics.process_watch import ProcessWatch
from backend.fabrics.traces import Traces
from backend.fabrics.watched_cluster import GENTLE, WatchedCluster
from backend.names import CLIENT, CONTROL, COORDINATION
from backend.picture import ClientState, Picture
from nodes.config import ClientConfig, NodeConfig, ServerConfig, WorkloadConfig
from nodes.real.clock import monotonic_ns
from nodes.states import ProcessState
from nodes.trace.base import Event
from nodes.trace.events import Stamped, Warned
from nodes.trace.present import UNKNOWN, Cause

TICK_S = 0.02


class ClusterFabric(WatchedCluster, Driver):
    """Starts, watches, breaks and ends the processes of one cluster."""

    clock_name = "monotonic ns of this machine"
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
        super().__init__(home, on_events, workload, boot)
        self.last = last or Picture()
        """The last picture that the earlier control plane stored."""
        self.traces = Traces(
            positions or {},
            lambda server, line: self.report(CONTROL, Warned(f"{server}: {line}")),
            monotonic_ns,
        )
        self.ledger = FaultLedger(lambda event: self.report(CONTROL, event))
        self.processes = ProcessWatch(self)
        self._tasks: list[asyncio.Task[None]] = []
        self.skews_ms: dict[str, int] = {}
        """Clock skews in ms by server. A server that starts again receives its skew."""
        self.ending = False
        """True while the control plane itself ends the processes."""

    # --- processes and rules ----------------------------------------------------------------------

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
            raise FaultImpossible(f"{name!r} cannot be restarted")
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
        self.workload = workload
        self.picture.clients.setdefault(CLIENT, ClientState(CLIENT))
        await self.start_client()
        self.throttle = {"rate_per_s": workload.rate_per_s, "paused": False}

    async def set_throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        await self.ask(CLIENT, {"do": "throttle", "rate_per_s": rate_per_s, "paused": paused})
        self._throttled(rate_per_s, paused)

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

    @property
    def now_ns(self) -> int:
        return monotonic_ns()

    @property
    def coordination(self) -> Ensemble:
        return self.ensemble

    def link_faults(self) -> list[LinkFault]:
        return self.ledger.links()

    # --- events -----------------------------------------------------------------------------------

    def report(self, server: str, event: Event, at_ns: int = 0, cause: Cause = UNKNOWN) -> None:
        self.traces.add(self._stamped(server, event, at_ns or monotonic_ns(), cause))

    def report_rest(self) -> None:
        self._pass_on(self.traces.take_all())

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
            self._pass_on(self.traces.take())
            await asyncio.sleep(TICK_S)
