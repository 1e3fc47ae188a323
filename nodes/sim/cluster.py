"""A whole cluster in one process and in virtual time: the servers' own code in simulated worlds, all of it from one seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.config import (
    MILLISECOND,
    SECOND,
    ClientConfig,
    ClusterConfig,
    DataNodeConfig,
    JournalNodeConfig,
    ServerConfig,
    WorkloadConfig,
)
from nodes.errors import Damaged
from nodes.families import family_named
from nodes.mechanisms import MESSAGES, start_server
from nodes.metadata.operations import Operation
from nodes.roles import IN_STEP, LEADING, LETTERS
from nodes.servers.data_node import start_data_node
from nodes.servers.journal import start_journal
from nodes.sim.clock import Rate, SimClock
from nodes.sim.conditions import CALM, Conditions, check
from nodes.sim.coordination import HeldWrites, SimCoordination
from nodes.sim.disk import SimDisk, Store
from nodes.sim.ensemble import COORDINATION, Ensemble
from nodes.sim.faults import SimFaults
from nodes.sim.links import Links
from nodes.sim.loop import Loop, Machine, Stuck
from nodes.sim.network import Held, Match, Net, SimNetwork
from nodes.sim.triggers import Triggers
from nodes.sim.world import Numbers, SimTrace, SimWorld
from nodes.storage.records import JournalCorrupt
from nodes.trace.base import Event
from nodes.trace.events import Configured, FaultInjected, Placed, Stamped, Started, StepTaken, Stopped
from nodes.trace.present import UNKNOWN, Cause
from nodes.wire.codec import Codec
from nodes.wire.messages import Answer
from nodes.workloads.generator import Workload, start_workload

CLIENT = "client1"
LIMIT_NS = 600 * SECOND

Starter = Callable[[SimWorld], None]


class Server:
    """One name in the cluster: its medium, and the life it lives now."""

    def __init__(self, name: str, group: str, store: Store, rate: Rate, starter: Starter):
        self.name = name
        self.group = group
        """Empty for a client or a data node."""
        self.store = store
        self.starter = starter
        self.numbers = Numbers()
        self.skew_ns = 0
        self.rate = rate
        """Of its monotonic clock."""
        self.client = False
        """Whether it keeps nothing: a client's next life is another client."""
        self.gone = False
        """Its machine is lost for ever."""
        self.machine: Machine | None = None
        self.world: SimWorld | None = None

    @property
    def process(self) -> str:
        if self.machine is None or self.machine.dead:
            return "stopped"
        return "paused" if self.machine.paused else "running"


