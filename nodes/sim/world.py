"""The simulated world of one server's process."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from nodes.scope import Scope
from nodes.sim.clock import Rate, SimClock
from nodes.sim.disk import SimDisk
from nodes.sim.loop import Machine
from nodes.sim.network import SimNetwork
from nodes.trace.base import Event
from nodes.trace.events import Stamped
from nodes.trace.present import Cause, carrier_of
from nodes.world import Share, Shares


class Numbers:
    """Counters of a server's trace that outlive its processes."""

    def __init__(self) -> None:
        self.boot = 0
        self.number = 0


class SimTrace:
    def __init__(self, machine: Machine, numbers: Numbers, emit: Callable[[Stamped], None]):
        self._machine = machine
        self._numbers = numbers
        self._emit = emit
        self._boot = numbers.boot

    def emit(self, event: Event) -> int:
        if self._machine.dead:
            return 0
        numbers, machine = self._numbers, self._machine
        number = numbers.number = numbers.number + 1
        loop, name = machine.loop, machine.name
        server, cause = loop.cause
        if server == name:
            server = ""
        carrier = carrier_of(loop.cause)
        loop.cause = (name, number)
        self._emit(Stamped(name, self._boot, number, loop.now_ns, cause, event, server, carrier))  # type: ignore[arg-type]
        return number

    def at(self) -> Cause:
        return self._machine.loop.cause

    def follows(self, cause: Cause) -> None:
        self._machine.loop.cause = cause


class SimWorld:
    """`World` of nodes/world.py."""

    def __init__(
        self,
        machine: Machine,
        rng: random.Random,
        network: SimNetwork,
        disk: SimDisk,
        coordination: Any,
        trace: SimTrace,
        skew_ns: int,
        rate: Rate,
    ):
        self.name = machine.name
        self.clock = SimClock(machine, skew_ns, rate)
        self.rng = rng
        self.network = network
        self.disk = disk
        self.coordination = coordination
        self.trace = trace
        self.scope = Scope(machine.name, on_error=machine.on_error)
        self.answers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self._machine = machine

    def answer(self, kind: str, step: Callable[[dict[str, Any]], Any]) -> None:
        self.answers[kind] = step

    def when_idle(self, step: Callable[[], None]) -> None:
        if self.network.desk is not None and self.network.desk.when_idle(step):
            return
        self._machine.when_idle(step)

    def copies(self, share: Share, most: int) -> Shares | None:
        """None: a simulated server is no process."""
        return None
