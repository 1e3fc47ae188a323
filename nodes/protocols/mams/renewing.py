"""Junior renewing (CFS §4.2.3): one session at a time, the junior with the least gap first.

The junior reads image and journal from a pool node while service goes on; the final synchronisation stops intake for a moment, until its
journal is equal and the view says standby.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from nodes.config import MILLISECOND
from nodes.metadata_server.answering import Answering
from nodes.metadata_server.imaging import Imaging
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.configuration import ConfigurationKeeper
from nodes.protocols.mams.messages import Register, Renew, Renewed
from nodes.protocols.mams.ssp import Ssp
from nodes.wire.messages import Mark

FINAL_GAP = 64
"""Groups that the final synchronisation may have to send while intake stands still."""
DIRECT_GAP = 512
"""Groups that the active sends by itself, without a reading phase."""
COPY_TRIES = 2
"""Sessions in which a junior is given what the kept checkpoints need; after that the newest image will do."""
PAPER = "CFS §4.2.3"
LOOK_NS = 5 * MILLISECOND
SILENCE = 8
"""Acknowledgement time-outs without a word of the junior that end a session."""


class RenewingSessions:
    """The active's side. `juniors` are those that have registered in this epoch and are not in step."""

    def __init__(
        self,
        replica: Replica,
        sync: Ssp,
        keeper: ConfigurationKeeper,
        answering: Answering,
        imaging: Imaging,
        epoch: int,
    ):
        self._replica = replica
        self._sync = sync
        self._keeper = keeper
        self._answering = answering
        self._imaging = imaging
        self._epoch = epoch
        self.juniors = imaging.juniors
        self.leaving: list[str] = []
        """Servers that are to be removed in this tenure: they are not renewed any more."""
        self._seen: set[str] = set()
        """The juniors of the scan before: who has just come is left until the next, so that those who come together are seen together."""
        self._attempts: Counter[str] = Counter()
        """Sessions since a junior was last in step: one that fails does not keep the others waiting."""
        self._awaited: dict[str, int] = {}
        """By junior that waits for an image: sn of the newest one when it began to wait."""
        self._disks: dict[str, int] = {}
        """Of those that have registered."""
        self._reading = ""
        self._finishing = ""
        self._progress = asyncio.Event()
        self._phase = ""
        self._reached: Mark | None = None

    @property
    def advances(self) -> bool:
        """Whether a junior is being renewed that has answered in this session."""
        if self._finishing:
            participant = self._sync.participants.get(self._finishing)
            return participant is not None and participant.confirmed
        return bool(self._reading and self._phase)

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_register(self, peer: str, message: Register) -> None:
        """A server that registers has no place in step: it is no participant until it is renewed."""
        ours = message.incarnation == self._replica.origin.incarnation
        if message.epoch != self._epoch or not ours or not message.tails:
            return
        if peer != self._finishing:
            self._sync.participants.pop(peer, None)
        if peer not in self.leaving:
            self.juniors[peer] = message.tails
        self._disks[peer] = message.disk.instance

    def on_renewed(self, peer: str, message: Renewed) -> None:
        if peer == self._reading and message.epoch == self._epoch:
            self._phase = message.phase
            self._reached = message.mark if message.phase == "done" else None
            self._progress.set()

    def on_lost(self, participant: str) -> None:
        timeout_ms = self._replica.config.cluster.timing.ack_timeout_ms
        detail = f"{participant} has not acknowledged for {timeout_ms} ms and is sent no more journals"
        self._replica.step("shrink", "ACK", "CFS §4.1.2", detail, self._epoch)

    def on_far(self, participant: str, tails: list[Mark]) -> None:
        self._sync.participants.pop(participant, None)

    # --- procedure ------------------------------------------------------------------------------------------------

    async def renew_one(self) -> None:
        """One scan: opens a session with the nearest junior that the scan before saw too, if there is one. Raises LostLock."""
        waiting = [name for name in self.juniors if name in self._seen]
        self._seen = set(self.juniors)
        if not waiting:
            return
        junior = min(waiting, key=lambda name: (self._attempts[name], self._gap(self.juniors[name]), name))
        self._attempts[junior] += 1
        common = self._common(self.juniors[junior])
        if self._wants_image(common) and self._awaits_image(junior, common):
            return
        del self.juniors[junior]
        self._awaited.pop(junior, None)
        self._imaging.begin_session()
        try:
            await self._renew(junior, common)
        finally:
            self._imaging.end_session()

    async def _renew(self, junior: str, common: int) -> None:
        gap = self._replica.log.last.sn - common
        self._step("open", f"{junior} lacks {gap} groups")
        direct = self._replica.config.cluster.knobs.direct_groups or DIRECT_GAP
        while gap > direct or common < self._replica.log.base.sn:
            mark = await self._let_read(junior, common)
            common, before = self._common([mark]) if mark is not None else common, gap
            gap = self._replica.log.last.sn - common
            if gap >= before:
                return
        await self._finish(junior, common)

    def _common(self, tails: list[Mark]) -> int:
        common = self._replica.log.agrees_up_to(tails)
        return 0 if common is None else common

    def _gap(self, tails: list[Mark]) -> int:
        return self._replica.log.last.sn - self._common(tails)

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("renewing", step, PAPER, detail, self._epoch)

    def _wants_image(self, common: int) -> bool:
        """The journal from there on is not here any more, or would take longer."""
        gap = self._replica.log.last.sn - common
        return gap > self._replica.config.cluster.image_gap or common < self._replica.log.base.sn

    def _awaits_image(self, junior: str, common: int) -> bool:
        """One image at most: where much is written while one is taken, the next is no more recent."""
        imaging = self._imaging
        came = imaging.taken_sn > self._awaited.setdefault(junior, imaging.taken_sn)
        return not (came and imaging.useful(common)) and imaging.coming(common)

    async def _let_read(self, junior: str, keep_sn: int) -> Mark | None:
        """The junior reads image and journal; gives the end of its journal then, None when it failed or fell silent."""
        replica = self._replica
        pinned_sn = self._imaging.pinned_sn if self._attempts[junior] <= COPY_TRIES else None
        image = self._wants_image(keep_sn) and self._imaging.useful(keep_sn, pinned_sn)
        sources = [*self._sync.participants, replica.name]
        renew = Renew(self._epoch, keep_sn, replica.state.commit_sn, sources, image, pinned_sn or 0)
        replica.world.network.send(junior, renew)
        self._step(
            "image" if image else "journal",
            f"{junior} reads from {', '.join(sources)} up to sn {renew.goal_sn}",
        )
        self._reading, self._phase, self._reached = junior, "", None
        patience_ns = SILENCE * replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        while self._phase not in ("done", "failed"):
            self._progress.clear()
            timer = replica.world.clock.call_later(patience_ns, self._fall_silent)
            await self._progress.wait()
            timer.cancel()
        self._reading = ""
        return self._reached

    def _fall_silent(self) -> None:
        self._phase = "failed"
        self._progress.set()

    async def _finish(self, junior: str, common: int) -> None:
        """Final synchronisation: the junior becomes a participant; intake waits until it has all, and is a standby in the view."""
        matched = self._replica.log.mark_at(common)
        if matched is None:
            return
        self._finishing = junior
        try:
            participant = self._sync.admit(junior, matched, self._disks[junior])
            if (
                await self._comes_within(junior, FINAL_GAP)
                and self._sync.participants.get(junior) is participant
            ):
                await self._synchronise(junior)
        finally:
            self._finishing = ""

    async def _synchronise(self, junior: str) -> None:
        began_ns = self._replica.world.clock.monotonic_ns()
        self._answering.hold()
        try:
            grown = await self._comes_within(junior, 0) and await self._keeper.grow(junior)
        finally:
            self._answering.release()
        if grown:
            took_ms = (self._replica.world.clock.monotonic_ns() - began_ns) / MILLISECOND
            self._step(
                "standby",
                f"{junior} is in step at sn {self._replica.log.last.sn} after {took_ms:.1f} ms without intake",
            )
            self.juniors.pop(junior, None)
            del self._attempts[junior]
        else:
            self._sync.participants.pop(junior, None)

    async def _comes_within(self, junior: str, gap: int) -> bool:
        """Waits until the participant lacks no more than `gap` groups; False when it is given up."""
        while True:
            participant = self._sync.participants.get(junior)
            if participant is None:
                return False
            if participant.confirmed and self._replica.log.last.sn - participant.matched.sn <= gap:
                return True
            await self._replica.world.clock.sleep(LOOK_NS)
