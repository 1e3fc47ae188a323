"""Groups that may not serve any more continue when a person forces one of their servers (safety rule 4)."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from nodes.config import ClusterConfig
from nodes.explore.atlas import Atlas
from nodes.explore.deeds import carry_out
from nodes.explore.plan import Fault
from nodes.explore.stage import Stage, StageMember
from nodes.families import family_named
from nodes.faults.check import FaultUnsupported
from nodes.roles import SERVING
from nodes.trace.events import Serving, Stamped, Started, StoppedServing


class Forcible(Protocol):
    """The part of a trial that forces groups."""

    atlas: Atlas

    @property
    def cluster(self) -> Stage: ...

    @property
    def config(self) -> ClusterConfig: ...

    @property
    def patience_ns(self) -> int: ...

    def fail(self, invariant: str, place: str, explanation: str) -> None: ...


class ServedGroups:
    """Follows which servers serve. An elected server that waits for others does not."""

    def __init__(self, cluster: Stage):
        self._cluster = cluster
        self._serving: set[str] = set()
        """Servers whose last report is that they serve."""

    def on_event(self, stamped: Stamped) -> None:
        if type(stamped.event) is Serving:
            self._serving.add(stamped.server)
        elif type(stamped.event) in (StoppedServing, Started):
            self._serving.discard(stamped.server)

    def is_served(self, group: str) -> bool:
        """Whether any server serves the group, added ones included."""
        servers = self._cluster.servers
        return any(servers[name].group == group and runs(servers[name]) for name in self._serving)

    def settled(self) -> bool:
        """Whether the cluster has settled, and leaders and members serve. An elected one has its place before it has rolled back to a checkpoint."""
        places, servers = self._cluster.places, self._cluster.servers
        placed = (name for name, server in servers.items() if places.get(name) in SERVING and not server.gone)
        return self._cluster.settled() and self._serving.issuperset(placed)


def force_groups(trial: Forcible, served: ServedGroups) -> None:
    """Forces each group that no server serves with a server whose disk is whole; one that does not serve then is a failure."""
    cluster = trial.cluster
    if family_named(trial.config.protocol).cannot_force:
        return
    for group, members in cluster.configured.items():
        running = [name for name in members if name in cluster.servers and runs(cluster.servers[name])]
        damaged = trial.atlas.damaged(trial.atlas.set_of_word(group))
        whole = [name for name in running if name not in damaged]
        if not whole or served.is_served(group):
            continue
        try:
            names = carry_out(cluster, Fault("force", [group, whole[0]]))
        except FaultUnsupported as refused:
            trial.fail("service", "force", f"{group} is served by no server and cannot be forced: {refused}")
            continue
        trial.atlas.note("force", names)
        if not cluster.reaches(cluster.now_ns + trial.patience_ns, partial(served.is_served, group)):
            trial.fail("service", "force", f"{group} was forced with {whole[0]} and does not serve")


def runs(server: StageMember) -> bool:
    return server.process == "running" and not server.gone
