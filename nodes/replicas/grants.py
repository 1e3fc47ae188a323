"""Leases that the members of a group grant the holder of its lock (safety rule 26), after the leases of Gray and Cheriton.

The holder sends heartbeats. A member that has promised no higher epoch acknowledges each at once, and thereby grants a short lease. The holder
counts a grant from when it sent the heartbeat, the member from when it acknowledged it. The holder answers while it has the grants of a write quorum
of every configuration that may stand. An elected server waits until the grants of a read quorum that promised its epoch have run out. The two quorums
meet, so no earlier holder answers then. Where the group's journal is on nodes of its own, these grant in place of the members.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nodes.config import MILLISECOND, ClusterConfig
from nodes.replicas.lease import Term, term_of
from nodes.replicas.messages import AskGrant, AskSilence, Granted, Silent
from nodes.replicas.view import Configuration
from nodes.world import World, wait_at_most

NEVER_NS = 1 << 62
"""A time that does not come."""
HEARTBEATS = 5
"""Heartbeats of the holder per grant."""


def grant_term(cluster: ClusterConfig) -> Term:
    return term_of(cluster.timing.grant_ms * MILLISECOND, cluster.mutations)


class Grants:
    """The grants to the holder of one tenure. Where sessions alone decide, none are needed."""

    def __init__(self, world: World, cluster: ClusterConfig):
        self._world = world
        self._mutations = cluster.mutations
        self._held_ns = grant_term(cluster).held_ns
        self.pause_ns = cluster.timing.grant_ms * MILLISECOND // HEARTBEATS
        self.needed = cluster.detection == "members"
        self._configurations: Callable[[], list[Configuration]] = list
        self._first: list[Configuration] = []
        """The configurations with which the tenure began, for the mutation `grant_of_old_configuration`."""
        self._counted: list[Configuration] = []
        """The configurations over which `_until_ns` was computed."""
        self._until_ns = 0
        self._ends: dict[tuple[str, int], int] = {}
        """End of the newest grant by member and disk."""
        self._sent: dict[int, int] = {}
        """Time of each heartbeat whose grant would not have run out."""
        self._number = 0
        self._received = asyncio.Event()
        self._now = asyncio.Event()

    def count_over(self, configurations: Callable[[], list[Configuration]]) -> None:
        """From now on grants count over the configurations that may stand; before, the holder has none."""
        self._configurations = configurations
        self._first = configurations()

    @property
    def until_ns(self) -> int:
        """Time until which a write quorum of every configuration that may stand has granted the lease."""
        if not self.needed:
            return NEVER_NS
        if self._configurations() is not self._counted:
            self._recount()
        return self._until_ns

    def _recount(self) -> None:
        self._counted = self._configurations()
        self._until_ns = min(map(self._end_over, self._counted), default=0)

    def _end_over(self, configuration: Configuration) -> int:
        counted = self._first[0] if self._mutations.grant_of_old_configuration else configuration
        ends = sorted((self._end_of(member, configuration) for member in counted.members), reverse=True)
        return ends[counted.write_quorum - 1]

    def _end_of(self, member: str, configuration: Configuration) -> int:
        """End of this member's grant. The holder itself stands down in the step in which it promises a higher epoch."""
        if member == self._world.name:
            return NEVER_NS
        if self._mutations.grant_of_other_disk:
            return max((end for (name, _), end in self._ends.items() if name == member), default=0)
        return self._ends.get((member, configuration.disks.get(member, 0)), 0)

    def is_from(self, member: str, disk: int) -> bool:
        """Whether this member grants the lease now, with this disk."""
        return not self.needed or self._ends.get((member, disk), 0) > self._world.clock.monotonic_ns()

    def on_granted(self, peer: str, message: Granted) -> None:
        """A grant of this tenure. Of a heartbeat that has run out, or was never sent, it says nothing."""
        sent_ns = self._sent.get(message.number)
        if sent_ns is None:
            return
        if self._mutations.grant_from_arrival:
            sent_ns = self._world.clock.monotonic_ns()
        key = (peer, message.disk)
        self._ends[key] = max(self._ends.get(key, 0), sent_ns + self._held_ns)
        self._recount()
        self._received.set()

    async def ask(self, group: int, epoch: int, generation: int, members: Callable[[], list[str]]) -> None:
        """Sends heartbeats to these servers, without end."""
        world = self._world
        while True:
            now_ns = world.clock.monotonic_ns()
            self._sent = {n: sent_ns for n, sent_ns in self._sent.items() if sent_ns + self._held_ns > now_ns}
            self._number += 1
            self._sent[self._number] = now_ns
            for member in members():
                world.network.send(member, AskGrant(epoch, generation, self._number, group))
            self._now.clear()
            await wait_at_most(world.clock, self._now, self.pause_ns)

    async def obtained(self, enough: Callable[[], bool], longest_ns: int) -> bool:
        """Waits for grants, asking at once; False when they have not come in time."""
        clock = self._world.clock
        end_ns = clock.monotonic_ns() + longest_ns
        self._now.set()
        while not enough():
            if clock.monotonic_ns() >= end_ns:
                return False
            self._received.clear()
            await wait_at_most(clock, self._received, self.pause_ns)
        return True


class Granter:
    """One member's grants, in one life, and its time without a heartbeat."""

    def __init__(self, world: World, cluster: ClusterConfig):
        self._network = world.network
        self._clock = world.clock
        self._outlived_ns = grant_term(cluster).outlived_ns
        now_ns = self._clock.monotonic_ns()
        self._received_ns = now_ns
        self.holder = ""
        """The server that sent the last heartbeat of the newest lock."""
        self.generation = -1
        """Generation of that lock; -1 before the first heartbeat."""
        waits = cluster.detection == "members" and not cluster.mutations.grant_forgotten
        self.until_ns = now_ns + self._outlived_ns if waits else 0
        """Time when every grant of this server has surely run out. An earlier life may have granted one just before it ended."""

    @property
    def left_ns(self) -> int:
        return max(0, self.until_ns - self._clock.monotonic_ns())

    def received(self, peer: str, generation: int) -> None:
        """Notes a heartbeat, whether it is granted or not."""
        if generation >= self.generation:
            self.holder, self.generation = peer, generation
            self._received_ns = self._clock.monotonic_ns()

    def on_heartbeat(self, peer: str, message: AskGrant, promised: int, disk: int) -> None:
        """Grants the holder of the promised epoch a lease. The grant begins just before it is acknowledged."""
        self.received(peer, message.generation)
        if message.epoch == promised:
            self.until_ns = max(self.until_ns, self._clock.monotonic_ns() + self._outlived_ns)
            self._network.send(peer, Granted(message.epoch, message.number, disk))

    def on_ask(self, peer: str, message: AskSilence) -> None:
        if not self.silent_in_ns(message.generation):
            self._network.send(peer, Silent(message.generation))

    def silent_in_ns(self, generation: int) -> int:
        """Time until the holder of this lock has been silent for a whole grant, if it stays silent; NEVER_NS when a newer lock is known."""
        if generation < self.generation:
            return NEVER_NS
        end_ns = max(self._received_ns + self._outlived_ns, self.until_ns)
        return max(0, end_ns - self._clock.monotonic_ns())
