"""The active's part in images (CFS §4.1.1; VSSP §III.D): when an image is taken, and by which standby.

A standby takes the image because its namespace may be frozen for a moment. Its journal continues, and groups are acknowledged meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from nodes.config import MILLISECOND, SECOND
from nodes.families import family_named
from nodes.metadata.pages import LogCounters
from nodes.metadata_server.messages import ImageGoesOn, ImageTaken, TakeImage
from nodes.metadata_server.pruner import Pruning, pause
from nodes.metadata_server.replica import GroupReplica
from nodes.metadata_server.snapshot_request import SnapshotRequest
from nodes.slots import GroupLog, ImageTakers
from nodes.trace.events import WritesWait

PAPER = "VSSP §III.D"
PATIENCE_NS = 600 * SECOND
"""Time for an image to be written."""
SILENCE_NS = 3 * SECOND
"""A server that takes an image and is silent for this time is given up. The time is longer than an acknowledgement may be late: an image that is
begun again costs more than a late one."""
LOOK_NS = 5 * MILLISECOND
GIVES_WAY_NS = 2 * SECOND
"""Longest time that the next image waits for reports after an image, so that journals are pruned first."""
TRIES = 3
"""Number of images in a row that no server could take. After these, juniors do without, and the active takes an image itself when the log fills."""


@dataclass
class SnapshotOrder:
    """An image that a standby is taking now."""

    server: str
    sent: TakeImage
    at_ns: int
    received_ns: int

    def answered_by(self, peer: str, number: int) -> bool:
        return (peer, number) == (self.server, self.sent.order)

    def silent(self, now_ns: int) -> bool:
        return now_ns - self.received_ns > SILENCE_NS or now_ns - self.at_ns > PATIENCE_NS


class Admission(Protocol):
    """The calls of clients at the server that orders images."""

    @property
    def idle(self) -> bool:
        """Nothing is ahead of commit."""

    @property
    def stalled(self) -> bool:
        """Nothing can be committed for now."""

    def resume(self) -> None:
        """The log has room: calls that waited for it go on."""

    def freeze(self) -> None:
        """Keeps the namespace as it is, once idle, while this server takes an image of it."""

    def thaw(self) -> None:
        """Ends the freeze, if there is one."""


class Imaging:
    """One tenure's orders."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        takers: ImageTakers,
        admission: Admission,
        epoch: int,
    ):
        self._replica = replica
        self._takers = takers
        self._admission = admission
        self._epoch = epoch
        self._order: SnapshotOrder | None = None
        self._orders = 0
        self._failures = 0
        self.taken_sn = max(replica.images.stored(), default=0)
        self._due_sn = first_of_incarnation(replica)
        """An image of this sn is taken without waiting for the usual number of groups: the cluster has rolled back to a checkpoint (CFS §4.3)."""
        self._saves_others = not family_named(replica.config.cluster.protocol).cuts_journal
        """Whether a server that cannot restore the checkpoint itself waits for that image."""
        self._wish = SnapshotRequest()
        self._forces = False
        """The present image was ordered because the log filled."""
        self._counts = {False: 0, True: 0}
        """Number of images taken, by whether they were forced."""
        self._waits = False
        """The log was full at the last check."""
        self._taken_at_ns = 0
        self.pruning = Pruning(replica, takers, epoch, self._busy)

    # --- a person's orders ----------------------------------------------------------------------------------------

    def order_now(self) -> str:
        """Orders an image. Returns the reason why none can be taken; empty when one will be."""
        if not self._takers.standbys():
            return "no standby is in step that could take one"
        self._wish.begin(self._orders)
        return ""

    # --- the log (DCFS2 §4.3) --------------------------------------------------------------------------------------

    def is_full(self) -> bool:
        return self._size >= self._replica.config.cluster.log_bytes

    @property
    def _size(self) -> int:
        return self._replica.log.bytes_behind(self.taken_sn)

    @property
    def log(self) -> LogCounters:
        return LogCounters(self._size, self.is_full(), self._counts[False], self._counts[True])

    def _look_at_log(self) -> None:
        """Reports when writes begin to wait, and lets them resume."""
        full, replica = self.is_full(), self._replica
        if full != self._waits:
            self._step("full" if full else "room", f"behind the image at sn {self.taken_sn}")
            limit = replica.config.cluster.log_bytes
            replica.world.trace.emit(WritesWait(replica.group.name, full, self._size, limit))
        if not full:
            self._admission.resume()
        self._waits = full

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_image(self, peer: str, message: ImageTaken | ImageGoesOn) -> None:
        """Handles a standby's report on its image. An image counts even when its writer has meanwhile fallen out of step or been given up: its
        content was committed."""
        if message.epoch != self._epoch:
            return
        order = self._order
        asked = order is not None and order.answered_by(peer, message.order)
        if isinstance(message, ImageTaken) and (asked or message.holders):
            self._wish.on_image(peer, message.order, bool(message.holders))
        if isinstance(message, ImageGoesOn):
            if order is not None and asked:
                order.received_ns = self._replica.world.clock.monotonic_ns()
            return
        if asked:
            self._order = None
            helps = bool(message.holders) and (message.sn > self.taken_sn or not self._forces)
            self._failures = 0 if helps else self._failures + 1
        if message.holders and message.sn > self.taken_sn:
            self._taken(message.sn, message.holders)

    def _taken(self, sn: int, holders: list[str]) -> None:
        self.taken_sn = max(self.taken_sn, sn)
        self._counts[self._forces] += 1
        self.pruning.image_taken()
        self._taken_at_ns = self._replica.world.clock.monotonic_ns()
        self._forces = False
        self._step("taken", f"{', '.join(holders)} have the image at sn {sn}")
        self._look_at_log()

    def _order_next(self) -> None:
        """Orders an image from the next standby in turn."""
        standbys = self._takers.standbys()
        if not standbys:
            return
        server = standbys[self._orders % len(standbys)]
        self._orders += 1
        self._wish.on_order(server)
        now_ns = self._replica.world.clock.monotonic_ns()
        others = [node for node in [*standbys, self._replica.name] if node != server]
        self._order = SnapshotOrder(
            server, TakeImage(self._epoch, self._orders, [server, *others]), now_ns, now_ns
        )
        self._remind(self._order)
        self._step("order", f"{server} takes an image for {', '.join(others)}")

    def _remind(self, order: SnapshotOrder) -> None:
        self._replica.world.network.send(order.server, order.sent)

    def useful(self, common_sn: int, pinned_sn: int | None = None) -> bool:
        """Whether an image, at most the pinned one if any, lets a junior catch up that has everything up to `common_sn`."""
        return (self.taken_sn if pinned_sn is None else pinned_sn) > common_sn

    @property
    def pinned_sn(self) -> int | None:
        """The sn of the newest image for a junior while checkpoints must be copied: the journal behind it leads to all of them."""
        replica = self._replica
        return replica.images.pinned_sn(replica.log.base.sn + 1)

    def coming(self, common_sn: int) -> bool:
        """Whether such a junior should wait for an image that is being taken. An image is ordered when there is no recent one."""
        if self.pinned_sn is not None:
            return False
        cluster = self._replica.config.cluster
        gap = self._replica.state.commit_sn - self.taken_sn
        if self.useful(common_sn) and gap <= max(cluster.image_every, cluster.image_gap):
            return False
        if not self._busy() and self._failures < TRIES:
            self._order_next()
        return self._order is not None

    def _busy(self) -> bool:
        """Whether an image is being taken. A server that has fallen silent takes none."""
        if self._order is not None and self._order.silent(self._replica.world.clock.monotonic_ns()):
            self._order = None
            self._failures += 1
        return self._order is not None

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("image", step, PAPER, detail, self._epoch)

    # --- procedures -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Orders an image after a number of groups, and whenever the log is half full."""
        while True:
            await pause(self._replica)
            self._look_at_log()
            if self._busy():
                assert self._order is not None
                self._remind(self._order)
                continue
            if self._gives_way():
                continue
            self._forces = 2 * self._size >= self._replica.config.cluster.log_bytes
            failure = self._wish.failure(bool(self._takers.standbys()))
            if failure:
                self._step("failed", failure)
            if (self._forces or self._is_waited_for) and not self._others_can():
                await self._take_alone()
            elif self._forces or self._wish.stands or self._is_due():
                self._order_next()

    def _gives_way(self) -> bool:
        """Whether the next image waits for reports. Journals would never be pruned if images were always due. A full log waits for no report."""
        since_ns = self._replica.world.clock.monotonic_ns() - self._taken_at_ns
        return self.pruning.awaited and since_ns < GIVES_WAY_NS and not self.is_full()

    def _others_can(self) -> bool:
        """Whether a standby exists that is not known to fail. Writes that wait for room wait only for such a standby."""
        return bool(self._takers.standbys()) and self._failures < (1 if self.is_full() else TRIES)

    @property
    def _is_waited_for(self) -> bool:
        return self._saves_others and self.taken_sn < self._due_sn

    def _is_due(self) -> bool:
        every = self._replica.config.cluster.image_every
        behind = self._replica.state.commit_sn - self.taken_sn
        return self._is_waited_for or (bool(every) and (self.taken_sn < self._due_sn or behind >= every))

    async def _take_alone(self) -> None:
        """Takes an image here because no standby can. Admission waits while this server's own namespace is frozen. Raises OSError."""
        replica, admission = self._replica, self._admission
        admission.freeze()
        try:
            while not admission.idle:
                if admission.stalled:
                    return
                await replica.world.clock.sleep(LOOK_NS)
            mark = replica.log.mark_at(replica.state.applied_sn)
            assert mark is not None
            self._step("alone", f"{replica.name} takes an image itself: admission waits")
            holders = await replica.images.write(
                replica.state.namespace, mark, [replica.name], admission.thaw
            )
        finally:
            admission.thaw()
        self._failures = min(self._failures, TRIES - 1)
        if holders:
            self._taken(mark.sn, holders)


def first_of_incarnation(replica: GroupReplica[GroupLog]) -> int:
    """The sn with which the present incarnation of the cluster begins in this journal, or will begin; 0 when it began before. Raises OSError."""
    rollbacks = replica.history.rollbacks()
    incarnation = rollbacks[-1].record.number if rollbacks else replica.state.namespace.incarnation
    if incarnation < replica.origin.incarnation:
        return replica.log.last.sn + 1
    return rollbacks[-1].sn if rollbacks else 0
