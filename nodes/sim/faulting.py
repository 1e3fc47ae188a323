"""What all fault verbs of the simulator share: numbers, events, checked options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodes.config import MILLISECOND
from nodes.trace.events import FaultEnded, FaultInjected, Stopped

if TYPE_CHECKING:
    from nodes.sim.cluster import Server, SimCluster

HOUR_MS = 3_600_000


class FaultUnsupported(Exception):
    """What was asked for is impossible here or now; one line says why."""


class Faulting:
    """The faults in force, by number."""

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._count = 0
        self.standing: dict[int, tuple[str, list[str]]] = {}
        """Faults in force: number to (verb, targets)."""

    def _begin(self, verb: str, targets: list[str], lasting: bool = True, **options: Any) -> int:
        self._count += 1
        if lasting:
            self.standing[self._count] = (verb, targets)
        self._cluster.tell("control", FaultInjected(self._count, verb, targets, options))
        return self._count

    def _end(self, target: str, *verbs: str) -> int:
        """Ends what stands of these verbs at a target; returns the newest of them, 0 when there is none."""
        newest = 0
        for number, (verb, targets) in list(self.standing.items()):
            if verb in verbs and target in targets:
                self._ended(number)
                newest = number
        return newest

    def _ended(self, number: int) -> None:
        verb, targets = self.standing.pop(number)
        self._cluster.tell("control", FaultEnded(number, verb, targets))

    def _needs_quorum(self) -> None:
        if not self._cluster.ensemble.quorum.has_majority():
            raise FaultUnsupported("coordination has no leader with a majority now")

    def _quit(self, target: Server, reason: str) -> None:
        """The process ends in good order: its session is closed."""
        machine, world = target.machine, target.world
        assert machine is not None and world is not None
        world.trace.emit(Stopped(reason))
        machine.loop.run_as(machine, world.scope.close)
        machine.end_turn()
        if world.coordination is not None:
            world.coordination.stopped()
        machine.die()

    def _server(self, name: str, *processes: str) -> Server:
        server = self._cluster.servers.get(name)
        if server is None:
            raise FaultUnsupported(f"there is no server {name!r}")
        if server.gone:
            raise FaultUnsupported(f"{name} is gone for ever")
        if processes and server.process not in processes:
            raise FaultUnsupported(f"{name} is {server.process}")
        return server


def nanos(ms: Any) -> int:
    """Raises FaultUnsupported for what is no duration between 0 and an hour."""
    if type(ms) is not int or not 0 <= ms <= HOUR_MS:
        raise FaultUnsupported(f"{ms!r} is no number of milliseconds between 0 and {HOUR_MS}")
    return ms * MILLISECOND


def share_of(share: Any) -> float:
    """Raises FaultUnsupported for what is no share."""
    if type(share) not in (int, float) or not 0 <= share <= 1:
        raise FaultUnsupported(f"{share!r} is no share between 0 and 1")
    return float(share)


def count_of(what: str, count: Any, most: int) -> int:
    """Raises FaultUnsupported."""
    if type(count) is not int or not 0 <= count <= most:
        raise FaultUnsupported(f"{what} is {count!r}: a whole number between 0 and {most} is expected")
    return count


def one_of(what: str, word: Any, words: tuple[str, ...]) -> str:
    """Raises FaultUnsupported."""
    if word not in words:
        raise FaultUnsupported(f"{what} {word!r}: say one of {', '.join(words)}")
    return str(word)
