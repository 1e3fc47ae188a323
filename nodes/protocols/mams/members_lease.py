"""The lease that the members grant, in the steps of the upgrade (safety rule 26)."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.active import Active
from nodes.protocols.mams.recovery import JournalRecovery
from nodes.replicas.leader import Leader
from nodes.scope import Tenure
from nodes.world import ConnectionLoss


class MembersLease:
    """One tenure's lease, where the cluster has it; else its steps wait for nothing."""

    def __init__(self, replica: Replica, leader: Leader, tenure: Tenure):
        self._replica = replica
        self._leader = leader
        self._tenure = tenure
        self._names: list[str] = []
        self._active: Active | None = None
        """None before step 4."""

    def begin(self, recovery: JournalRecovery) -> None:
        """Step 3b: from here on the members receive heartbeats, so that none of them suspects this server while it takes over."""
        grants = self._leader.grants
        if grants.needed:
            self._names = recovery.configuration.members
            group, generation = self._replica.group.number, self._replica.view.generation
            asks = grants.ask(group, self._leader.epoch, generation, self._granting)
            self._tenure.spawn(asks, "grants")

    def _granting(self) -> list[str]:
        """Members of every configuration that may stand, and servers that may soon be members."""
        names = dict.fromkeys(self._names)
        if self._active is not None:
            sync = self._active.sync
            names = dict.fromkeys(name for each in sync.configurations for name in each.members)
            names |= dict.fromkeys(sync.participants)
        return [name for name in names if name != self._replica.name]

    def count(self, active: Active) -> None:
        """Step 4: grants count from here on."""
        self._active = active
        self._leader.grants.count_over(lambda: active.sync.configurations)

    async def obtain(self, active: Active) -> None:
        """Before step 6: waits for the lease. Members whose disks are not recorded grant none, so juniors are renewed meanwhile. Raises LostLock."""
        clock, grants = self._replica.world.clock, self._leader.grants
        pause_ns = self._replica.config.cluster.timing.renew_scan_ms * MILLISECOND
        while not await grants.obtained(lambda: grants.until_ns > clock.monotonic_ns(), pause_ns):
            try:
                await active.look_after_members()
            except ConnectionLoss:
                pass
