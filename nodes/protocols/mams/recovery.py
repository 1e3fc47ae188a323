"""Between steps 2 and 3 of the upgrade: the elected hears what the last configuration has (safety rules 1-4).

It needs R = N - W + 1 members whose disks the record names, itself among them if it is one (safety rule 23). Each has durably promised the new
epoch before it told its journal, so whatever was acknowledged is in the journal that ends last, by (incarnation, epoch, sn).
"""

from __future__ import annotations

import asyncio
from collections import Counter

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.messages import FetchGroups, Groups, Prepare, Promise, Recover
from nodes.protocols.mams.pool_node import PoolNode
from nodes.replicas.disks import Roll
from nodes.replicas.view import Configuration
from nodes.storage.identity import DiskId
from nodes.wire.messages import Mark

ASK_AGAIN_NS = 100 * MILLISECOND
FETCH_NS = 2_000 * MILLISECOND


class Recovery:
    """Collects promises for one epoch and adopts the journal that ends last."""

    def __init__(self, replica: Replica, pool: PoolNode, epoch: int):
        self._replica = replica
        self._pool = pool
        self.epoch = epoch
        self.promises: dict[str, Promise] = {}
        self._heard = asyncio.Event()

    def on_promise(self, peer: str, message: Promise) -> None:
        if message.epoch == self.epoch:
            self.promises[peer] = message
            self._heard.set()

    def ask(self, members: list[str]) -> None:
        for member in members:
            if member != self._replica.name:
                self._replica.world.network.send(
                    member, Recover(self.epoch, self._replica.origin.incarnation)
                )

    def _roll(self, configuration: Configuration) -> tuple[Roll, dict[str, DiskId]]:
        """Who counts, and the disks of those that have promised, ourselves among them."""
        replica = self._replica
        mutation = replica.config.cluster.mutations.replaced_disk_votes
        disks = {peer: promise.disk for peer, promise in self.promises.items()}
        disks[replica.name] = replica.identity.id
        return Roll(configuration.members, configuration.disks, mutation), disks

    def heard(self, configuration: Configuration) -> int:
        """How many members that count have promised, ourselves counted."""
        roll, disks = self._roll(configuration)
        return len(roll.whole(disks))

    def suffices(self, configuration: Configuration) -> bool:
        """Whether a read quorum of members that count has promised, or every member has."""
        roll, disks = self._roll(configuration)
        return roll.suffices(configuration.read_quorum, disks)

    def is_recorded(self, configuration: Configuration, peer: str) -> bool:
        """Whether the disk that this server promised with is the one that the record names."""
        roll, disks = self._roll(configuration)
        return peer in roll.whole(disks)

    def silent(self, configuration: Configuration) -> list[str]:
        """Members that have not promised."""
        return [m for m in configuration.members if m not in self.promises and m != self._replica.name]

    async def hear(self, configuration: Configuration, timeout_ns: int) -> bool:
        """Asks until a read quorum has promised; False when the time is over."""
        clock = self._replica.world.clock
        deadline = clock.monotonic_ns() + timeout_ns
        while not self.suffices(configuration):
            if clock.monotonic_ns() >= deadline:
                return False
            self.ask([member for member in configuration.members if member not in self.promises])
            self._heard.clear()
            timer = clock.call_later(ASK_AGAIN_NS, self._heard.set)
            await self._heard.wait()
            timer.cancel()
        return True

    def longest(self, configuration: Configuration) -> str:
        """The member whose journal ends last, ourselves when none ends later (safety rule 18)."""
        if self._replica.config.cluster.holes.checksum_vote:
            return self._outvoted(configuration)
        best, name = self._rank(self._replica.log.last), self._replica.name
        for peer in sorted(self.promises):
            rank = self._rank(self.promises[peer].tails[-1])
            if peer in configuration.members and rank > best:
                best, name = rank, peer
        return name

    def _outvoted(self, configuration: Configuration) -> str:
        """The hole: equal checksums of the last group are believed over fewer (VSSP §III.B), however far the journals reach."""
        ends = {self._replica.name: self._replica.log.last}
        ends |= {
            peer: promise.tails[-1]
            for peer, promise in sorted(self.promises.items())
            if peer in configuration.members
        }
        votes = Counter(mark.crc for mark in ends.values())
        return max(ends, key=lambda name: votes[ends[name].crc])

    def _rank(self, mark: Mark) -> tuple[int, int, int]:
        return mark.incarnation, mark.epoch, mark.sn

    async def adopt(self, source: str) -> bool:
        """Makes our journal equal to the source's, durably; False when it does not answer."""
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
