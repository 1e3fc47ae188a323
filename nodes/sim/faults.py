"""The fault verbs on a simulated cluster, with the same meaning as on processes and containers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nodes.config import MILLISECOND
from nodes.families import family_named
from nodes.faults.chaos import drawn_step
from nodes.faults.check import FaultUnsupported, check_count, check_kind, resolved, verb_named
from nodes.faults.table import STOPPING
from nodes.sim.disk_faults import DiskFaults
from nodes.sim.ensemble import COORDINATION, MEMBERS
from nodes.sim.fault_verbs import OF_TABLE, fault_verb
from nodes.sim.group_faults import GroupFaults
from nodes.sim.link_faults import LinkFaults

if TYPE_CHECKING:
    from nodes.sim.cluster import SimCluster
    from nodes.sim.server import SimServer

ALIASES = {"zk1": "coordination1", "zk2": "coordination2", "zk3": "coordination3"}
"""Names of the ensemble's servers in containers."""


class SimFaults(LinkFaults, DiskFaults, GroupFaults):
    """Each verb returns the number of the fault that it began or ended."""

    def __init__(self, cluster: SimCluster):
        super().__init__(cluster)
        self.added = ""
        """The server that `add_server` made last."""

    def do(self, verb: str, targets: list[str], options: dict[str, Any] | None = None) -> int:
        """Carries out any verb by its name. Raises FaultUnsupported."""
        row = verb_named(verb, "simulated")
        given = resolved(row, options or {}, "simulated")
        targets = [ALIASES.get(target, target) for target in targets]
        check_count(row, targets, given)
        check_kind(row, targets, self._kind_of)
        method: Callable[..., int] = getattr(self, verb)
        if row.each:
            return max(method(target, **given) for target in targets)
        several = row.most_targets(given) > row.counts[1]
        return method(*([targets] if several else targets), **given)

    @fault_verb
    def chaos(self, group: str) -> int:
        """Returns the number of the fault that was drawn, or that was ended."""
        cluster = self._cluster
        servers = {
            name: each.process
            for name, each in cluster.servers.items()
            if each.group == group and not each.gone
        }
        rng = random.Random(f"{cluster.seed}/chaos/{self._count}/{cluster.now_ns}")
        step = drawn_step(servers, self.standing.values(), rng)
        return self.do(step.verb, [step.server], step.options)

    # --- processes -------------------------------------------------------------------------------------------------

    @fault_verb
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

    def _kill(self, target: SimServer) -> None:
        self._end_life(target)
        target.store.crash(target.store.stream(self._cluster.now_ns))

    def _end_life(self, target: SimServer) -> None:
        assert target.machine is not None and target.world is not None
        target.machine.die()
        if target.world.coordination is not None:
            target.world.coordination.crashed()
        self._end(target.name, "pause")
        self._cluster.owner.ended(target, target.machine)

    @fault_verb
    def power_loss(self, server: str, torn: str = OF_TABLE) -> int:
        """Kills the process; `torn` selects the remains of bytes that were not synced (nodes/sim/medium.py)."""
        target = self._server(server, "running", "paused")
        fault = self._begin("power_loss", [server], torn=torn)
        self._end_life(target)
        target.store.lose_power(torn, self._cluster.now_ns)
        return fault

    @fault_verb
    def new_disk(self, server: str) -> int:
        """Gives the stopped server an empty disk; a running one is killed first."""
        target = self._server(server)
        fault = self._begin("new_disk", [server])
        if target.process != "stopped":
            self._kill(target)
        target.store.replace_medium()
        self._end(server, "slow_disk", "fail_disk", "fill_disk")
        return fault

    @fault_verb
    def respawn(self, server: str) -> int:
        """Kills and restarts the process at the same moment: coordination still knows its old session."""
        target = self._server(server, "running", "paused")
        fault = self._begin("respawn", [server])
        self._kill(target)
        self._cluster.start(target)
        self._end(server, "respawn")
        return fault

    @fault_verb
    def gone(self, server: str) -> int:
        """Loses the machine: its process ends as by a crash, and never starts again."""
        target = self._server(server)
        if target.process != "stopped":
            self._kill(target)
        self._cluster.lose_for_ever(target)
        return self._begin("gone", [server])

    @fault_verb
    def stop(self, server: str) -> int:
        """Ends the process gracefully; a paused one is resumed for it, as by SIGTERM and SIGCONT."""
        target = self._server(server, "running", "paused")
        assert target.machine is not None
        fault = self._begin("stop", [server])
        target.machine.resume()
        self._quit(target, "asked to")
        self._end(server, "pause")
        return fault

    @fault_verb
    def restart(self, server: str) -> int:
        if server in (COORDINATION, *MEMBERS):
            if self._cluster.ensemble.runs_whole(server):
                raise FaultUnsupported(f"{server} is running")
            self._cluster.ensemble.restart(server)
            if server == COORDINATION:
                return max([self._end(name, "crash") for name in (server, *MEMBERS)])
        else:
            self._cluster.start(self._server(server, "stopped"))
        return self._end(server, *STOPPING)

    @fault_verb
    def pause(self, server: str) -> int:
        target = self._server(server, "running")
        assert target.machine is not None
        target.machine.pause()
        return self._begin("pause", [server])

    @fault_verb
    def resume(self, server: str) -> int:
        target = self._server(server, "paused")
        assert target.machine is not None and target.world is not None
        target.machine.resume()
        if target.world.coordination is not None:
            target.world.coordination.resumed()
        return self._end(server, "pause")

    # --- coordination ----------------------------------------------------------------------------------------------

    @fault_verb
    def expire_session(self, server: str) -> int:
        self._server(server)
        self._needs_quorum()
        fault = self._begin("expire_session", [server])
        session = self._cluster.ensemble.observer.sessions.get(server, 0)
        if session:
            self._cluster.ensemble.expire(session)
        return fault

    @fault_verb
    def take_lock(self, group: str) -> int:
        owner = self._cluster.ensemble.observer.holders.get(group, "")
        if not owner:
            raise FaultUnsupported(f"the lock of {group} is free now")
        self._needs_quorum()
        fault = self._begin("take_lock", [group, owner])
        self._cluster.ensemble.take_lock(group)
        return fault

    @fault_verb
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
        return self._begin("force_view", [group, asked])

    def _changes_view(self, name: str, group: str) -> bool:
        if self._cluster.servers[name].group != group or not self._cluster.answers(name, "change_view"):
            return False
        return bool(self._cluster.ask(name, {"do": "change_view"})["asked"])

    # --- disks, clocks, servers ------------------------------------------------------------------------------------

    @fault_verb
    def skew_clock(self, server: str, ms: int = OF_TABLE) -> int:
        """Sets the wall clock forward or back; 0 ends it."""
        target = self._server(server)
        target.skew_ns = ms * MILLISECOND
        if target.world is not None:
            target.world.clock.skew_ns = target.skew_ns
        ended = self._end(server, "skew_clock")
        return self._begin("skew_clock", [server], ms=ms) if ms else ended

    @fault_verb
    def drift_clock(self, server: str, ppm: int = OF_TABLE) -> int:
        """Lets both clocks, and with them all timers, run faster by so many parts per million, or slower; 0 ends it."""
        self._server(server).rate.run_at(ppm)
        ended = self._end(server, "drift_clock")
        return self._begin("drift_clock", [server], ppm=ppm) if ppm else ended

    @fault_verb
    def add_server(self, group: str) -> int:
        if group not in [each.name for each in self._cluster.config.groups]:
            raise FaultUnsupported(f"there is no group {group!r}")
        names = [name for name, server in self._cluster.servers.items() if server.group]
        number = max(int("".join(filter(str.isdigit, name)) or 0) for name in names) + 1
        self.added = f"mds{number}"
        fault = self._begin("add_server", [group], name=self.added)
        self._cluster.add(self.added, group)
        return fault
