"""The fault verbs on a simulated cluster; they mean what they mean on processes and containers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nodes.config import MILLISECOND
from nodes.families import family_named
from nodes.sim.clock import LARGEST_PPM
from nodes.sim.ensemble import COORDINATION, MEMBERS
from nodes.sim.links import Link
from nodes.storage.rot import NothingToRot, choose
from nodes.trace.events import FaultEnded, FaultInjected, Stopped

if TYPE_CHECKING:
    from nodes.sim.cluster import Server, SimCluster

HOUR_MS = 3_600_000
DIRECTIONS = ("both", "to", "from")
LINK_VERBS = ("cut", "delay", "lose", "duplicate", "reorder", "damage")
ALIASES = {"zk1": "coordination1", "zk2": "coordination2", "zk3": "coordination3"}
"""What the servers of the ensemble are called in containers."""
ONE_BY_ONE = ("crash", "power_loss", "stop", "restart", "pause", "resume")
"""Verbs that take any number of servers."""


class FaultUnsupported(Exception):
    """What was asked for is impossible here or now; one line says why."""


class SimFaults:
    """Each verb returns the number of the fault it began or ended."""

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._count = 0
        self.standing: dict[int, tuple[str, list[str]]] = {}
        """Faults in force: number to (verb, targets)."""
        self.added = ""
        """The server that `add_server` made last."""

    def do(self, verb: str, targets: list[str], options: dict[str, Any] | None = None) -> int:
        """Any verb by its name. Raises FaultUnsupported."""
        method: Callable[..., int] | None = getattr(self, verb, None) if not verb.startswith("_") else None
        if method is None or verb in ("do", "standing", "added"):
            raise FaultUnsupported(f"there is no fault {verb!r}")
        given = dict(options or {})
        targets = [ALIASES.get(target, target) for target in targets]
        if verb == "cut" and given.pop("island", False):
            return self._island(targets, **given)
        if verb in ONE_BY_ONE:
            return max(method(target, **given) for target in targets)
        return method(*targets, **given)

    # --- numbers ---------------------------------------------------------------------------------------------------

    def _begin(self, verb: str, targets: list[str], lasting: bool = True, **options: Any) -> int:
        self._count += 1
        if lasting:
            self.standing[self._count] = (verb, targets)
        self._cluster.tell("control", FaultInjected(self._count, verb, targets, options))
        return self._count

    def _end(self, target: str, *verbs: str) -> int:
        """Ends what stands of these verbs at a target."""
        newest = 0
        for number, (verb, targets) in list(self.standing.items()):
            if verb in verbs and target in targets:
                del self.standing[number]
                self._cluster.tell("control", FaultEnded(number, verb, targets))
                newest = number
        return newest

    def _server(self, name: str, *processes: str) -> Server:
        server = self._cluster.servers.get(name)
        if server is None:
            raise FaultUnsupported(f"there is no server {name!r}")
        if processes and server.process not in processes:
            raise FaultUnsupported(f"{name} is {server.process}")
        return server

    # --- processes -------------------------------------------------------------------------------------------------

    def crash(self, server: str) -> int:
        if server in (COORDINATION, *MEMBERS):
            if not self._cluster.ensemble.runs(server):
                raise FaultUnsupported(f"{server} is stopped")
            fault = self._begin("crash", [server])
            self._cluster.ensemble.crash(server)
            return fault
        target = self._server(server, "running", "paused")
        fault = self._begin("crash", [server])
        self._kill(target)
        return fault

    def _kill(self, target: Server) -> None:
        assert target.machine is not None and target.world is not None
        target.machine.die()
        if target.world.coordination is not None:
            target.world.coordination.crashed()
        self._end(target.name, "pause")

    def power_loss(self, server: str) -> int:
        target = self._server(server, "running", "paused")
        fault = self._begin("power_loss", [server])
        self._kill(target)
        target.store.lose_power()
        return fault

    def stop(self, server: str) -> int:
        target = self._server(server, "running")
        fault = self._begin("stop", [server])
        machine, world = target.machine, target.world
        assert machine is not None and world is not None
        world.trace.emit(Stopped("asked to"))
        machine.loop.run_as(machine, world.scope.close)
        if world.coordination is not None:
            world.coordination.stopped()
        machine.die()
        return fault

    def restart(self, server: str) -> int:
        if server in (COORDINATION, *MEMBERS):
            if self._cluster.ensemble.runs_whole(server):
                raise FaultUnsupported(f"{server} is running")
            self._cluster.ensemble.restart(server)
            if server == COORDINATION:
                return max([self._end(name, "crash") for name in (server, *MEMBERS)])
        else:
            self._cluster.start(self._server(server, "stopped"))
        return self._end(server, "crash", "stop", "power_loss")

    def pause(self, server: str) -> int:
        target = self._server(server, "running")
        assert target.machine is not None
        target.machine.pause()
        return self._begin("pause", [server])

    def resume(self, server: str) -> int:
        target = self._server(server, "paused")
        assert target.machine is not None and target.world is not None
        target.machine.resume()
        if target.world.coordination is not None:
            target.world.coordination.resumed()
        return self._end(server, "pause")

    # --- links -----------------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [*self._cluster.servers, COORDINATION]

    def _links(self, a: str, b: str | None, direction: str) -> list[Link]:
        names = [*self._names(), *MEMBERS]
        if direction not in DIRECTIONS:
            raise FaultUnsupported(f"direction {direction!r}: say one of {', '.join(DIRECTIONS)}")
        if a == b:
            raise FaultUnsupported(f"{a} has no link to itself")
        for name in (a, b or a):
            if name not in names:
                raise FaultUnsupported(f"there is no {name!r} to cut, delay or heal")
        others = self._others(a) if b is None else [b]
        pairs = [(a, other) for other in others] if direction != "from" else []
        pairs += [(other, a) for other in others] if direction != "to" else []
        return [self._cluster.net.links.of(*pair) for pair in pairs]

    def _others(self, name: str) -> list[str]:
        """To whom it has links: a server to the service as a whole, a server of the ensemble also to its like."""
        servers = list(self._cluster.servers)
        if name == COORDINATION:
            return servers
        others = [*servers, *MEMBERS] if name in MEMBERS else self._names()
        return [other for other in others if other != name]

    def _break(self, verb: str, a: str, b: str | None, direction: str, **options: Any) -> int:
        for link in self._links(a, b, direction):
            for name, value in options.items():
                setattr(link, name, value)
        self._cluster.ensemble.links_changed()
        return self._begin(verb, [a, b] if b else [a], direction=direction, **options)

    def cut(self, a: str, b: str | None = None, direction: str = "both") -> int:
        """Without `b`, from everything."""
        return self._break("cut", a, b, direction, cut=True)

    def _island(self, names: list[str], direction: str = "both") -> int:
        """Cuts the named ones off from all others, not from each other."""
        for a in names:
            for b in self._outside(a, names):
                for link in self._links(a, b, direction):
                    link.cut = True
        self._cluster.ensemble.links_changed()
        return self._begin("cut", names, direction=direction, island=True)

    def _outside(self, name: str, island: list[str]) -> list[str]:
        others = self._others(name)
        if name not in MEMBERS and any(each in MEMBERS for each in island):
            others = [each for each in others if each != COORDINATION] + list(MEMBERS)
        return [other for other in others if other not in island]

    def delay(self, a: str, b: str | None = None, ms: int = 100, direction: str = "both") -> int:
        return self._break("delay", a, b, direction, delay_ns=_nanos(ms))

    def lose(self, a: str, b: str | None = None, share: float = 0.1, direction: str = "both") -> int:
        return self._break("lose", a, b, direction, lose=_share(share))

    def duplicate(self, a: str, b: str | None = None, share: float = 0.1, direction: str = "both") -> int:
        return self._break("duplicate", a, b, direction, duplicate=_share(share))

    def reorder(self, a: str, b: str | None = None, share: float = 0.1, direction: str = "both") -> int:
        return self._break("reorder", a, b, direction, reorder=_share(share))

    def damage(self, a: str, b: str | None = None, share: float = 0.1, direction: str = "both") -> int:
        """Flips a bit in the content of packets: what checksums of their own guard."""
        return self._break("damage", a, b, direction, damage=_share(share))

    def heal(self, a: str | None = None, b: str | None = None) -> int:
        """Mends one link, all of one server, or without names everything."""
        for one, other in self._mended(a, b):
            for link in self._links(one, other, "both"):
                link.mend()
        self._cluster.ensemble.links_changed()
        newest = 0
        for number, (verb, targets) in list(self.standing.items()):
            if verb in LINK_VERBS and self._healed(targets, a, b):
                del self.standing[number]
                self._cluster.tell("control", FaultEnded(number, verb, targets))
                newest = number
        return newest

    def _mended(self, a: str | None, b: str | None) -> list[tuple[str, str | None]]:
        """With the service as a whole its servers are mended too."""
        ones = [a] if a else [*self._names(), *MEMBERS]
        ones = [*ones, *MEMBERS] if a == COORDINATION else ones
        others = [b, *MEMBERS] if b == COORDINATION else [b]
        return [(one, other) for one, other in itertools.product(ones, others) if one is not None]

    @staticmethod
    def _healed(targets: list[str], a: str | None, b: str | None) -> bool:
        def is_among(name: str) -> bool:
            return name in targets or (name == COORDINATION and any(each in targets for each in MEMBERS))

        return a is None or (is_among(a) and (b is None or is_among(b)))

    def heal_all(self) -> int:
        return self.heal()

    # --- coordination ----------------------------------------------------------------------------------------------

    def expire_session(self, server: str) -> int:
        self._server(server)
        self._needs_quorum()
        fault = self._begin("expire_session", [server], lasting=False)
        session = self._cluster.ensemble.session_of(server)
        if session:
            self._cluster.ensemble.expire(session)
        return fault

    def _needs_quorum(self) -> None:
        if not self._cluster.ensemble.quorum.has_majority():
            raise FaultUnsupported(f"{COORDINATION} has no leader with a majority now")

    def take_lock(self, group: str) -> int:
        owner = self._cluster.ensemble.observer.holders.get(group, "")
        if not owner:
            raise FaultUnsupported(f"nobody holds the lock of {group} now")
        self._needs_quorum()
        fault = self._begin("take_lock", [group, owner], lasting=False)
        self._cluster.ensemble.take_lock(group)
        return fault

    def force_view(self, group: str) -> int:
        cluster = self._cluster
        if group not in [each.name for each in cluster.config.groups]:
            raise FaultUnsupported(f"there is no group {group!r}")
        protocol = cluster.config.protocol
        if family_named(protocol).locked:
            raise FaultUnsupported(f"{protocol} has no views to change; take_lock takes its lock away")
        running = [name for name, server in cluster.servers.items() if server.process == "running"]
        asked = next((name for name in running if self._changes_view(name, group)), "")
        if not asked:
            raise FaultUnsupported(f"no member of {group} is there now")
        return self._begin("force_view", [group, asked], lasting=False)

    def _changes_view(self, name: str, group: str) -> bool:
        if self._cluster.servers[name].group != group:
            return False
        return bool(self._cluster.ask(name, {"do": "change_view"})["asked"])

    # --- disks, clocks, servers ------------------------------------------------------------------------------------

    def slow_disk(self, server: str, ms: int = 100) -> int:
        self._server(server).store.slow_ns = _nanos(ms)
        return self._begin("slow_disk", [server], ms=ms) if ms else self._end(server, "slow_disk")

    def fail_disk(self, server: str, on: bool = True) -> int:
        self._server(server).store.fails = on
        return self._begin("fail_disk", [server], on=on) if on else self._end(server, "fail_disk")

    def corrupt(self, server: str, what: str = "journal") -> int:
        """Flips one bit: in the middle of the journal, in its last record, in the image, or in the newest block."""
        store = self._server(server).store
        try:
            path, offset = choose(what, {path: len(file.octets) for path, file in store.files.items()})
        except NothingToRot as error:
            raise FaultUnsupported(f"{server}: {error}") from None
        store.files[path].octets[offset] ^= 1
        return self._begin("corrupt", [server], lasting=False, what=what)

    def skew_clock(self, server: str, ms: int) -> int:
        """Puts its time of day so far forward or back; 0 ends it."""
        if type(ms) is not int or abs(ms) > HOUR_MS:
            raise FaultUnsupported(f"{ms!r} is no number of milliseconds within an hour")
        target = self._server(server)
        target.skew_ns = ms * MILLISECOND
        if target.world is not None:
            target.world.clock.skew_ns = target.skew_ns
        ended = self._end(server, "skew_clock")
        return self._begin("skew_clock", [server], ms=ms) if ms else ended

    def drift_clock(self, server: str, ppm: int) -> int:
        """Lets its monotonic clock, and with it all its timers, run faster by so many parts per million, or slower; 0 ends it."""
        if type(ppm) is not int or abs(ppm) > LARGEST_PPM:
            raise FaultUnsupported(f"{ppm!r} is no number of parts per million within {LARGEST_PPM}")
        self._server(server).rate.run_at(ppm)
        ended = self._end(server, "drift_clock")
        return self._begin("drift_clock", [server], ppm=ppm) if ppm else ended

    def add_server(self, group: str) -> int:
        if group not in [each.name for each in self._cluster.config.groups]:
            raise FaultUnsupported(f"there is no group {group!r}")
        names = [name for name, server in self._cluster.servers.items() if server.group]
        number = max(int("".join(filter(str.isdigit, name)) or 0) for name in names) + 1
        self.added = f"mds{number}"
        fault = self._begin("add_server", [group], lasting=False, name=self.added)
        self._cluster.add(self.added, group)
        return fault


def _nanos(ms: Any) -> int:
    """Raises FaultUnsupported for what is no duration between 0 and an hour."""
    if type(ms) is not int or not 0 <= ms <= HOUR_MS:
        raise FaultUnsupported(f"{ms!r} is no number of milliseconds between 0 and {HOUR_MS}")
    return ms * MILLISECOND


def _share(share: Any) -> float:
    """Raises FaultUnsupported for what is no share."""
    if type(share) not in (int, float) or not 0 <= share <= 1:
        raise FaultUnsupported(f"{share!r} is no share between 0 and 1")
    return float(share)
