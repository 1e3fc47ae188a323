"""The fabrics that a scenario runs on. Both pass every event to the listeners and keep the present picture."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import random
import tempfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from backend.errors import LabError, Unavailable, of_fault
from backend.fabrics.containers import in_containers
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.faults import FaultInjection
from backend.fabrics.home import Home
from backend.fabrics.processes import ProcessFabric
from backend.fabrics.targets import resolve
from backend.picture import Picture
from nodes.config import SECOND, ClusterConfig, WorkloadConfig
from nodes.faults.check import FaultUnsupported
from nodes.listeners import Listeners
from nodes.real.clock import monotonic_ns
from nodes.sim.cluster import SimCluster
from nodes.trace.events import FaultInjected, Stamped

POLL_S = 0.005
MARK_S = 20.0
REPORTED_NS = 5 * SECOND


class Fabric(Protocol):
    picture: Picture
    on_event: Listeners[Stamped]
    """Told every event."""

    @property
    def now_ns(self) -> int: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def run_until(self, at_ns: int, true: Callable[[], bool]) -> bool:
        """Runs the cluster until a condition holds or a time has come; returns whether it holds."""

    async def fault(self, verb: str, words: list[str], options: dict[str, Any]) -> list[str]:
        """Injects a fault; returns the names that the targets resolved to. Raises LabError."""

    async def ask(self, server: str, question: dict[str, Any], within_s: float) -> dict[str, Any]:
        """Sends a query to a server over the control path, which faults do not affect. Raises Unavailable."""

    async def begin_asking(self, server: str, question: dict[str, Any]) -> None:
        """Sends a query without waiting for the answer."""

    async def begin_workload(self, workload: WorkloadConfig) -> None: ...

    async def throttle(self, rate_per_s: float | None, paused: bool | None) -> None: ...


class Simulated:
    """A cluster in virtual time, in this process."""

    def __init__(self, config: ClusterConfig, seed: int):
        self.cluster = SimCluster(config, seed)
        self.picture = Picture.of(config, {}, ["client1"])
        self._rng = random.Random(f"{seed}/targets")
        self.on_event: Listeners[Stamped] = Listeners()

    def _on_event(self, stamped: Stamped) -> None:
        self.picture.apply(stamped, self.picture.seq + 1)
        self.on_event(stamped)

    @property
    def now_ns(self) -> int:
        return self.cluster.now_ns

    async def start(self) -> None:
        """Passes on the events so far and follows new ones; the servers started with the cluster."""
        for stamped in self.cluster.events:
            self._on_event(stamped)
        self.cluster.on_event(self._on_event)

    async def stop(self) -> None:
        """Does nothing: a simulated run leaves nothing behind."""

    async def run_until(self, at_ns: int, true: Callable[[], bool]) -> bool:
        return self.cluster.loop.run(at_ns, true)

    async def fault(self, verb: str, words: list[str], options: dict[str, Any]) -> list[str]:
        names = list(chain.from_iterable(resolve(word, self.picture, self._rng) for word in words))
        try:
            self.cluster.faults.do(verb, names, options)
        except FaultUnsupported as error:
            raise of_fault(error) from None
        return names

    async def ask(self, server: str, question: dict[str, Any], within_s: float) -> dict[str, Any]:
        task = self._begin(server, question)
        self.cluster.loop.run(self.now_ns + round(within_s * SECOND), task.done)
        if not task.done():
            raise Unavailable(f"{server} does not answer {question['do']} within {within_s:g} s")
        answer: dict[str, Any] = task.result()
        return answer

    def _begin(self, server: str, question: dict[str, Any]) -> asyncio.Task[dict[str, Any]]:
        machine = self.cluster.servers[server].machine
        if machine is None or machine.dead:
            raise Unavailable(f"{server} does not run")

        async def answered() -> dict[str, Any]:
            answer = self.cluster.ask(server, question)
            found: dict[str, Any] = await answer if inspect.isawaitable(answer) else answer
            return found

        return self.cluster.loop.create_task(answered(), context=machine.context)

    async def begin_asking(self, server: str, question: dict[str, Any]) -> None:
        self._begin(server, question)

    async def begin_workload(self, workload: WorkloadConfig) -> None:
        self.cluster.add_workload(workload)

    async def throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        if self.cluster.workload is not None:
            self.cluster.workload.throttle(rate_per_s, paused)


class Live:
    """A cluster of real servers, whose control plane uses a temporary directory."""

    def __init__(self, config: ClusterConfig, seed: int):
        self._directory = tempfile.TemporaryDirectory(prefix="cloverlab-run-")
        self.on_event: Listeners[Stamped] = Listeners()
        self._fabric = self._made(Path(self._directory.name), config, seed)
        self._faults = FaultInjection(self._fabric)
        self._rng = random.Random(f"{seed}/targets")
        self.picture = self._fabric.picture
        self._asking: list[asyncio.Task[None]] = []
        self._newest_fault = 0
        """Number of the newest fault whose event has arrived. `fault` waits for it, so that later checks see the fault."""

    def _made(self, directory: Path, config: ClusterConfig, seed: int) -> ClusterFabric:
        raise NotImplementedError

    def _on_events(self, events: list[Stamped]) -> None:
        for stamped in events:
            if isinstance(stamped.event, FaultInjected):
                self._newest_fault = stamped.event.fault
            self.on_event(stamped)

    @property
    def directory(self) -> Path:
        """Where the cluster lives, and records its processes."""
        return Path(self._directory.name)

    @property
    def now_ns(self) -> int:
        return monotonic_ns()

    async def start(self) -> None:
        await self._fabric.start()

    async def stop(self) -> None:
        await self._fabric.stop()
        await asyncio.gather(*self._asking)
        self._fabric.home.close()
        self._directory.cleanup()

    async def run_until(self, at_ns: int, true: Callable[[], bool]) -> bool:
        while not true():
            if monotonic_ns() >= at_ns:
                return False
            await asyncio.sleep(POLL_S)
        return True

    async def fault(self, verb: str, words: list[str], options: dict[str, Any]) -> list[str]:
        names = list(chain.from_iterable(resolve(word, self.picture, self._rng) for word in words))
        fault = await self._faults.do(verb, names, options)
        await self.run_until(monotonic_ns() + REPORTED_NS, lambda: self._newest_fault >= fault)
        return names

    async def ask(self, server: str, question: dict[str, Any], within_s: float) -> dict[str, Any]:
        return await self._fabric.ask(server, question, within_s)

    async def begin_asking(self, server: str, question: dict[str, Any]) -> None:
        async def asked() -> None:
            with contextlib.suppress(LabError):
                await self._fabric.ask(server, question, MARK_S)

        self._asking.append(asyncio.create_task(asked()))

    async def begin_workload(self, workload: WorkloadConfig) -> None:
        await self._fabric.replace_client(workload)

    async def throttle(self, rate_per_s: float | None, paused: bool | None) -> None:
        try:
            await self._fabric.set_throttle(rate_per_s, paused)
        except Unavailable as error:
            raise LabError(error.message) from None


class LocalProcesses(Live):
    """A cluster of operating-system processes on this machine."""

    def _made(self, directory: Path, config: ClusterConfig, seed: int) -> ClusterFabric:
        return ProcessFabric(Home.make(directory, config, seed), self._on_events, None)


class Containers(Live):
    """A cluster in the containers that the environment names. The cluster has a name of its own, and its data is removed at the end."""

    def _made(self, directory: Path, config: ClusterConfig, seed: int) -> ClusterFabric:
        return in_containers(directory, config, self._on_events, None, seed)
