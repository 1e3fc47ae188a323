"""A whole cluster in one process and in virtual time: the servers' own code in simulated worlds, determined by one seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

import msgspec

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.config import (
    MILLISECOND,
    SECOND,
    ClientConfig,
    ClusterConfig,
    NodeConfig,
    ServerConfig,
    WorkloadConfig,
)
from nodes.errors import Damaged
from nodes.families import family_named
from nodes.kinds import ProcessKind, nodes_of, start_node
from nodes.mechanisms import MESSAGES, start_server
from nodes.metadata.operations import Operation
from nodes.roles import IN_STEP, LEADING, LETTERS
from nodes.sim.clock import Rate, SimClock
from nodes.sim.conditions import CALM, Conditions, check
from nodes.sim.coordination import HeldWrites, SimCoordination
from nodes.sim.disk import MediumStore, SimDisk
from nodes.sim.ensemble import COORDINATION, SimEnsemble
from nodes.sim.faults import SimFaults
from nodes.sim.links import Links
from nodes.sim.loop import Loop, Machine, Stuck
from nodes.sim.network import HeldMessages, Match, Net, SimNetwork
from nodes.sim.owner import ProcessOwner
from nodes.sim.server import SimServer, Starter
from nodes.sim.triggers import Triggers
from nodes.sim.world import Numbers, SimTrace, SimWorld
from nodes.storage.records import CorruptJournal
from nodes.trace.base import Event
from nodes.trace.events import Configured, FaultInjected, Placed, Stamped, Started, StepTaken
from nodes.trace.present import UNKNOWN, Cause
from nodes.wire.codec import Codec
from nodes.wire.messages import Answer, Message
from nodes.workloads.generator import Workload, start_workload
from nodes.world import World

CLIENT = "client1"
LIMIT_NS = 600 * SECOND
START_AGAIN_NS = 100 * MILLISECOND
"""A process that starts again needs time, as a real one does: else one whose journal stays damaged would start for ever in one instant."""
StartServer = Callable[[World, ServerConfig], None]


class SimClient:
    """A smart client for directed tests."""

    def __init__(self, cluster: SimCluster, server: SimServer, client: SmartClient, files: FileClient):
        self._cluster = cluster
        self._server = server
        self.client = client
        self.files = files

    @property
    def clock(self) -> SimClock:
        assert self._server.world is not None
        return self._server.world.clock

    def spawn(self, operation: Operation) -> asyncio.Task[Answer]:
        """Begins a call, which continues while the cluster runs."""
        return self.begin(self.client.call(operation))

    def begin(self, procedure: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs a procedure of this client while the cluster runs."""
        machine = self._server.machine
        assert machine is not None
        task = self._cluster.loop.create_task(procedure, context=machine.context)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    def die(self) -> None:
        """Its process is killed."""
        self._cluster.faults.crash(self._server.name)

    def call(self, operation: Operation, limit_ns: int = LIMIT_NS) -> Answer:
        """Runs the cluster until the call has returned. Raises FsError."""
        task = self.spawn(operation)
        self._cluster.run_until(task.done, limit_ns)
        return task.result()


