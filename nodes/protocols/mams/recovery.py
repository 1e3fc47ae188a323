"""Between steps 3 and 4 of the upgrade: members of the last configuration report their journals to the elected (safety rules 1-4).

The elected needs R = N - W + 1 members whose disks the record names, and counts itself if it is one (safety rule 23). A member promises the new
epoch durably before it reports its journal. So the journal that ends last, by (incarnation, epoch, sn), has every acknowledged group.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica, keep_aside
from nodes.protocols.mams.messages import FetchGroups, Groups, Prepare, Promise, Recover
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.protocols.mams.rules import ElectionRules
from nodes.replicas.disks import Roll
from nodes.replicas.grants import NEVER_NS
from nodes.replicas.view import Configuration
from nodes.trace.events import Renewing
from nodes.units import DiskId
from nodes.wire.messages import Mark

ASK_AGAIN_NS = 100 * MILLISECOND
FETCH_NS = 2_000 * MILLISECOND


class JournalRecovery:
    """Collects promises for one epoch and adopts the journal that ends last."""

    def __init__(
        self,
        replica: Replica,
        pool: PoolJournal,
        epoch: int,
        configuration: Configuration,
        rules: ElectionRules,
    ):
        self._replica = replica
        self._pool = pool
        self._rules = rules
        self.epoch = epoch
        self.configuration = configuration
        """The last recorded configuration."""
        self.promises: dict[str, Promise] = {}
        self._grants_end_ns = {replica.name: pool.granter.until_ns}
        """Time when the grants of each server that has promised have surely run out; it grants none in an earlier epoch any more."""
        self._received = asyncio.Event()

    def on_promise(self, peer: str, message: Promise) -> None:
        if message.epoch == self.epoch:
            self.promises[peer] = message
            self._grants_end_ns[peer] = self._replica.world.clock.monotonic_ns() + message.grant_ns
            self._received.set()

    def ask(self, members: list[str]) -> None:
        for member in members:
            if member != self._replica.name:
                self._replica.world.network.send(
                    member, Recover(self.epoch, self._replica.origin.incarnation)
                )

    def _roll(self) -> tuple[Roll, dict[str, DiskId]]:
        """The members with their recorded disks, and the disks of the servers that have promised, this one included."""
        replica = self._replica
        mutation = replica.config.cluster.mutations.replaced_disk_votes
        disks = {peer: promise.disk for peer, promise in self.promises.items()}
        disks[replica.name] = replica.identity.id
        return Roll(self.configuration.members, self.configuration.disks, mutation), disks

    @property
    def received(self) -> int:
        """Number of members that count and have promised, this server included."""
        roll, disks = self._roll()
        return len(roll.whole(disks))

    @property
    def suffices(self) -> bool:
        """Whether a read quorum of members that count has promised, or every member has."""
        roll, disks = self._roll()
        return roll.suffices(self._rules.read_quorum(len(self.configuration.members)), disks)

    def unsure(self, servers: list[str]) -> list[str]:
        """Servers that have not promised; each is asked again. A server that promised this epoch replies to no client."""
        unsure = [server for server in servers if server not in self.promises]
        self.ask(unsure)
        return unsure

    def grants_end_ns(self) -> int:
        """Time when no earlier holder of the lock can have the grants of a write quorum; NEVER_NS while too few have promised (safety rule 26)."""
        cluster = self._replica.config.cluster
        if cluster.detection != "members" or not self.suffices:
            return NEVER_NS
        if cluster.mutations.grant_outrun:
            return 0
        roll, disks = self._roll()
        quorum, counted = self.configuration.read_quorum, roll.whole(disks)
        if len(counted) < quorum:
            quorum, counted = len(roll.members), roll.members
        return sorted(self._grants_end_ns.get(member, NEVER_NS) for member in counted)[quorum - 1]

    async def begin_from_image(self) -> None:
        """Continues behind an image on this disk that ends later than the journal: all of it was acknowledged. Raises OSError."""
        replica = self._replica
        stored = replica.images.newest(lambda mark: mark > replica.last)
        if stored is None:
            return
        namespace, mark = stored
        await keep_aside(replica, mark.sn)
        replica.state.restart(namespace, mark.sn)
        await replica.log.restart_at(mark)
        replica.world.trace.emit(Renewing("image", mark.sn, mark.sn))

    def force(self) -> None:
        """Reports the possible loss when the elected continues without a read quorum."""
        members, last = self.configuration.members, self._replica.last
        silent = [m for m in members if m not in self.promises and m != self._replica.name]
        lost = f"what {', '.join(silent)} alone may hold after it is lost"
        self._replica.forcing.step("3b", f"goes on at sn {last.sn} of epoch {last.epoch}: {lost}")

    async def hear(self, timeout_ns: int) -> bool:
        """Asks until a read quorum has promised; False after the time-out."""
        clock = self._replica.world.clock
        deadline = clock.monotonic_ns() + timeout_ns
        while not self.suffices:
            if clock.monotonic_ns() >= deadline:
                return False
            self.ask([member for member in self.configuration.members if member not in self.promises])
            self._received.clear()
            timer = clock.call_later(ASK_AGAIN_NS, self._received.set)
            await self._received.wait()
            timer.cancel()
        return True

    def longest(self) -> str:
        """The member whose journal ends last; this server when none ends later (safety rule 18)."""
        if self._replica.config.cluster.holes.checksum_vote:
            return self._outvoted()
        return self._rules.newest(self._ends(), self._replica.name)

    def _ends(self) -> dict[str, Mark]:
        """The ends of the journals of this server and of the members that have promised."""
        return {self._replica.name: self._replica.log.last} | {
            peer: promise.tails[-1]
            for peer, promise in sorted(self.promises.items())
            if peer in self.configuration.members
        }

    def _outvoted(self) -> str:
        """The hole: the most frequent checksum of a last group wins (VSSP §III.B), however far the journals reach."""
        ends = self._ends()
        votes = Counter(mark.crc for mark in ends.values())
        return max(ends, key=lambda name: votes[ends[name].crc])

    async def adopt(self, source: str) -> bool:
        """Makes this journal equal to the source's, durably; False when they share no mark or the source does not answer."""
        replica, tails = self._replica, self.promises[source].tails
        goal = tails[-1]
        common = replica.log.agrees_up_to(tails)
        if common is None:
            return False
        while not replica.log.holds(goal):
            previous = replica.log.mark_at(common)
            assert previous is not None
            question = FetchGroups(0, self.epoch, common + 1, goal.sn)
            reply = await replica.calls.ask(source, question, FETCH_NS)
            if not isinstance(reply, Groups) or not reply.groups:
                return False
            await self._pool.adopt(Prepare(self.epoch, replica.state.commit_sn, previous, reply.groups))
            common += len(reply.groups)
        return True
