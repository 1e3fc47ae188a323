"""The common parts of the simulator's fault verbs: numbers, events, options as in the table of faults."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from nodes.config import MILLISECOND
from nodes.faults.check import FaultUnsupported, options_of, resolved, verb_named
from nodes.faults.table import lasts
from nodes.kinds import nodes_of
from nodes.sim.ensemble import COORDINATION, MEMBERS
from nodes.states import ProcessState
from nodes.trace.events import FaultEnded, FaultInjected, Stopped

if TYPE_CHECKING:
    from nodes.sim.cluster import SimCluster
    from nodes.sim.server import SimServer

OF_TABLE: Any = None
"""In a signature, stands for the default in the table of faults."""
F = TypeVar("F", bound=Callable[..., int])


def fault_verb(method: F) -> F:
    """Declares a method as the verb of its name. Its options are checked against the table and get their defaults from there on every call."""
    verb = verb_named(method.__name__, "simulated")
    known, signature = options_of(verb, "simulated"), inspect.signature(method)

    @functools.wraps(method)
    def checked(*targets: Any, **options: Any) -> int:
        bound = signature.bind(*targets, **options)
        given = {name: value for name, value in bound.arguments.items() if name in known}
        bound.arguments.update(resolved(verb, given, "simulated"))
        return method(*bound.args, **bound.kwargs)

    return cast(F, checked)


class Faulting:
    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._count = 0
        self.standing: dict[int, tuple[str, list[str]]] = {}
        """Standing faults: number to (verb, targets)."""

    def _begin(self, verb: str, targets: list[str], **options: Any) -> int:
        self._count += 1
        if lasts(verb):
            self.standing[self._count] = (verb, targets)
        self._cluster.report("control", FaultInjected(self._count, verb, targets, options))
        return self._count

    def _end(self, target: str, *verbs: str) -> int:
        """Ends the standing faults of these verbs at a target; returns the newest of them, 0 when there is none."""
        newest = 0
        for number, (verb, targets) in list(self.standing.items()):
            if verb in verbs and target in targets:
                self._ended(number)
                newest = number
        return newest

    def _ended(self, number: int) -> None:
        verb, targets = self.standing.pop(number)
        self._cluster.report("control", FaultEnded(number, verb, targets))

    def _needs_quorum(self) -> None:
        if not self._cluster.ensemble.quorum.has_majority():
            raise FaultUnsupported("coordination has no leader with a majority now")

    def _quit(self, target: SimServer, reason: str) -> None:
        """Ends the process gracefully: its session is closed."""
        machine, world = target.machine, target.world
        assert machine is not None and world is not None
        world.trace.emit(Stopped(reason))
        machine.loop.run_as(machine, world.scope.close)
        machine.end_turn()
        if world.coordination is not None:
            world.coordination.stopped()
        target.end(machine)

    def _kind_of(self, name: str) -> str | None:
        cluster = self._cluster
        if name in (COORDINATION, *MEMBERS):
            return "coordination"
        if name in [group.name for group in cluster.config.groups]:
            return "group"
        node = nodes_of(cluster.config).get(name)
        if node is not None:
            return node.name
        server = cluster.servers.get(name)
        return None if server is None else "server" if server.group else "client"

    def _server(self, name: str, *processes: ProcessState) -> SimServer:
        server = self._cluster.servers.get(name)
        if server is None:
            raise FaultUnsupported(f"there is no server {name!r}")
        if server.gone:
            raise FaultUnsupported(f"{name} is gone for ever")
        if processes and server.process not in processes:
            raise FaultUnsupported(f"{name} is {server.process}")
        return server


def nanos(ms: float) -> int:
    return round(ms * MILLISECOND)
