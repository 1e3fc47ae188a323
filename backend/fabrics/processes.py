"""A cluster of operating-system processes on this machine: coordination, relays, metadata servers and the
workload's client."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from typing import Any

import msgspec

from backend.clusters.picture import Picture
from backend.errors import Unavailable
from backend.fabrics import launch
from backend.fabrics.children import Child, Children
from backend.fabrics.coordination import Ensemble, ensemble_of
from backend.fabrics.home import Home
from backend.fabrics.ledger import Ledger
from backend.fabrics.links import transport_rules
from backend.fabrics.relay_house import RelayHouse
from backend.fabrics.sockets import ask
from backend.fabrics.traces import Traces
from nodes.config import WorkloadConfig
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Event, Stamped

TICK_S = 0.02
GENTLE = WorkloadConfig(clients=4, rate_per_s=50.0)
CONTROL = "control"


class ProcessFabric:
    """Starts, watches, breaks and ends the processes. `on_events` is given every event of the cluster, in
    order of time."""

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
        """What was known when the earlier control plane ended."""
        self.workload = workload
        self.children = Children(home.path)
        self.traces = Traces(positions or {})
        self.ledger = Ledger(lambda event: self.tell(CONTROL, event))
        self.picture = Picture.of(home.file.cluster, home.file.added, [launch.CLIENT] if workload else [])
        self.rng = random.Random(home.file.seed)
        self.throttle: dict[str, Any] = {
            "rate_per_s": workload.rate_per_s if workload else 0.0,
            "paused": False,
        }
        self.ensemble: Ensemble = ensemble_of(home, self.children, self.tell)
        self.relays = RelayHouse(home, self.children)
        self.on_states: Callable[[], None] = lambda: None
        self._on_events = on_events
        self._numbers: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._states: dict[str, str] = {}

    # --- life -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Raises CannotStart or Unavailable in one line; what was started by then is to be ended by
        `stop`."""
        leftovers = self.children.leftovers()
        for child in leftovers.values():
            child.resume()
            self.children.adopt(child)
            self.recall(child.name)
        await self.ensemble.start(leftovers)
        await self.relays.start(leftovers, list(self.home.servers()), self.ensemble.hosts)
        for name in self.home.servers():
            self.traces.follow(name, launch.trace_directory(self.home, name))
            self.home.port_of(name, in_use=name in leftovers)
        self.traces.follow(launch.CLIENT, launch.trace_directory(self.home, launch.CLIENT))
        self._tasks = [
            asyncio.create_task(self._follow_traces(), name="traces"),
            asyncio.create_task(self.ensemble.observe(), name="observer"),
            asyncio.create_task(self._watch_processes(), name="processes"),
        ]
        await asyncio.gather(*(self._server(name, leftovers.get(name)) for name in self.home.servers()))
        if self.workload is not None:
            await self.start_client(leftovers.get(launch.CLIENT))

    async def stop(self) -> None:
        """Ends every process, those that others need last."""
        by_name = self.children.by_name
        rank = {launch.COORDINATION: 2, launch.RELAYS: 2}
        clients = [child for name, child in by_name.items() if name == launch.CLIENT]
        servers = [child for name, child in by_name.items() if name not in rank and name != launch.CLIENT]
        await asyncio.gather(*(child.stop() for child in clients + servers))
        self.tell_rest()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.ensemble.close()
        await asyncio.gather(*(child.stop() for name, child in by_name.items() if name in rank))
        self.tell_rest()

    async def _server(self, name: str, leftover: Child | None) -> None:
        """Takes over a running server, or starts it."""
        if leftover is not None:
            with contextlib.suppress(Unavailable):
                await ask(self.home.socket_of(name), {"do": "rules", "rules": []})
                return
            await leftover.kill()
        await self.start_server(name)

    def recall(self, name: str) -> None:
        """A server that runs on told long ago what it is: the last picture knows; newer events correct it."""
        old = self.last.servers.get(name)
        if old is not None:
            self.picture.servers[name] = msgspec.structs.replace(
                old, role="down", faults=[], process="running"
            )

    async def start_server(self, name: str) -> None:
        self.home.port_of(name)
        file = launch.server_file(self.home, name, self.relays.address_of(name))
        await self.children.spawn(name, "server", "nodes", "server", "--config", str(file))
        await self.apply_rules([name])

    async def start_client(self, leftover: Child | None = None) -> None:
        """The client of the workload; one of an earlier control plane is ended first."""
        if leftover is not None:
            await leftover.stop()
        assert self.workload is not None
        file = launch.client_file(self.home, self.workload)
        await self.children.spawn(launch.CLIENT, "workload", "nodes", "workload", "--config", str(file))
        await self.apply_rules([launch.CLIENT])

    async def replace_client(self, workload: WorkloadConfig) -> None:
        """Ends the workload's client and starts it with another configuration."""
        self.workload = workload
        await self.start_client(self.children.by_name.get(launch.CLIENT))
        self.throttle = {"rate_per_s": workload.rate_per_s, "paused": False}

    # --- rules and questions ----------------------------------------------------------------------

    async def apply_rules(self, names: list[str] | None = None) -> None:
        """Tells the transports and relays which links are broken. One that is not there gets its rules
        when it starts."""
        links = self.ledger.links()
        wanted = names if names is not None else [*self.home.servers(), launch.CLIENT]
        for name in wanted:
            child = self.children.by_name.get(name)
            if child is not None and child.state == "running":
                with contextlib.suppress(Unavailable):
                    await ask(
                        self.home.socket_of(name), {"do": "rules", "rules": transport_rules(links, name)}
                    )
        for name in wanted:
            if name in self.home.servers():
                await self.relays.apply(links, name)

    async def tell_peers(self) -> None:
        """A server was added: the client is told where everybody listens."""
        if launch.CLIENT in self.children.by_name:
            with contextlib.suppress(Unavailable):
                await ask(
                    self.home.socket_of(launch.CLIENT), {"do": "peers", "peers": launch.peers(self.home)}
                )

    async def set_throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        """Raises Unavailable when there is no client."""
        question = {"do": "throttle", "rate_per_s": rate_per_s, "paused": paused}
        await ask(self.home.socket_of(launch.CLIENT), question)
        if rate_per_s is not None:
            self.throttle["rate_per_s"] = rate_per_s
        if paused is not None:
            self.throttle["paused"] = paused

    def state_of(self, name: str) -> str:
        child = self.children.by_name.get(name)
        return child.state if child is not None else "stopped"

    def pid_of(self, name: str) -> int:
        child = self.children.by_name.get(name)
        return child.pid if child is not None and child.running else 0

    def states(self) -> dict[str, str]:
        return {
            name: self.state_of(name) for name in (*self.home.servers(), launch.CLIENT, launch.COORDINATION)
        }

    def settled(self) -> bool:
        """All green: every server runs and has a place in the global view, and a group's active serves."""
        servers = self.picture.servers.values()
        return all(s.role in ("active", "standby") for s in servers) and any(
            s.believes == "active" for s in servers
        )

    # --- events -----------------------------------------------------------------------------------

    def tell(self, server: str, event: Event, at_ns: int = 0) -> None:
        """An event of the control plane itself: server `control`, `coordination` or `checks`."""
        self._numbers[server] = self._numbers.get(server, 0) + 1
        self.traces.add(Stamped(server, self.boot, self._numbers[server], at_ns or monotonic_ns(), 0, event))  # type: ignore[arg-type]

    def tell_rest(self) -> None:
        self._pass_on(self.traces.take_all())

    def _pass_on(self, events: list[Stamped]) -> None:
        for stamped in events:
            self.picture.apply(stamped, self.picture.seq)
        if events:
            self._on_events(events)

    async def _follow_traces(self) -> None:
        while True:
            self._pass_on(self.traces.take(monotonic_ns()))
            await asyncio.sleep(TICK_S)

    async def _watch_processes(self) -> None:
        while True:
            states = self.states()
            if states != self._states:
                self._states = states
                self.on_states()
            await asyncio.sleep(0.1)


async def wait_until(true: Callable[[], bool], timeout_s: float) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + timeout_s
    while not true():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
