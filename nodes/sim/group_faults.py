"""Membership commands of a person on a simulated group: force a server to serve, remove a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.families import family_named
from nodes.faults.check import FaultUnsupported
from nodes.sim.fault_verbs import Faulting, fault_verb
from nodes.trace.events import Configured, ServerRemoved, Stamped

if TYPE_CHECKING:
    from nodes.sim.server import SimServer


class GroupFaults(Faulting):
    @fault_verb
    def force(self, *targets: str) -> int:
        """[GROUP,] SERVER: it serves without the quorum that safety requires; refused while another server serves.

        An elected server that waits for others in vain loses its lock, which it would otherwise hold for ever.
        """
        cluster, server = self._cluster, targets[-1] if targets else ""
        target = self._server(server, "running")
        group = targets[0] if len(targets) == 2 else target.group
        if not group or target.group != group:
            raise FaultUnsupported(f"{server} is no server of {group or 'a group'}")
        reason = family_named(cluster.config.protocol).cannot_force
        if reason:
            raise FaultUnsupported(f"{cluster.config.protocol} cannot be forced: {reason}")
        there = [
            name
            for name, each in cluster.servers.items()
            if each.group == group and each.process == "running"
        ]
        for name in there:
            if cluster.ask(name, {"do": "standing"})["serves"]:
                raise FaultUnsupported(f"{group} is served by {name} already: nothing is forced")
        refused = cluster.ask(server, {"do": "force"})["refused"]
        if refused:
            raise FaultUnsupported(refused)
        sn = cluster.ask(server, {"do": "standing"})["sn"]
        if cluster.ensemble.observer.holders.get(group, server) != server:
            self._needs_quorum()
            cluster.ensemble.take_lock(group)
        return self._begin("force", [group, server], sn=sn)

    @fault_verb
    def remove_server(self, server: str) -> int:
        """Removes a server from its group for good. Its process is stopped once it no longer counts. The order ends with the active's tenure."""
        cluster, target = self._cluster, self._server(server)
        protocol = cluster.config.protocol
        reason = family_named(protocol).cannot_leave if target.group else "it is no metadata server"
        if reason:
            raise FaultUnsupported(f"{server} is not removed from {protocol}: {reason}")
        active = cluster.ensemble.observer.holders.get(target.group, "")
        if not active or cluster.servers[active].process != "running":
            raise FaultUnsupported(f"{target.group} has no leader now")
        refused = cluster.ask(active, {"do": "remove", "server": server})["refused"]
        if refused:
            raise FaultUnsupported(refused)
        fault = self._begin("remove_server", [server])
        cluster.on_event(lambda stamped: self._on_configured(target, stamped))
        self._lets_go(target, cluster.configured.get(target.group, [target.name]))
        return fault

    def _on_configured(self, target: SimServer, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Configured and event.group == target.group:
            self._lets_go(target, event.members)

    def _lets_go(self, target: SimServer, members: list[str]) -> None:
        """Ends the process of a server that is no member of its group's configuration."""
        if target.name not in members and not target.gone:
            target.gone = True
            self._cluster.loop.at(self._cluster.now_ns, self._leaves, target)

    def _leaves(self, target: SimServer) -> None:
        if target.process == "running":
            self._quit(target, "left its group")
        self._cluster.report("control", ServerRemoved(target.name, target.group))