class SimClient:
    """A smart client for directed tests."""

    def __init__(self, cluster: SimCluster, server: Server, client: SmartClient, files: FileClient):
        self._cluster = cluster
        self._server = server
        self.client = client
        self.files = files

    @property
    def clock(self) -> SimClock:
        assert self._server.world is not None
        return self._server.world.clock

    def spawn(self, operation: Operation) -> asyncio.Task[Answer]:
        """Begins a call; it goes on while the cluster runs."""
        return self.begin(self.client.call(operation))

    def begin(self, procedure: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs a procedure of this client while the cluster runs."""
        machine = self._server.machine
        assert machine is not None
        task = self._cluster.loop.create_task(procedure, context=machine.context)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    def call(self, operation: Operation, limit_ns: int = LIMIT_NS) -> Answer:
        """Runs the cluster until the call has returned. Raises FsError."""
        task = self.spawn(operation)
        self._cluster.run_until(task.done, limit_ns)
        return task.result()


class SimCluster:
    """Servers, clients, links, disks, coordination and faults; `events` is all that came out, in order."""

    def __init__(
        self,
        config: ClusterConfig,
        seed: int,
        workload: WorkloadConfig | None = None,
        conditions: Conditions = CALM,
    ):
        """Raises BadConditions."""
        check(conditions)
        self.config = config
        self.conditions = conditions
        self.seed = seed
        self.loop = Loop(self._rng("loop"))  # type: ignore[abstract]
        self.events: list[Stamped] = []
        self._listeners: list[Callable[[Stamped], None]] = []
        self._outside: dict[str, Numbers] = {}
        self.places: dict[str, str] = {}
        self._settled: bool | None = None
        """None when it is to be looked at again: asked at every instant, it changes seldom."""
        self.configured: dict[str, list[str]] = {}
        """The members of each group's present configuration, where the family has one that changes."""
        links = Links(self._rng("links"), conditions)
        self.net = Net(self.loop, Codec(MESSAGES), links)
        self.ensemble = Ensemble(self.loop, links, lambda event: self.tell(COORDINATION, event))
        self.ensemble.max_session_ms = conditions.session_max_ms
        self._struck: dict[str, Cause] = {}
        """The last fault that each server was a target of."""
        self.ensemble.blame = lambda server: self._struck.get(server, UNKNOWN)
        self.servers: dict[str, Server] = {}
        self.workload: Workload | None = None
        self.faults = SimFaults(self)
        self.triggers = Triggers(self)
        self.at_step: Callable[[str, StepTaken], None] | None = None
        """Lets a schedule strike at a step, after all listeners know of it."""
        for name in config.journal.nodes:
            self.add_journal_node(name)
        for group in config.groups:
            for name in group.members:
                self.add(name, group.name)
        for name in config.data.nodes:
            self.add_data_node(name)
        if workload is not None:
            self.add_workload(workload)

    def _rng(self, purpose: str) -> random.Random:
        """A stream of its own for each purpose: what one draws, no other notices."""
        return random.Random(f"{self.seed}/{purpose}")

    # --- servers ---------------------------------------------------------------------------------------------------

    def add(self, name: str, group: str) -> None:
        """A metadata server that was not there before."""
        config = ServerConfig(name, group, self.config)
        self._start_new(name, group, lambda world: start_server(world, config))

    def add_workload(self, workload: WorkloadConfig, name: str = CLIENT) -> None:
        """A client that works from now on."""
        config = ClientConfig(name, self.config, workload)

        def start(world: SimWorld) -> None:
            started = start_workload(world, config)
            self.workload = self.workload or started

        self._start_new(name, "", start)

    def start_client(self, name: str, reports_calls: bool = False) -> SimClient:
        """A client without a workload; with `reports_calls` each call is an event when it begins: it may never return."""
        made: list[tuple[SmartClient, FileClient]] = []

        def start(world: SimWorld) -> None:
            smart = SmartClient(world, self.config, f"{name}.1", reports_calls)
            made.append((smart, FileClient(world, self.config, smart)))

        server = self._start_new(name, "", start)
        server.client = True
        return SimClient(self, server, *made[0])

    def add_data_node(self, name: str, capacity: int = 1 << 40) -> None:
        """A data node that was not there before."""
        config = DataNodeConfig(name, self.config, capacity)
        self._start_new(name, "", lambda world: start_data_node(world, config))

    def add_journal_node(self, name: str) -> None:
        """A journal node or bookie, as the cluster's family has them."""
        config = JournalNodeConfig(name, self.config)
        role = family_named(self.config.protocol).journal_role
        self._start_new(name, "", lambda world: start_journal(role, world, config))

    def _start_new(self, name: str, group: str, starter: Starter) -> Server:
        self._settled = None
        server = self.servers[name] = Server(name, group, self._medium(name), Rate(self.loop), starter)
        self.start(server)
        return server

    def _medium(self, name: str) -> Store:
        return Store(self._rng(f"disk/{name}"), self.conditions)

    def start(self, server: Server) -> None:
        """Begins a life of a server in a new world."""
        numbers = server.numbers
        numbers.boot += 1
        machine = server.machine = Machine(self.loop, server.name)
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
            self._rng(f"{server.name}/{numbers.boot}"),
            network,
            SimDisk(machine, server.store),
            coordination,
            SimTrace(machine, numbers, self.emit),
            server.skew_ns,
            server.rate,
            lambda error: self._on_error(server, error),
        )
        self.triggers.attach(server)
        machine.call(self._begin, server, world, network.address)
        if not server.group and not self.loop.runs:
            self.run_until(self.now_ns)

    def _begin(self, server: Server, world: SimWorld, address: str) -> None:
        world.trace.emit(Started(server.numbers.boot, address, world.clock.wall_ns()))
        try:
            server.starter(world)
        except (Damaged, OSError) as error:
            self._end_life(server, error)

    def _on_error(self, server: Server, error: BaseException) -> None:
        """A disk that fails ends the process, as it does a real one; anything else is a bug and ends the run.

        One that finds its journal damaged begins again, as a real one does: opening the journal decides what becomes of it.
        """
        if not isinstance(error, Damaged | OSError):
            self.loop.errors.append(error)
            return
        life = server.machine
        self._end_life(server, error)
        if isinstance(error, JournalCorrupt):
            self.loop.at(self.now_ns, self._start_again, server, life)

    def _start_again(self, server: Server, life: Machine) -> None:
        if server.machine is life and not server.gone:
            self.start(server)

    def _end_life(self, server: Server, error: Damaged | OSError) -> None:
        world, machine = server.world, server.machine
        assert world is not None and machine is not None
        world.trace.emit(Stopped(f"{type(error).__name__}: {error}"))
        if world.coordination is not None:
            world.coordination.stopped()
        machine.die()

    def answers(self, name: str, kind: str) -> bool:
        """Whether a server is so far that it can be asked this."""
        world = self.servers[name].world
        return world is not None and kind in world.answers

    def ask(self, name: str, question: dict[str, Any]) -> Any:
        """A question to a server over the way that no fault touches, as on processes: `do` says which."""
        world = self.servers[name].world
        assert world is not None
        return world.answers[question["do"]](question)

    def begin_asking(self, name: str, question: dict[str, Any]) -> asyncio.Task[Any]:
        """A question whose answer takes its time; it goes on while the cluster runs."""
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
        if self.at_step is not None and type(event) is StepTaken:
            self.at_step(stamped.server, event)

    def tell(self, server: str, event: Event) -> None:
        """An event of the world around the servers; what follows in this turn follows from it. Nothing leads to what a schedule does."""
        numbers = self._outside.setdefault(server, Numbers())
        number = numbers.number = numbers.number + 1
        by, cause = self.loop.cause if self.loop.runs else UNKNOWN
        self.loop.cause = (server, number)
        if isinstance(event, FaultInjected):
            self._struck.update(dict.fromkeys(event.targets, self.loop.cause))
        self.emit(Stamped(server, 1, number, self.now_ns, cause, event, "" if by == server else by))  # type: ignore[arg-type]

    def event_log_bytes(self) -> bytes:
        """Everything that came out, as it would lie in a trace file; equal for equal seeds."""
        return msgspec.msgpack.encode(self.events)

    # --- running ---------------------------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def run_until(self, until: int | Callable[[], bool], limit_ns: int = LIMIT_NS) -> None:
        """Runs to a virtual time, or until something is true. Raises Stuck when it is not within `limit_ns`."""
        if isinstance(until, int):
            self.loop.run(until)
        elif not self.loop.run(self.now_ns + limit_ns, until):
            raise Stuck(f"not within {limit_ns / SECOND:g} s of virtual time (seed {self.seed})")

    def run_for(self, duration_ns: int) -> None:
        self.run_until(self.now_ns + duration_ns)

    def view(self) -> dict[str, str]:
        """The letter of every metadata server in the global view."""
        return {
            name: LETTERS[self.places.get(name, "")] for name, server in self.servers.items() if server.group
        }

    def settled(self) -> bool:
        """Everybody who is not gone for ever is in step, and one leads each group where one does."""
        if self._settled is None:
            self._settled = self._look_whether_settled()
        return self._settled

    def _look_whether_settled(self) -> bool:
        there = [name for name, server in self.servers.items() if server.group and not server.gone]
        places = [self.places.get(name, "") for name in there]
        leads = sum(place in LEADING for place in places)
        expected = 0 if family_named(self.config.protocol).asked == "anywhere" else len(self.config.groups)
        return all(place in IN_STEP for place in places) and leads == expected

    def lose_for_ever(self, server: Server) -> None:
        """Its machine is lost; the cluster settles without it."""
        server.gone = True
        self._settled = None

    def mend_coordination(self) -> None:
        """The coordination service runs."""
        if not self.ensemble.runs_whole(COORDINATION):
            self.faults.restart(COORDINATION)

    # --- directed schedules ----------------------------------------------------------------------------------------

    def hold(self, match: Match) -> Held:
        """Keeps back the messages that match, until they are released or dropped."""
        return self.net.hold(match)

    def coordination_of(self, server: str) -> SimCoordination:
        world = self.servers[server].world
        assert world is not None
        coordination: SimCoordination = world.coordination
        return coordination

    def hold_watch(self, server: str) -> Callable[[], None]:
        """Delays what the server's watchers are told; call the result to tell it."""
        coordination = self.coordination_of(server)
        coordination.holds_watches = True
        return coordination.release_watches

    def hold_write(self, server: str, match: Callable[[list[Any]], bool]) -> HeldWrites:
        """Delays those of the server's next coordination writes that match, until `.release()`."""
        held = HeldWrites(match)
        self.coordination_of(server).held_writes.append(held)
        return held
