"""The owner of the servers' processes in the simulator: it sees a process end, and records it (safety rule 26)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.coordination.tree import OPERATOR
from nodes.replicas.ends import Read, end_changes, paths_of
from nodes.sim.coordination import multi_of
from nodes.sim.loop import Machine
from nodes.sim.quorum import MILLISECOND, NoQuorum
from nodes.sim.server import SimServer
from nodes.trace.lease_events import LockRemoved
from nodes.world import Change

if TYPE_CHECKING:
    from nodes.sim.cluster import SimCluster

OWNER = "control"
SEEN_NS = MILLISECOND


class ProcessOwner:
    """It reads while no later life has begun. Its record may be late: the server may run again by then."""

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._rng = cluster.rng("owner")

    def ended(self, server: SimServer, life: Machine) -> None:
        """The process of this life has ended."""
        cluster = self._cluster
        if cluster.config.detection == "members" and cluster.conditions.ends_recorded and server.group:
            cluster.loop.at(cluster.now_ns + SEEN_NS, self._see, server, life)

    def _see(self, server: SimServer, life: Machine) -> None:
        if server.machine is not life:
            return
        cluster = self._cluster
        late_ns = int(self._rng.random() ** 2 * cluster.conditions.ends_late_ms * MILLISECOND)
        cluster.loop.at(cluster.now_ns + late_ns, self._write, server, self.prepare(server))

    def _write(self, server: SimServer, changes: list[Change]) -> None:
        if self.write(server, changes):
            self._cluster.report(OWNER, LockRemoved(server.group, server.name, "death", []))

    def prepare(self, server: SimServer) -> list[Change]:
        """The record as it would be written now; empty for a server without the lock."""
        nodes = self._cluster.ensemble.tree.nodes
        generation, lock, confirmation = (nodes.get(path) for path in paths_of(server.group, server.name))
        read = Read(
            -1 if generation is None else generation.version,
            None if lock is None else lock.data,
            None if confirmation is None else (confirmation.data, confirmation.version),
        )
        any_generation = self._cluster.config.mutations.end_of_any_generation
        return end_changes(server.group, server.name, read, any_generation)

    def write(self, server: SimServer, changes: list[Change]) -> bool:
        """One transaction; False when it is refused. The session of the dead process ends anyway."""
        if not changes:
            return False
        try:
            return not self._cluster.ensemble.submit(OPERATOR, multi_of(changes)).code
        except NoQuorum:
            return False
