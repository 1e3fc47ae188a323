"""What the control plane knows of a running cluster and asks of it, whatever its servers run on."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from backend.clusters.picture import ClientState, Picture
from backend.errors import FaultUnsupported
from backend.fabrics.coordination import Ensemble
from backend.fabrics.home import Home
from backend.fabrics.ledger import Ledger
from backend.fabrics.links import LinkFault
from backend.fabrics.names import CLIENT, CONTROL, COORDINATION
from backend.fabrics.traces import Traces
from nodes.config import WorkloadConfig
from nodes.faults.model import Fabric
from nodes.faults.table import STOPPING
from nodes.real.clock import monotonic_ns
from nodes.roles import IN_STEP, SERVING
from nodes.trace.base import Event
from nodes.trace.events import ProcessEnded, ProcessFound, Stamped, Warned

TICK_S = 0.02
WATCH_S = 0.1
GENTLE = WorkloadConfig(clients=4, rate_per_s=50.0)


class Process(Protocol):
    """One operating-system process of the cluster, here or in a container. Raises Unavailable when its host does not answer."""

    name: str

    @property
    def pid(self) -> int: ...

    @property
    def paused(self) -> bool: ...

    @property
    def running(self) -> bool: ...

    @property
    def ended(self) -> str:
        """Why it ended by itself, in one line; empty when that is not known."""

    @property
    def state(self) -> str:
        """running, paused or stopped."""

    async def kill(self) -> None: ...

    async def stop(self) -> None: ...

    async def pause(self) -> None: ...

    async def resume(self) -> None: ...


class ClusterFabric:
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
        """What was known when the earlier control plane ended."""
        self.workload = workload
        self.traces = Traces(positions or {})
        self.traces.on_damaged = lambda server, line: self.tell(CONTROL, Warned(f"{server}: {line}"))
        self.ledger = Ledger(lambda event: self.tell(CONTROL, event))
        self.picture = Picture.of(home.file.cluster, home.file.added, [CLIENT] if workload else [])
        self.rng = random.Random(home.file.seed)
        self.throttle: dict[str, Any] = {
            "rate_per_s": workload.rate_per_s if workload else 0.0,
            "paused": False,
        }
        self.on_states: Callable[[], None] = lambda: None
        self._on_events = on_events
        self._numbers: dict[str, int] = {}
        self._states: dict[str, str] = {}
        self._unseen: dict[str, tuple[int, str]] = {}
        """Processes told as ended because their host cannot be reached: which start of it that was, and what it believed of itself."""
        self._roles: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.skews_ms: dict[str, int] = {}
        """How wrong the clocks of servers are; one that starts again is told."""
        self.ending = False
        """Processes end because they are told to."""

    # --- what each kind does its own way ----------------------------------------------------------

    async def start(self) -> None:
        """Raises CannotStart or Unavailable in one line; what was started by then is to be ended by
        `stop`."""
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError

    async def corrupt(self, name: str, what: str) -> str:
        """Flips a bit on a server's disk; returns where. Raises Impossible when there is nothing to flip, Unavailable."""
        raise NotImplementedError

    def process(self, name: str) -> Process | None:
        """None for who was never started and has no host."""
        raise NotImplementedError

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        """A question to a process over the way that no fault touches. Raises Unavailable."""
        raise NotImplementedError

    async def apply_rules(self, names: list[str] | None = None) -> None:
        """Tells everybody, or these, which of their links are broken; one that is not there gets its rules
        when it starts."""
        raise NotImplementedError

    async def start_server(self, name: str) -> None:
        raise NotImplementedError

    async def start_data_node(self, name: str) -> None:
        raise NotImplementedError

    async def start_journal_node(self, name: str) -> None:
        raise NotImplementedError

    async def start_client(self) -> None:
        raise NotImplementedError

    def next_server(self) -> str:
        """The name of the next server that can be added. Raises Impossible."""
        raise NotImplementedError

    async def join(self, name: str) -> None:
        """Starts a server that the home knows now."""
        raise NotImplementedError

    async def lose_power(self, name: str) -> list[str]:
        """Kills a server, and what it had not synced is gone; a line for each file that lost something."""
        raise NotImplementedError

    async def new_disk(self, name: str) -> None:
        """Kills a server if it runs, and gives it an empty disk. Raises Unavailable, Impossible."""
        raise NotImplementedError

    def check_links(self, links: list[LinkFault]) -> None:
        """Raises FaultUnsupported for a fault of links that cannot be done here."""

    def peers(self) -> dict[str, str]:
        """Where the servers and the data nodes listen."""
        raise NotImplementedError

    def is_unseen(self, name: str) -> bool:
        """Whether nobody knows if the process runs: its host cannot be reached."""
        return False

    def life_of(self, name: str) -> int:
        """Another number for each start of the process, of the last one that was seen."""
        return 0

    def box(self, name: str) -> dict[str, str]:
        """What a process runs in: `container`, `image`, `address`; empty where there is no such thing."""
        return {"container": "", "image": "", "address": ""}

    @property
    def coordination_servers(self) -> list[str]:
        """The servers of the coordination service by their names, when they are ours one by one."""
        return []

    def role_of(self, name: str) -> str:
        """Of a server of the coordination service: leader, follower, looking or down."""
        return "down"

    # --- processes and rules ----------------------------------------------------------------------

    def spread(self, names: list[str]) -> list[str]:
        """`coordination` stands for all of its servers."""
        own = self.coordination_servers
        return [each for name in names for each in (own if name == COORDINATION and own else [name])]

    def recall(self, name: str) -> None:
        """A server that runs on told long ago what it is: the last picture knows; newer events correct it."""
        node = self.last.data_nodes.get(name)
        if node is not None:
            self.picture.data_nodes[name] = msgspec.structs.replace(node, faults=[], process="running")
        keeper = self.last.journal_nodes.get(name)
        if keeper is not None:
            self.picture.journal_nodes[name] = msgspec.structs.replace(keeper, faults=[], process="running")
        old = self.last.servers.get(name)
        if old is not None:
            self.picture.servers[name] = msgspec.structs.replace(
                old, role="down", faults=[], process="running"
            )

    async def restart(self, name: str) -> None:
        if name in self.home.servers():
            await self.start_server(name)
        elif name == CLIENT:
            await self.start_client()
        elif name in self.home.data_nodes():
            await self.start_data_node(name)
        elif name in self.home.journal_nodes():
            await self.start_journal_node(name)
        elif name == COORDINATION:
            await self.ensemble.restart()
        else:
            raise FaultUnsupported(f"{name!r} cannot be restarted")
        if self.skews_ms.get(name):
            await self.put_clock(name)
        if self.ledger.options_of(name, "slow_disk") or self.ledger.options_of(name, "fail_disk"):
            await self.put_disk(name)

    async def put_clock(self, name: str) -> None:
        """Raises Unavailable."""
        await self.ask(name, {"do": "clock", "skew_ms": self.skews_ms[name]})

    async def put_disk(self, name: str) -> None:
        """By the faults in force. Raises Unavailable."""
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

    async def tell_peers(self) -> None:
        """A server was added: the client is told where everybody listens."""
        client = self.process(CLIENT)
        if client is not None and client.running:
            await self.ask(CLIENT, {"do": "peers", "peers": self.peers()})

    def state_of(self, name: str) -> str:
        process = self.process(name)
        return process.state if process is not None else "stopped"

    def pid_of(self, name: str) -> int:
        process = self.process(name)
        return process.pid if process is not None and process.running else 0

    def states(self) -> dict[str, str]:
        names = (*self.home.servers(), *self.home.nodes(), CLIENT, *self.spread([COORDINATION]))
        return {name: self.state_of(name) for name in names}

    def settled(self) -> bool:
        """All green: every server runs and has a place in the global view, and every group's active, or a member, serves."""
        servers = self.picture.servers.values()
        serving = {s.group for s in servers if s.believes in SERVING}
        in_place = all(s.role in IN_STEP and self.state_of(s.name) == "running" for s in servers)
        return in_place and serving >= set(self.picture.groups)

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

    def watch(self) -> None:
        """Begins to follow traces, the global view and the processes."""
        self._tasks += [
            asyncio.create_task(self._follow_traces(), name="traces"),
            asyncio.create_task(self.ensemble.observe(), name="observer"),
            asyncio.create_task(self._watch_processes(), name="processes"),
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

    async def _watch_processes(self) -> None:
        while True:
            self.look_at_processes()
            await asyncio.sleep(WATCH_S)

    def look_at_processes(self) -> None:
        """Tells what of them has changed since the last look."""
        states = self.states()
        roles = [self.role_of(name) for name in self.coordination_servers]
        if states != self._states or roles != self._roles:
            self._tell_found(states)
            self._tell_ends(states)
            self._states, self._roles = states, roles
            self.on_states()

    def _tell_ends(self, states: dict[str, str]) -> None:
        """Whoever stopped and was not made to."""
        made_to = {
            target
            for each in self.ledger.standing.values()
            if each.verb in STOPPING
            for target in self.spread(each.targets)
        }
        for name, state in states.items():
            before = self._states.get(name, "stopped")
            if state != "stopped" or before == "stopped" or name in made_to or name == CLIENT or self.ending:
                continue
            process = self.process(name)
            self.tell(
                CONTROL, ProcessEnded(name, (process.ended if process else "") or "nobody here ended it")
            )
            if self.is_unseen(name):
                server = self.picture.servers.get(name)
                self._unseen[name] = (self.life_of(name), server.believes if server else "none")

    def _tell_found(self, states: dict[str, str]) -> None:
        """Whoever could not be seen and runs."""
        for name in [name for name in self._unseen if states.get(name) != "stopped"]:
            life, believed = self._unseen.pop(name)
            role = believed if life == self.life_of(name) else "none"
            self.tell(CONTROL, ProcessFound(name, self.pid_of(name), role))


async def wait_until(true: Callable[[], bool], timeout_s: float) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + timeout_s
    while not true():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
