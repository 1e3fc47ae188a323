"""The active's part in images (CFS §4.1.1; VSSP §III.D): when a standby takes one, and which journals nobody needs afterwards.

A standby takes it because there the namespace may stand still for a moment: its journal goes on and is acknowledged meanwhile.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.pages import Log
from nodes.metadata_server.answering import Answering
from nodes.metadata_server.image_wish import Wish
from nodes.metadata_server.messages import ImageGoesOn, ImageTaken, Prune, TakeImage
from nodes.metadata_server.replica import GroupReplica
from nodes.slots import GroupLog, ImageTakers, StoredImage
from nodes.wire.messages import Mark

PAPER = "VSSP §III.D"
PATIENCE_NS = 600 * SECOND
"""For an image to be written."""
SILENCE_NS = 3 * SECOND
"""Who takes an image and has not been heard of for so long takes none. It is longer than an acknowledgement may be late: an image that is begun
anew costs everybody more than one that comes later."""
LOOK_NS = 5 * MILLISECOND
LINGER_NS = 5 * SECOND
"""What a renewing session was reading is kept for so long after its end."""
GIVES_WAY_NS = 2 * SECOND
"""So long after an image the next one waits for the reports before the journals are pruned."""
TRIES = 3
"""After so many images in a row that nobody could take, juniors do without, and a log that fills has the active take one itself."""


class Imaging:
    """One tenure's orders. Nothing is pruned that a junior, a renewing session or a participant still needs."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        takers: ImageTakers,
        answering: Answering,
        epoch: int,
    ):
        self._replica = replica
        self._takers = takers
        self._answering = answering
        self._epoch = epoch
        self._ordered = ""
        """Who is taking an image now."""
        self._ordered_at_ns = 0
        self._heard_ns = 0
        self._orders = 0
        self._order_sent = TakeImage(epoch, 0, [])
        self._failures = 0
        self.taken_sn = max(replica.images.stored(), default=0)
        self._due = replica.log.last.incarnation < replica.origin.incarnation
        """The cluster has just gone back to a checkpoint: an image is taken without waiting for so many groups (CFS §4.3)."""
        self._wish = Wish()
        self._checks = False
        """Somebody wants every file of the pool to be read and compared now."""
        self._forces = False
        """The image in hand was ordered because the log filled."""
        self._counts = {False: 0, True: 0}
        """Images that were taken, by whether they were forced."""
        self._waits = False
        """The log was full when it was looked at last."""
        self._prunes = False
        """An image has come since the journals were last pruned."""
        self._surveys = False
        """Reports are waited for."""
        self._taken_at_ns = 0
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

    # --- a person's orders ----------------------------------------------------------------------------------------

    def order_now(self) -> str:
        """Why no image can be taken; empty when one will be."""
        if not self._takers.standbys():
            return "no standby is in step that could take one"
        self._wish.begin(self._orders)
        return ""

    def check_now(self) -> None:
        self._checks = True

    # --- the log (DCFS2 §4.3) --------------------------------------------------------------------------------------

    def is_full(self) -> bool:
        return self._octets >= self._replica.config.cluster.log_octets

    @property
    def _octets(self) -> int:
        return self._replica.log.octets_behind(self.taken_sn)

    @property
    def log(self) -> Log:
        return Log(self._octets, self.is_full(), self._counts[False], self._counts[True])

    def _look_at_log(self) -> None:
        """Tells when writes begin to wait, and lets them go on."""
        full = self.is_full()
        if full and not self._waits:
            most = self._replica.config.cluster.log_octets
            self._step(
                "full",
                f"{self._octets} octets of journal lie behind the image at sn {self.taken_sn}, {most} are the most: writes wait for an image",
            )
        elif self._waits and not full:
            self._step("room", f"{self._octets} octets of journal lie behind the image: writes go on")
        writer = self._answering.writer
        if not full and writer is not None and not writer.parked:
            self._answering.on_unparked()
        self._waits = full

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_image(self, peer: str, message: ImageTaken | ImageGoesOn) -> None:
        """An image counts also when its writer has fallen out of step, or been given up, meanwhile: what it wrote was committed."""
        if message.epoch != self._epoch:
            return
        asked = peer == self._ordered and message.order == self._orders
        if isinstance(message, ImageTaken) and (asked or message.holders):
            self._wish.on_image(peer, message.order, bool(message.holders))
        if isinstance(message, ImageGoesOn):
            if asked:
                self._heard_ns = self._replica.world.clock.monotonic_ns()
            return
        if asked:
            self._ordered = ""
            helps = bool(message.holders) and (message.sn > self.taken_sn or not self._forces)
            self._failures = 0 if helps else self._failures + 1
        if message.holders and message.sn > self.taken_sn:
            self._taken(message.sn, message.holders)

    def _taken(self, sn: int, holders: list[str]) -> None:
        self.taken_sn = max(self.taken_sn, sn)
        self._counts[self._forces] += 1
        self._prunes = True
        self._taken_at_ns = self._replica.world.clock.monotonic_ns()
        self._due = self._forces = False
        self._step("taken", f"{', '.join(holders)} have the image at sn {sn}")
        self._look_at_log()

    def _order(self) -> None:
        """The standbys take turns."""
        standbys = self._takers.standbys()
        if not standbys:
            return
        self._ordered = standbys[self._orders % len(standbys)]
        self._orders += 1
        self._wish.on_order(self._ordered)
        self._ordered_at_ns = self._heard_ns = self._replica.world.clock.monotonic_ns()
        others = [node for node in [*standbys, self._replica.name] if node != self._ordered]
        self._order_sent = TakeImage(self._epoch, self._orders, [self._ordered, *others])
        self._remind()
        self._step("order", f"{self._ordered} takes an image for {', '.join(others)}")

    def _remind(self) -> None:
        self._replica.world.network.send(self._ordered, self._order_sent)

    def useful(self, common_sn: int, pinned_sn: int | None = None) -> bool:
        """Whether an image, up to the pinned one where there is any, brings a junior on that has everything up to `common_sn`."""
        return (self.taken_sn if pinned_sn is None else pinned_sn) > common_sn

    @property
    def pinned_sn(self) -> int | None:
        """Where there are checkpoints to be copied, a junior is given no image beyond this one: from here its journal leads to all of them."""
        replica = self._replica
        return replica.images.pinned_sn(replica.log.base.sn + 1)

    def coming(self, common_sn: int) -> bool:
        """Whether such a junior should wait for an image that is being taken; one is ordered when there is no recent one."""
        if self.pinned_sn is not None:
            return False
        cluster = self._replica.config.cluster
        gap = self._replica.log.last.sn - self.taken_sn
        if self.useful(common_sn) and gap <= max(cluster.image_every, cluster.image_gap):
            return False
        if not self._busy() and self._failures < TRIES:
            self._order()
        return bool(self._ordered)

    def _busy(self) -> bool:
        """Whether an image is being taken; a server that has fallen silent takes none."""
        now = self._replica.world.clock.monotonic_ns()
        silent = now - self._heard_ns > SILENCE_NS or now - self._ordered_at_ns > PATIENCE_NS
        if self._ordered and silent:
            self._ordered = ""
            self._failures += 1
        return bool(self._ordered)

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("image", step, PAPER, detail, self._epoch)

    # --- procedures -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """An image every so many groups, and whenever the log is half full."""
        while True:
            await self._pause()
            self._look_at_log()
            if self._busy():
                self._remind()
                continue
            if self._gives_way():
                continue
            self._forces = 2 * self._octets >= self._replica.config.cluster.log_octets
            failure = self._wish.failure(bool(self._takers.standbys()))
            if failure:
                self._step("failed", failure)
            if self._forces and not self._others_can():
                await self._take_alone()
            elif self._forces or self._wish.stands or self._is_due():
                self._order()

    async def look_after(self) -> None:
        """What a person wants to be compared, and after each image the journals below it: a node that does not report keeps no image waiting."""
        while True:
            await self._pause()
            if self._checks:
                self._checks = False
                await self._survey(again=True)
            if self._prunes and not self._in_use and not self._busy():
                self._prunes = False
                images = await self._survey()
                if self._in_use:
                    self._prunes = True
                else:
                    self._prune(images)

    def _gives_way(self) -> bool:
        """Where an image is always due journals would never go; a full log waits for nobody's report."""
        waits = self._surveys or (self._prunes and not self._in_use)
        since_ns = self._replica.world.clock.monotonic_ns() - self._taken_at_ns
        return waits and since_ns < GIVES_WAY_NS and not self.is_full()

    async def _pause(self) -> None:
        timing = self._replica.config.cluster.timing
        await self._replica.world.clock.sleep(timing.renew_scan_ms * MILLISECOND)

    def _others_can(self) -> bool:
        """Whether a standby is there that is not known to fail. Writes that wait for room wait for one of them only."""
        return bool(self._takers.standbys()) and self._failures < (1 if self.is_full() else TRIES)

    def _is_due(self) -> bool:
        every = self._replica.config.cluster.image_every
        return bool(every) and (self._due or self._replica.state.commit_sn - self.taken_sn >= every)

    async def _take_alone(self) -> None:
        """No standby is there that could: intake waits while this server's own namespace stands still. Raises OSError."""
        replica, answering = self._replica, self._answering
        answering.hold()
        answering.still = True

        def go_on() -> None:
            if answering.still:
                answering.still = False
                answering.release()

        try:
            writer = answering.writer
            assert writer is not None
            while not writer.idle:
                if writer.parked:
                    return
                await replica.world.clock.sleep(LOOK_NS)
            mark = replica.log.mark_at(replica.state.commit_sn)
            assert mark is not None
            self._step("alone", f"{replica.name} takes an image itself: intake waits")
            holders = await replica.images.write(replica.state.namespace, mark, [replica.name], go_on)
        finally:
            go_on()
        self._failures = min(self._failures, TRIES - 1)
        if holders:
            self._taken(mark.sn, holders)

    async def _survey(self, again: bool = False) -> list[StoredImage]:
        nodes = [self._replica.name, *self._takers.standbys()]
        self._surveys = True
        try:
            return await self._replica.images.survey(nodes, again)
        finally:
            self._surveys = False

    def _prune(self, images: list[StoredImage]) -> None:
        """Journals below the newest image that is whole on a majority, at those who have it; but never what somebody is known to need."""
        safe = [image for image in images if self._takers.suffice(image.holders)]
        if not safe:
            return
        needed = self._takers.matched_sns()
        needed += [self._needed(tails, images) for tails in self.juniors.values()]
        sn = min([safe[-1].sn, *needed])
        for node in safe[-1].holders:
            if node == self._replica.name:
                self._replica.prune(sn)
                self._takers.pruned(self._replica.log.base.sn)
            else:
                self._replica.world.network.send(node, Prune(self._epoch, sn))

    def _needed(self, tails: list[Mark], images: list[StoredImage]) -> int:
        """A junior goes on from its own journal, or from any image: it may have read a part of the oldest."""
        log = self._replica.log
        common = log.agrees_up_to(tails)
        if common is not None and log.last.sn - common <= self._replica.config.cluster.image_gap:
            return common
        return min((image.sn for image in images), default=0)
