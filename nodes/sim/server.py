"""One name in a simulated cluster."""

from __future__ import annotations

from collections.abc import Callable

from nodes.errors import Damaged
from nodes.sim.clock import Rate
from nodes.sim.disk import MediumStore
from nodes.sim.loop import Machine
from nodes.sim.world import Numbers, SimWorld
from nodes.states import ProcessState
from nodes.trace.events import Stopped

Starter = Callable[[SimWorld], None]


class SimServer:
    """One name in the cluster: its medium, and its present process."""

    def __init__(self, name: str, group: str, store: MediumStore, rate: Rate, starter: Starter):
        self.name = name
        self.group = group
        """Group of a metadata server; empty for a client or a data node."""
        self.store = store
        self.starter = starter
        self.numbers = Numbers()
        self.skew_ns = 0
        self.rate = rate
        """Speed of its monotonic clock."""
        self.client = False
        """Whether the server stores nothing: a client that starts again is another client."""
        self.gone = False
        """Its machine is lost for ever."""
        self.machine: Machine | None = None
        self.world: SimWorld | None = None

    @property
    def process(self) -> ProcessState:
        if self.machine is None or self.machine.dead:
            return "stopped"
        return "paused" if self.machine.paused else "running"

    def fail(self, error: Damaged | OSError) -> None:
        """Ends this process, as a real one ends that cannot continue with its disk."""
        world, machine = self.world, self.machine
        assert world is not None and machine is not None
        world.trace.emit(Stopped(f"{type(error).__name__}: {error}"))
        if world.coordination is not None:
            world.coordination.stopped()
        self.end(machine)

    def end(self, machine: Machine) -> None:
        """The process is no more. Its calls that change names on the disk were done, or half done, or not at all."""
        machine.die()
        self.store.crash(self.store.stream(machine.loop.now_ns))