class SimCluster:
    """Servers, clients, links, disks, coordination and faults; `events` are all emitted events, in order.

    Many methods: it is the one door of the simulator for tests, explorations and scenarios, which add servers, run them and look at them.
    """

    def __init__(
        self,
        config: ClusterConfig,
        seed: int,
        workload: WorkloadConfig | None = None,
        conditions: Conditions = CALM,
        start: StartServer = start_server,
        messages: Sequence[type[Message]] = (),
    ):
        """`start` starts a metadata server; `messages` are those of a family outside nodes/protocols. Raises BadConditions."""
        check(conditions)
        self.config = config
        self._start_server = start
        self.conditions = conditions
        self.seed = seed
        self.loop = Loop(self.rng("loop"))  # type: ignore[abstract]
        self.events: list[Stamped] = []
        self._listeners: list[Callable[[Stamped], None]] = []
        self._outside: dict[str, Numbers] = {}
        self.places: dict[str, str] = {}
        self._settled: bool | None = None
        """The cached result of `settled`, which is read at every instant and seldom changes; None when it must be computed again."""
        self.configured: dict[str, list[str]] = {}
        """The members of each group's present configuration, in families where it changes."""
        links = Links(self.rng("links"), conditions)
        self.net = Net(self.loop, Codec((*MESSAGES, *messages)), links)
        self._faulted: dict[str, Cause] = {}
        """The last fault of each server."""
        self.ensemble = SimEnsemble(
            self.loop,
            links,
            lambda event: self.report(COORDINATION, event),
            self._blamed,
        )
        self.ensemble.sessions.max_ms = conditions.session_max_ms
        self.servers: dict[str, SimServer] = {}
        self.workload: Workload | None = None
        self.owner = ProcessOwner(self)
        self.faults = SimFaults(self)
        self.triggers = Triggers(self)
        nodes = nodes_of(config)
        first = [name for name, kind in nodes.items() if kind.linked == "servers"]
        for name in first:
            self.add_node(nodes[name], name)
        for group in config.groups:
            for name in group.members:
                self.add(name, group.name)
        for name in nodes:
            if name not in first:
                self.add_node(nodes[name], name)
        if workload is not None:
            self.add_workload(workload)

    def rng(self, purpose: str) -> random.Random:
        """A separate random stream for each purpose, so that draws for one do not affect another."""
        return random.Random(f"{self.seed}/{purpose}")

    # --- servers ---------------------------------------------------------------------------------------------------

    def add(self, name: str, group: str) -> None:
        config = ServerConfig(name, group, self.config)
        self._start_new(name, group, lambda world: self._start_server(world, config))

    def add_workload(self, workload: WorkloadConfig, name: str = CLIENT) -> None:
        """Adds a client that runs a workload from now on."""
        config = ClientConfig(name, self.config, workload)

        def start(world: SimWorld) -> None:
            started = start_workload(world, config)
            self.workload = self.workload or started

        self._start_new(name, "", start)

    def add_process(self, name: str, starter: Starter) -> None:
        """Adds a process that stores nothing; `starter` begins it in its world, also when it is started again."""
        self._start_new(name, "", starter)

    def start_client(self, name: str, reports_calls: bool = False) -> SimClient:
        """Adds a client without a workload. With `reports_calls` each call emits an event when it begins, because it may never return."""
        made: list[tuple[SmartClient, FileClient]] = []

        def start(world: SimWorld) -> None:
            smart = SmartClient(world, self.config, f"{name}.1", reports_calls)
            made.append((smart, FileClient(world, self.config, smart)))

        server = self._start_new(name, "", start)
        server.client = True
        return SimClient(self, server, *made[0])

    def add_node(self, kind: ProcessKind, name: str, capacity: int = 1 << 40) -> None:
        config = NodeConfig(name, self.config, capacity)
        self._start_new(name, "", lambda world: start_node(kind, world, config))

    def _start_new(self, name: str, group: str, starter: Starter) -> SimServer:
        self._settled = None
        server = self.servers[name] = SimServer(name, group, self._medium(name), Rate(self.loop), starter)
        self.start(server)
        return server

    def _medium(self, name: str) -> MediumStore:
        return MediumStore(self.rng(f"disk/{name}"), self.conditions, partial(self.triggers.at_sync, name))

    def start(self, server: SimServer) -> None:
        """Starts a server's process in a new world."""
        numbers = server.numbers
        numbers.boot += 1
        machine = server.machine = Machine(
            self.loop, server.name, lambda error: self._on_error(server, error)
        )
        coordination = (
            SimCoordination(
                self.ensemble,
                machine,
                server.name,
                self.config.timing.session_timeout_ms * MILLISECOND,
                server.rate,
            )
            if server.group
            else None
        )
        network = SimNetwork(self.net, machine, server.name)
        world = server.world = SimWorld(
            machine,
            self.rng(f"{server.name}/{numbers.boot}"),
            network,
            SimDisk(machine, server.store),
            coordination,
            SimTrace(machine, numbers, self.emit),
            server.skew_ns,
            server.rate,
        )
        self.triggers.attach(server)
        machine.call(self._begin, server, world, network.address)
        if not server.group and not self.loop.runs:
            self.run_until(self.now_ns)

    def _begin(self, server: SimServer, world: SimWorld, address: str) -> None:
        world.trace.emit(Started(server.numbers.boot, address, world.clock.wall_ns()))
        try:
            server.starter(world)
        except (Damaged, OSError) as error:
            server.fail(error)

    def _on_error(self, server: SimServer, error: BaseException) -> None:
        """A failing disk ends the process, as it ends a real one; any other error is a bug and ends the run.

        A server that finds its journal damaged starts again, as a real one does: opening the journal decides how it continues.
        """
        if not isinstance(error, Damaged | OSError):
            self.loop.errors.append(error)
            return
        life = server.machine
        server.fail(error)
        if isinstance(error, CorruptJournal):
            self.loop.at(self.now_ns + START_AGAIN_NS, self._start_again, server, life)

    def _start_again(self, server: SimServer, life: Machine) -> None:
        if server.machine is life and not server.gone:
            self.start(server)

    def answers(self, name: str, kind: str) -> bool:
        """Whether a server has registered a handler for this kind of question."""
        world = self.servers[name].world
        return world is not None and kind in world.answers

    def ask(self, name: str, question: dict[str, Any]) -> Any:
        """Asks a server over the control connection, which no fault touches, as on processes; `do` names the question."""
        world = self.servers[name].world
        assert world is not None
        return world.answers[question["do"]](question)

    def begin_asking(self, name: str, question: dict[str, Any]) -> asyncio.Task[Any]:
        """Asks a question whose answer takes time; it continues while the cluster runs."""
        machine = self.servers[name].machine
        assert machine is not None
        return self.loop.create_task(self.ask(name, question), context=machine.context)

    # --- events ----------------------------------------------------------------------------------------------------

    def on_event(self, callback: Callable[[Stamped], None]) -> None:
        self._listeners.append(callback)

    def emit(self, stamped: Stamped) -> None:
        self.events.append(stamped)
        event = stamped.event
        if type(event) is Placed:
            self.places[event.server] = event.state
            self._settled = None
        elif type(event) is Configured:
            self.configured[event.group] = event.members
        for listener in self._listeners:
            listener(stamped)
        if type(event) is StepTaken:
            self.triggers.at_step(stamped.server, event)

    def report(self, server: str, event: Event) -> None:
        """Emits an event of the world around the servers. It is the cause of the rest of this turn; a schedule's acts have no cause."""
        numbers = self._outside.setdefault(server, Numbers())
        number = numbers.number = numbers.number + 1
        by, cause = self.loop.cause if self.loop.runs else UNKNOWN
        self.loop.cause = (server, number)
        if isinstance(event, FaultInjected):
            self._faulted.update(dict.fromkeys(event.targets, self.loop.cause))
        self.emit(Stamped(server, 1, number, self.now_ns, cause, event, "" if by == server else by))  # type: ignore[arg-type]

    def _blamed(self, server: str) -> Cause:
        """The last fault of a server; without one, the last fault of the coordination service, which then kept it from receiving pings."""
        of_coordination = [cause for name, cause in self._faulted.items() if name.startswith(COORDINATION)]
        return self._faulted.get(server) or max(of_coordination, default=UNKNOWN)

    def take_events(self) -> list[Stamped]:
        """The events since the last call, which `events` no longer has: a simulation without an end keeps none."""
        taken, self.events = self.events, []
        return taken

    def event_log_bytes(self) -> bytes:
        """All emitted events, encoded as in a trace file; equal for equal seeds."""
        return msgspec.msgpack.encode(self.events)

    # --- running ---------------------------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def run_until(self, until: int | Callable[[], bool], limit_ns: int = LIMIT_NS) -> None:
        """Runs to a virtual time, or until a condition is true. Raises Stuck when it is not within `limit_ns`."""
        if isinstance(until, int):
            self.loop.run(until)
        elif not self.loop.run(self.now_ns + limit_ns, until):
            raise Stuck(f"not within {limit_ns / SECOND:g} s of virtual time (seed {self.seed})")

    def run_for(self, duration_ns: int) -> None:
        self.run_until(self.now_ns + duration_ns)

    def view(self) -> dict[str, str]:
        """The role letter of every metadata server in the global view."""
        return {
            name: LETTERS[self.places.get(name, "")] for name, server in self.servers.items() if server.group
        }

    def settled(self) -> bool:
        """Whether every server that is not lost for ever is in step, and each group of a family with leaders has one."""
        if self._settled is None:
            self._settled = self._look_whether_settled()
        return self._settled

    def _look_whether_settled(self) -> bool:
        there = [name for name, server in self.servers.items() if server.group and not server.gone]
        places = [self.places.get(name, "") for name in there]
        leads = sum(place in LEADING for place in places)
        expected = 0 if family_named(self.config.protocol).asked == "anywhere" else len(self.config.groups)
        return all(place in IN_STEP for place in places) and leads == expected

    def lose_for_ever(self, server: SimServer) -> None:
        """Loses a server's machine for ever; the cluster settles without it."""
        server.gone = True
        self._settled = None

    def mend_coordination(self) -> None:
        """Starts the coordination service again."""
        if not self.ensemble.runs_whole(COORDINATION):
            self.faults.restart(COORDINATION)

    # --- directed schedules ----------------------------------------------------------------------------------------

    def hold(self, match: Match) -> HeldMessages:
        """Holds the messages that match, until they are released or dropped."""
        return self.net.hold(match)

    def coordination_of(self, server: str) -> SimCoordination:
        world = self.servers[server].world
        assert world is not None
        coordination: SimCoordination = world.coordination
        return coordination

    def hold_watch(self, server: str) -> Callable[[], None]:
        """Delays the notifications of the server's watches; call the result to deliver them."""
        coordination = self.coordination_of(server)
        coordination.holds_watches = True
        return coordination.release_watches

    def hold_write(self, server: str, match: Callable[[list[Any]], bool]) -> HeldWrites:
        """Delays the server's next coordination writes that match, until `.release()`."""
        held = HeldWrites(match)
        self.coordination_of(server).held_writes.append(held)
        return held
