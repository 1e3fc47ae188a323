"""The stage of a trial on real processes: driven step by step from outside, like the simulated one, while real time passes."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import uvloop

from backend.errors import LabError
from backend.explore.real_clients import RealCaller, RealClient
from backend.explore.real_faults import RealFaults
from backend.explore.trial_fabric import TrialFabric
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.traces import Traces
from backend.names import CLIENT, COORDINATION
from nodes.config import SECOND, ClusterConfig
from nodes.explore.calls import Caller
from nodes.explore.stage import in_words
from nodes.families import family_named
from nodes.faults.check import FaultUnsupported
from nodes.real.clock import monotonic_ns
from nodes.roles import IN_STEP, LEADING, LETTERS
from nodes.sim.loop import Stuck
from nodes.sim.triggers import Trigger
from nodes.states import ProcessState
from nodes.trace.events import Configured, Placed, Stamped

T = TypeVar("T")
POLL_S = 0.005
LIMIT_NS = 600 * SECOND
ASK_S = 20.0
TREE = "tree"


async def arrival(traces: Traces) -> None:
    """Returns when the events up to now have been delivered."""
    await asyncio.sleep(2 * traces.hold_back_ns / SECOND)


class RealMember:
    """A server, data node, journal node or client of the cluster."""

    def __init__(self, stage: RealStage, name: str, group: str, client: bool = False):
        self._stage = stage
        self.name = name
        self.group = group
        self.client = client
        self.gone = False

    @property
    def process(self) -> ProcessState:
        """One that is being started runs."""
        return "running" if self.name in self._stage.starting else self._stage.fabric.state_of(self.name)


class RealStage:
    """Runs an event loop of its own; the fabric lives in it. `stop` must be called.

    Many methods: it is the whole `Stage` that a trial plays on.
    """

    def __init__(
        self, config: ClusterConfig, make: Callable[[Callable[[list[Stamped]], None]], ClusterFabric]
    ):
        """`make` creates a fabric that is not started; its argument is the receiver of events."""
        self.config = config
        self.places: dict[str, str] = {}
        self.configured: dict[str, list[str]] = {}
        self.errors: list[str] = []
        """Errors of the clients in this process."""
        self.starting: dict[str, asyncio.Task[None]] = {}
        self._listeners: list[Callable[[Stamped], None]] = []
        self._due: list[tuple[int, int, Callable[[], Any]]] = []
        self._numbers = itertools.count()
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._runner.get_loop().set_exception_handler(self._on_loop_error)
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[asyncio.Task[None], str] = {}
        self.fabric = make(self._on_events)
        self.servers = {
            name: RealMember(self, name, group) for name, group in self.fabric.home.servers().items()
        }
        self.servers |= {name: RealMember(self, name, "") for name in self.fabric.home.nodes()}
        self.faults = RealFaults(self)

    # --- life ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Raises LabError."""
        self.wait(self.fabric.start())

    def stop(self) -> None:
        """Ends every process; all events have arrived when it returns."""
        for task in self._tasks:
            task.cancel()
        self.wait(self._end())
        self._runner.close()
        self.fabric.home.close()

    async def _end(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.fabric.stop()

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None and not isinstance(error, OSError):
            self.errors.append(f"{type(error).__name__}: {error}")

    # --- events ----------------------------------------------------------------------------------------------------

    def on_event(self, callback: Callable[[Stamped], None]) -> None:
        self._listeners.append(callback)

    def _on_events(self, events: list[Stamped]) -> None:
        for stamped in events:
            event = stamped.event
            if type(event) is Placed:
                self.places[event.server] = event.state
            elif type(event) is Configured:
                self.configured[event.group] = list(event.members)
            for listener in self._listeners:
                listener(stamped)

    # --- time ------------------------------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        return monotonic_ns()

    def wait(self, procedure: Coroutine[Any, Any, T]) -> T:
        """Runs a procedure to its end while the cluster runs."""
        return self._runner.run(procedure)

    def run_until(self, until: int | Callable[[], bool], limit_ns: int = LIMIT_NS) -> None:
        if isinstance(until, int):
            self.reaches(until, lambda: False)
        elif not self.reaches(self.now_ns + limit_ns, until):
            raise Stuck(f"not within {limit_ns / SECOND:g} s")

    def run_for(self, duration_ns: int) -> None:
        self.run_until(self.now_ns + duration_ns)

    def reaches(self, at_ns: int, true: Callable[[], bool]) -> bool:
        while not true():
            if self.now_ns >= at_ns:
                return False
            while self._due and self._due[0][0] <= self.now_ns:
                heapq.heappop(self._due)[2]()
            self.wait(self._pass(min(at_ns, self._due[0][0]) if self._due else at_ns, true))
        return True

    async def _pass(self, at_ns: int, true: Callable[[], bool]) -> None:
        while not true() and (left_ns := at_ns - monotonic_ns()) > 0:
            await asyncio.sleep(min(POLL_S, left_ns / SECOND))

    def at(self, at_ns: int, step: Callable[..., Any], *arguments: Any) -> None:
        heapq.heappush(self._due, (at_ns, next(self._numbers), lambda: step(*arguments)))

    def arm(self, trigger: Trigger, step: Callable[[], Any]) -> None:
        raise FaultUnsupported("a process cannot be stopped at a step from outside")

    def disarm_all(self) -> None:
        """Does nothing: no fault waits for a step here."""

    # --- the picture -----------------------------------------------------------------------------------------------

    def settled(self) -> bool:
        there = [name for name, server in self.servers.items() if server.group and not server.gone]
        places = [self.places.get(name, "") for name in there]
        leads = sum(place in LEADING for place in places)
        expected = 0 if family_named(self.config.protocol).asked == "anywhere" else len(self.config.groups)
        run = all(self._has_started(name) for name in there)
        return run and all(place in IN_STEP for place in places) and leads == expected

    def view(self) -> dict[str, str]:
        return {
            name: LETTERS[self.places.get(name, "")] for name, server in self.servers.items() if server.group
        }

    # --- queries ---------------------------------------------------------------------------------------------------

    def answers(self, name: str, kind: str) -> bool:
        return self._has_started(name)

    def _has_started(self, name: str) -> bool:
        """Whether the process has started. A starting process has no socket yet, and its known role is that of its last life."""
        return name not in self.starting and self.fabric.state_of(name) == "running"

    def ask(self, name: str, question: dict[str, Any]) -> Any:
        """Raises Unavailable."""
        return self.wait(self.fabric.ask(name, question, ASK_S))

    def begin_asking(self, name: str, question: dict[str, Any]) -> Any:
        task = self.begin(self._ask(name, question))
        self._asked[task] = in_words(name, question)
        task.add_done_callback(self._asked.pop)
        return task

    async def _ask(self, name: str, question: dict[str, Any]) -> None:
        await self.fabric.ask(name, question, ASK_S)
        await arrival(self.fabric.traces)  # `places` shows the effect then.

    def await_events(self) -> None:
        self.wait(arrival(self.fabric.traces))

    @property
    def unanswered(self) -> list[str]:
        return list(self._asked.values())

    def begin(self, procedure: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs a procedure while the cluster runs; errors of impossible actions are ignored."""

        async def tried() -> None:
            try:
                await procedure
            except LabError:
                pass

        task = self._runner.get_loop().create_task(tried())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def start_process(self, name: str, procedure: Coroutine[Any, Any, None]) -> None:
        """Starts a process that counts as running from now on; the caller does not wait for it."""
        task = self.starting[name] = self.begin(procedure)
        task.add_done_callback(lambda done: self.starting.pop(name, None))

    def await_start(self, name: str) -> None:
        """Waits until the process no longer starts."""
        while (task := self.starting.get(name)) is not None and not task.done():
            self.wait(self._pass(self.now_ns + SECOND, task.done))

    def join(self, name: str, group: str) -> None:
        """Adds a server."""
        self.servers[name] = RealMember(self, name, group)

    # --- repair ----------------------------------------------------------------------------------------------------

    def mend_disk(self, name: str) -> None:
        self.faults.mend_disk(name)

    def clear_up(self) -> None:
        """Does nothing: real processes have no simulated weather."""

    def mend_coordination(self) -> None:
        state = self.fabric.state_of(COORDINATION)
        if state != "running" and COORDINATION not in self.starting:
            self.faults.do("resume" if state == "paused" else "restart", [COORDINATION])

    # --- clients ---------------------------------------------------------------------------------------------------

    def start_client(self, name: str, reports_calls: bool = False) -> RealClient:
        """A client in this process, on real connections."""
        self.servers[name] = RealMember(self, name, "", client=True)
        return self.wait(RealClient.made(self, name, reports_calls))

    def prepare(self, callers: Sequence[Caller]) -> None:
        """Starts the process of each client. Raises Unavailable."""
        assert isinstance(self.fabric, TrialFabric) and CLIENT not in [caller.name for caller in callers]
        self.wait(started_together([self.fabric.start_caller(caller) for caller in callers]))
        self.servers |= {caller.name: RealMember(self, caller.name, "", client=True) for caller in callers}

    def start_caller(self, caller: Caller) -> RealCaller:
        """A caller whose process was prepared."""
        return RealCaller(self, caller.name)

    def log_sha256(self) -> str:
        return ""


async def started_together(procedures: list[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*procedures)
