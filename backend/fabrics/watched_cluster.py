"""A cluster as the page, the store and the checks see it, whatever it runs on: its picture, its events, the states of its processes."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any, Protocol

from backend.fabrics.clock import ClockState
from backend.fabrics.home import Home
from backend.fabrics.links import LinkFault
from backend.names import CLIENT, COORDINATION
from backend.picture import Picture
from nodes.config import WorkloadConfig
from nodes.faults.model import Fabric
from nodes.listeners import Listeners
from nodes.roles import IN_STEP, SERVING
from nodes.states import ProcessState
from nodes.trace.base import Event
from nodes.trace.events import Stamped
from nodes.trace.present import UNKNOWN, Cause

GENTLE = WorkloadConfig(
    clients=4,
    rate_per_s=50.0,
    mix={"create": 42, "delete": 42, "mkdir": 4, "rmdir": 4, "rename": 8},
    objects=1_000,
)
"""The load of a cluster that is left alone: changes only, over a bounded number of objects."""


class CoordinationService(Protocol):
    """The coordination service of a cluster, as a person sees it."""

    embedded: bool
    """Whether the fabric runs it."""
    hosts: list[str]

    async def nodes(self) -> list[dict[str, Any]]:
        """Every node by path in order, each with its data, owner session (0 for none) and version. Raises Unavailable."""

    async def sessions(self) -> list[dict[str, Any]] | None:
        """Every open session with its time-out and whether its client is connected; None where the service does not tell. Raises Unavailable."""


class WatchedCluster:
    """`on_events` is given every event of the cluster, in order of time."""

    kind: Fabric
    clock_name: str
    """The clock of `now_ns` and of the events' times."""

    def __init__(
        self,
        home: Home,
        on_events: Callable[[list[Stamped]], None],
        workload: WorkloadConfig | None,
        boot: int,
    ):
        self.home = home
        self.boot = boot
        """Number of the run, which is the boot of the events of the control plane itself."""
        self.workload = workload
        self.picture = Picture.of(
            home.file.cluster, home.file.added, [CLIENT] if workload else [], home.file.removed
        )
        self.rng = random.Random(home.file.seed)
        self.throttle: dict[str, Any] = {
            "rate_per_s": workload.rate_per_s if workload else 0.0,
            "paused": False,
        }
        self.on_states: Listeners[()] = Listeners()
        """Announces changes of the processes, links, throttle and clock, but not the progress of the clock."""
        self.trouble = ""
        """Why the cluster cannot go on, in one line; empty while it can."""
        self.notice = ""
        """One line about the start for the person who started it; empty for none."""
        self._on_events = on_events
        self._numbers: dict[str, int] = {}

    # --- life -------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Raises CannotStart or Unavailable in one line; `stop` ends what was started by then."""
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError

    # --- the present ------------------------------------------------------------------------------

    @property
    def now_ns(self) -> int:
        raise NotImplementedError

    @property
    def virtual_clock(self) -> ClockState | None:
        """None for real servers, which live in real time."""
        return None

    @property
    def coordination(self) -> CoordinationService:
        raise NotImplementedError

    @property
    def coordination_servers(self) -> list[str]:
        """Names of the coordination servers that this fabric runs one by one."""
        return []

    def role_of(self, name: str) -> str:
        """The role of a coordination server: leader, follower, looking or down."""
        return "down"

    def spread(self, names: list[str]) -> list[str]:
        """Expands `coordination` to the names of all of its servers."""
        own = self.coordination_servers
        return [each for name in names for each in (own if name == COORDINATION and own else [name])]

    def state_of(self, name: str) -> ProcessState:
        raise NotImplementedError

    def pid_of(self, name: str) -> int:
        """0 for none."""
        return 0

    def box(self, name: str) -> dict[str, str]:
        """The container of a process as `container`, `image` and `address`; all empty without one."""
        return {"container": "", "image": "", "address": ""}

    def peers(self) -> dict[str, str]:
        """Addresses of the servers and the nodes."""
        return {}

    def link_faults(self) -> list[LinkFault]:
        """The faults in force on links."""
        raise NotImplementedError

    def states(self) -> dict[str, ProcessState]:
        names = (*self.home.servers(), *self.home.nodes(), CLIENT, *self.spread([COORDINATION]))
        return {name: self.state_of(name) for name in names}

    def settled(self) -> bool:
        """True when every server runs and has a place in the global view, and the active or a member of every group serves."""
        servers = self.picture.servers.values()
        serving = {s.group for s in servers if s.believes in SERVING}
        in_place = all(s.role in IN_STEP and self.state_of(s.name) == "running" for s in servers)
        return in_place and serving >= set(self.picture.groups)

    # --- requests ---------------------------------------------------------------------------------

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        """Asks a process over its control path, which no fault touches. Raises Unavailable."""
        raise NotImplementedError

    async def replace_client(self, workload: WorkloadConfig) -> None:
        """Ends the workload's client and starts it with another configuration."""
        raise NotImplementedError

    async def set_throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        """Raises Unavailable when there is no client."""
        raise NotImplementedError

    def _throttled(self, rate_per_s: float | None, paused: bool | None) -> None:
        if rate_per_s is not None:
            self.throttle["rate_per_s"] = rate_per_s
        if paused is not None:
            self.throttle["paused"] = paused

    # --- events -----------------------------------------------------------------------------------

    def report(self, server: str, event: Event, at_ns: int = 0, cause: Cause = UNKNOWN) -> None:
        """Emits an event of the control plane itself. The server is `control`, `coordination` or `checks`."""
        raise NotImplementedError

    def _stamped(self, server: str, event: Event, at_ns: int, cause: Cause) -> Stamped:
        self._numbers[server] = self._numbers.get(server, 0) + 1
        return Stamped(server, self.boot, self._numbers[server], at_ns, cause[1], event, cause[0])  # type: ignore[arg-type]

    def _pass_on(self, events: list[Stamped]) -> None:
        for stamped in events:
            self.picture.apply(stamped, self.picture.seq)
        if events:
            self._on_events(events)


async def wait_until(true: Callable[[], bool], timeout_s: float) -> bool:
    """Polls a condition; returns whether it became true in time."""
    deadline = time.monotonic() + timeout_s
    while not true():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
