"""The active's part in images (CFS §4.1.1; VSSP §III.D): when a standby takes one, and which journals nobody needs afterwards.

A standby takes it because there the namespace may stand still for a moment: its journal goes on and is acknowledged meanwhile.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, SECOND
from nodes.protocols.mams.configuration import ConfigurationKeeper
from nodes.protocols.mams.messages import ImageTaken, Prune, TakeImage
from nodes.protocols.mams.replica import Replica
from nodes.protocols.mams.writer import JournalWriter
from nodes.scope import Scope
from nodes.slots import StoredImage
from nodes.wire.messages import Mark

PAPER = "VSSP §III.D"
PATIENCE_NS = 600 * SECOND
"""For an image to be written; a standby that is lost is given up at once."""
GROUPS_AT_ONCE = 8
"""Groups that a standby applies in one turn after its namespace stood still."""
LINGER_NS = 5 * SECOND
"""What a renewing session was reading is kept for so long after its end."""
TRIES = 3
"""After so many images in a row that nobody could take, juniors do without."""


class Imaging:
    """One tenure's orders. Nothing is pruned that a junior, a renewing session or a participant still needs."""

    def __init__(self, replica: Replica, writer: JournalWriter, keeper: ConfigurationKeeper, epoch: int):
        self._replica = replica
        self._writer = writer
        self._keeper = keeper
        self._epoch = epoch
        self._ordered = ""
        """Who is taking an image now."""
        self._ordered_at_ns = 0
        self._orders = 0
        self._order_sent = TakeImage(epoch, 0, [])
        self._failures = 0
        self._taken_sn = max(replica.images.stored(), default=0)
        self._due = replica.log.last.incarnation < replica.origin.incarnation
        """The cluster has just gone back to a checkpoint: an image is taken without waiting for so many groups (CFS §4.3)."""
        self._prunes = False
        """An image has come since the journals were last pruned."""
        self._sessions = 0
        self._session_ended_ns = -LINGER_NS
        self.juniors: dict[str, list[Mark]] = {}
        """Those that are not in step, with the ends of their journals."""

    # --- renewing sessions ----------------------------------------------------------------------------------------

    def begin_session(self) -> None:
        self._sessions += 1

    def end_session(self) -> None:
        self._sessions -= 1
        self._session_ended_ns = self._replica.world.clock.monotonic_ns()

    @property
    def _in_use(self) -> bool:
        """Somebody reads what would be pruned, or may come back to it."""
        since_ns = self._replica.world.clock.monotonic_ns() - self._session_ended_ns
        return self._sessions > 0 or since_ns < LINGER_NS

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_image_taken(self, peer: str, message: ImageTaken) -> None:
        if peer != self._ordered or (message.epoch, message.order) != (self._epoch, self._orders):
            return
        self._ordered = ""
        self._failures = 0 if message.holders else self._failures + 1
        if message.holders:
            self._taken_sn = max(self._taken_sn, message.sn)
            self._prunes = True
            self._due = False
            self._step("taken", f"{', '.join(message.holders)} have the image at sn {message.sn}")

    def _order(self) -> None:
        """The standbys take turns."""
        standbys = list(self._writer.participants)
        if not standbys:
            return
        self._ordered = standbys[self._orders % len(standbys)]
        self._orders += 1
        self._ordered_at_ns = self._replica.world.clock.monotonic_ns()
        others = [node for node in [*standbys, self._replica.name] if node != self._ordered]
        self._order_sent = TakeImage(self._epoch, self._orders, [self._ordered, *others])
        self._remind()
        self._step("order", f"{self._ordered} takes an image for {', '.join(others)}")

    def _remind(self) -> None:
        self._replica.world.network.send(self._ordered, self._order_sent)

    def useful(self, common_sn: int) -> bool:
        """Whether an image brings a junior on that has everything up to `common_sn`."""
        return self._taken_sn > common_sn

    def coming(self, common_sn: int) -> bool:
        """Whether such a junior should wait for an image that is being taken; one is ordered when there is no recent one."""
        cluster = self._replica.config.cluster
        gap = self._replica.log.last.sn - self._taken_sn
        if self.useful(common_sn) and gap <= max(cluster.image_every, cluster.image_gap):
            return False
        if not self._busy() and self._failures < TRIES:
            self._order()
        return bool(self._ordered)

    def _busy(self) -> bool:
        """Whether an image is being taken; a standby that is gone takes none."""
        if self._ordered and (
            self._ordered not in self._writer.participants
            or self._replica.world.clock.monotonic_ns() - self._ordered_at_ns > PATIENCE_NS
        ):
            self._ordered = ""
        return bool(self._ordered)

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("image", step, PAPER, detail, self._epoch)

    # --- procedures -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """An image every so many groups; then the journals below it go."""
        every = self._replica.config.cluster.image_every
        pause_ns = self._replica.config.cluster.timing.renew_scan_ms * MILLISECOND
        while True:
            await self._replica.world.clock.sleep(pause_ns)
            if self._busy():
                self._remind()
                continue
            if every and (self._due or self._replica.state.commit_sn - self._taken_sn >= every):
                self._order()
            elif self._prunes and not self._in_use:
                images = await self._survey()
                self._prunes = self._in_use
                if not self._prunes:
                    self._prune(images)

    async def _survey(self) -> list[StoredImage]:
        nodes = [self._replica.name, *self._writer.participants]
        return await self._replica.images.survey(nodes)

    def _prune(self, images: list[StoredImage]) -> None:
        """Journals below the newest image that is whole on a majority, at those who have it; but never what somebody is known to need."""
        configuration = self._keeper.present
        safe = [
            image
            for image in images
            if sum(node in image.holders for node in configuration.members) >= configuration.write_quorum
        ]
        if not safe:
            return
        needed = [participant.matched.sn for participant in self._writer.participants.values()]
        needed += [self._needed(tails, images) for tails in self.juniors.values()]
        sn = min([safe[-1].sn, *needed])
        for node in safe[-1].holders:
            if node == self._replica.name:
                self._replica.prune(sn)
            else:
                self._replica.world.network.send(node, Prune(self._epoch, sn))

    def _needed(self, tails: list[Mark], images: list[StoredImage]) -> int:
        """A junior goes on from its own journal, or from any image: it may have read a part of the oldest."""
        log = self._replica.log
        common = log.agrees_up_to(tails)
        if common is not None and log.last.sn - common <= self._replica.config.cluster.image_gap:
            return common
        return min((image.sn for image in images), default=0)


