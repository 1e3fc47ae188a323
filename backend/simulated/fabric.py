"""A cluster that is simulated in a worker process, in virtual time that follows the wall clock."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from backend import errors
from backend.cluster_bounds import ClusterBounds
from backend.errors import Impossible, LabError, Unavailable, reason_of
from backend.fabrics.clock import ClockState, Step
from backend.fabrics.home import Home
from backend.fabrics.links import LinkFault
from backend.fabrics.watched_cluster import WatchedCluster
from backend.names import CLIENT, COORDINATION
from backend.picture import ClientState
from backend.simulated.cluster import OBSERVING, is_own_client
from backend.simulated.inputs import (
    LOG_BYTES,
    AskServer,
    ClusterOrigin,
    Input,
    PastRun,
    ReplaceWorkload,
    ThrottleWorkload,
    forget_logs,
)
from backend.simulated.messages import (
    Answered,
    ApplyInput,
    ClusterEnded,
    ClusterProgress,
    CreateCluster,
    DropCluster,
    Observe,
    Report,
    RequestFailed,
    SetClock,
    StepClock,
)
from backend.simulated.workers import WorkerLink, Workers
from nodes.config import SECOND, WorkloadConfig
from nodes.errors import FsError
from nodes.explore.plan import Plan
from nodes.sim.ensemble import MEMBERS
from nodes.states import ProcessState
from nodes.trace.base import Event
from nodes.trace.events import Stamped
from nodes.trace.present import UNKNOWN, Cause

OBSERVED_S = 5.0
"""Wall time within which a worker answers a request that takes no virtual time."""
EVENTS_OF_ITS_OWN = 0
"""The boot in events of the control plane, which the simulation does not number."""


class SimulatedCoordination:
    """Coordination of a simulated cluster: three servers, which the simulator carries."""

    embedded = True

    def __init__(self, fabric: SimulatedFabric):
        self._fabric = fabric
        self.hosts = list(MEMBERS)

    async def nodes(self) -> list[dict[str, Any]]:
        return cast(list[dict[str, Any]], await self._fabric.observe("", {}))

    async def sessions(self) -> list[dict[str, Any]] | None:
        return cast(list[dict[str, Any]], await self._fabric.observe("", {"do": "sessions"}))


class SimulatedFabric(WatchedCluster):
    """`now_ns` is the instant up to which the events of the simulation have arrived."""

    kind = "simulated"
    clock_name = "virtual ns since the cluster began"

    def __init__(
        self,
        home: Home,
        on_events: Callable[[list[Stamped]], None],
        workload: WorkloadConfig | None,
        boot: int,
        workers: Workers,
        plan: Plan | None = None,
        past: PastRun | None = None,
        bounds: ClusterBounds | None = None,
    ):
        super().__init__(home, on_events, workload, boot)
        self.picture.ensemble = list(MEMBERS)
        if plan is not None:
            self.picture.clients = {caller.name: ClientState(caller.name) for caller in plan.callers}
        self.clock = ClockState(0)
        self.active = ""
        self._workers = workers
        self._plan = plan
        self._past = past
        self._log_bytes = bounds.log_bytes if bounds is not None else LOG_BYTES
        self._worker: WorkerLink | None = None
        self._key = f"{home.path}/{boot}"
        self._service = SimulatedCoordination(self)
        self._states: dict[str, ProcessState] = {}
        self._roles: dict[str, str] = {}
        self._links: list[LinkFault] = []
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}

    # --- life -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begins the cluster afresh by its seed, whatever an earlier run did. Raises CannotStart, Unavailable."""
        try:
            log = log_of(self)
            forget_logs(log.parent)
        except OSError as error:
            raise Unavailable(f"cannot use {self.home.path / 'inputs'}: {reason_of(error)}") from None
        origin = ClusterOrigin(self.home.file.cluster, self.home.file.seed, self.workload, self._plan)
        self._worker = await self._workers.place(self._key, self._on_report)
        self._worker.send(CreateCluster(self._key, origin, str(log), self._past, self._log_bytes))

    async def stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None and worker.alive:
            worker.receivers.pop(self._key, None)
            worker.send(DropCluster(self._key))
        self._fail_all("the cluster is stopped")

    # --- the present ------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        return self.clock.now_ns

    @property
    def virtual_clock(self) -> ClockState:
        return self.clock

    @property
    def coordination(self) -> SimulatedCoordination:
        return self._service

    @property
    def coordination_servers(self) -> list[str]:
        return list(MEMBERS)

    def role_of(self, name: str) -> str:
        return self._roles.get(name, "down")

    def state_of(self, name: str) -> ProcessState:
        return self._states.get(name, "stopped")

    def states(self) -> dict[str, ProcessState]:
        return {name: state for name, state in self._states.items() if name != COORDINATION}

    def link_faults(self) -> list[LinkFault]:
        return self._links

    # --- reports ----------------------------------------------------------------------------------

    def _on_report(self, report: Report) -> None:
        if isinstance(report, ClusterProgress):
            self._on_progress(report)
        elif isinstance(report, ClusterEnded):
            self._on_end(report.reason)
        else:
            waiting = self._waiting.pop(report.id, None)
            if isinstance(report, Answered):
                self.active = report.active
                if waiting is not None and not waiting.done():
                    waiting.set_result(report.body)
            elif waiting is not None and not waiting.done():
                waiting.set_exception(error_of(report))

    def _on_progress(self, report: ClusterProgress) -> None:
        before, self.clock = self.clock, report.clock
        if report.states is not None:
            self._states = report.states
        if report.roles is not None:
            self._roles = report.roles
        if report.links is not None:
            self._links = report.links
        self._pass_on([each for each in report.events if not is_own_client(each)])
        turned = settings_of(before) != settings_of(report.clock)
        if turned or any(part is not None for part in (report.states, report.roles, report.links)):
            self.on_states()

    def _on_end(self, reason: str) -> None:
        """The simulation cannot go on; its past can still be looked at."""
        self.trouble = f"the simulation ended: {reason}"
        self._worker = None
        self.clock = msgspec.structs.replace(self.clock, playing=False)
        self._states = dict.fromkeys(self._states, "stopped")
        self._fail_all(self.trouble)
        self.on_states()

    def _fail_all(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, {}
        for each in waiting.values():
            if not each.done():
                each.set_exception(Unavailable(reason))

    def report(self, server: str, event: Event, at_ns: int = 0, cause: Cause = UNKNOWN) -> None:
        stamped = self._stamped(server, event, at_ns or self.now_ns, cause)
        self._pass_on([msgspec.structs.replace(stamped, boot=EVENTS_OF_ITS_OWN)])
        kind = type(event).__name__
        if self._worker is not None and self.clock.until_event == kind:
            pause = SetClock(self._key, next(self._ids), False, self.clock.speed, met=kind)
            self._worker.send(pause)

    # --- requests ---------------------------------------------------------------------------------

    async def _request(self, request: ApplyInput | Observe | SetClock | StepClock) -> bytes:
        """Raises Unavailable, and the error with which the request was refused."""
        if self._worker is None:
            raise Unavailable(self.trouble or "the simulated cluster does not run")
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._worker.send(request)
        self._waiting[request.id] = answered
        try:
            return await answered
        finally:
            self._waiting.pop(request.id, None)

    async def apply(self, input: Input) -> Any:
        """Applies an input that takes no virtual time; returns its result. Raises LabError."""
        return msgspec.json.decode(await self._request(ApplyInput(self._key, next(self._ids), input)))

    async def call(self, input: Input) -> bytes:
        """Carries out an input whose result takes virtual time. Raises Impossible while the clock is paused, Unavailable, FsError."""
        if not self.clock.playing:
            raise Impossible("the clock is paused, and an answer takes virtual time: play it first")
        return await self._request(ApplyInput(self._key, next(self._ids), input))

    async def observe(self, server: str, question: dict[str, Any]) -> Any:
        """Raises Unavailable."""
        request = Observe(self._key, next(self._ids), server, question)
        try:
            return msgspec.json.decode(await asyncio.wait_for(self._request(request), OBSERVED_S))
        except TimeoutError:
            raise Unavailable("the worker of this simulated cluster does not answer") from None

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        """`timeout_s` is virtual time."""
        if question["do"] in OBSERVING:
            found: dict[str, Any] = await self.observe(name, question)
            return found
        body = await self.call(AskServer(name, question, round(timeout_s * SECOND)))
        return msgspec.json.decode(body, type=dict[str, Any])

    async def replace_client(self, workload: WorkloadConfig) -> None:
        self.picture.clients.setdefault(CLIENT, ClientState(CLIENT))
        await self.apply(ReplaceWorkload(workload))
        know_load(self, workload)

    async def set_throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        await self.apply(ThrottleWorkload(rate_per_s, paused))
        self._throttled(rate_per_s, paused)

    # --- the clock --------------------------------------------------------------------------------

    async def set_clock(
        self,
        playing: bool,
        speed: float,
        until_ns: int = 0,
        until_event: str = "",
        until_condition: str = "",
    ) -> ClockState:
        """Raises Impossible for an instant in the past and a condition that holds already, Malformed, NotThere, Unavailable."""
        if until_ns and until_ns <= self.now_ns:
            raise Impossible(f"{until_ns / SECOND:.9g} s is over: it is {self.now_ns / SECOND:.6f} s")
        request = SetClock(self._key, next(self._ids), playing, speed, until_ns, until_event, until_condition)
        return msgspec.json.decode(await self._request(request), type=ClockState)

    async def step(self, step: Step) -> ClockState:
        """Pauses if it plays, and advances to the next event or message. Raises Unavailable."""
        return msgspec.json.decode(
            await self._request(StepClock(self._key, next(self._ids), step)), type=ClockState
        )


def settings_of(clock: ClockState) -> ClockState:
    """A clock without its progress."""
    return msgspec.structs.replace(clock, now_ns=0, reached=0.0)


def log_of(fabric: SimulatedFabric) -> Path:
    """The input log of the present run. Raises OSError."""
    return fabric.home.directory("inputs") / f"{fabric.boot}.jsonl"


def know_load(fabric: SimulatedFabric, workload: WorkloadConfig) -> None:
    """Takes note of the load that the run has, also one that came with a repeated run."""
    fabric.picture.clients.setdefault(CLIENT, ClientState(CLIENT))
    fabric.workload = workload
    fabric.throttle = {"rate_per_s": workload.rate_per_s, "paused": False}


def error_of(failed: RequestFailed) -> Exception:
    if failed.kind == "FsError":
        return FsError(failed.name, failed.message)
    kind = getattr(errors, failed.kind, Unavailable)
    return cast(LabError, kind(failed.message))