async def take_image(replica: Replica, active: str, order: TakeImage, scope: Scope) -> None:
    """The standby's part: its namespace stands still while the image is made, some milliseconds at a time. Raises OSError."""
    state = replica.state
    mark = replica.log.mark_at(state.applied_sn)
    assert mark is not None, f"sn {state.applied_sn} is applied and not in the journal"

    def dumped() -> None:
        scope.spawn(_catch_up(replica), "catch up")

    state.freeze()
    holders = await replica.images.write(state.namespace, mark, order.replicas, dumped)
    replica.world.network.send(active, ImageTaken(order.epoch, order.order, mark.sn, holders))


async def _catch_up(replica: Replica) -> None:
    while not replica.state.catch_up(GROUPS_AT_ONCE):
        await replica.world.clock.sleep(0)


class Photographer:
    """On every server: carries out the active's order for an image while there is nothing else to do."""

    def __init__(self, replica: Replica):
        self._replica = replica
        self._scope: Scope | None = None

    def on_order(self, peer: str, order: TakeImage, session: Scope | None) -> None:
        """Says that it takes none when it has another in hand or may not (no `session`); an order in hand is not heard again."""
        name = f"image {order.order} of epoch {order.epoch}"
        busy = self._scope is not None and self._scope.busy
        if busy and self._scope is not None and self._scope.name == name:
            return
        if busy or session is None:
            self._replica.world.network.send(peer, ImageTaken(order.epoch, order.order, 0, []))
            return
        self.stop()
        self._scope = session.child(name)
        self._scope.spawn(take_image(self._replica, peer, order, self._scope), "image")

    def stop(self) -> None:
        """The namespace may change again."""
        if self._scope is not None:
            self._scope.close()
            self._scope = None
            self._replica.state.thaw()
