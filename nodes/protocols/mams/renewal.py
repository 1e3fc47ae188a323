"""Junior renewing (CFS §4.2.3), the active's side: `RenewingSessions.renew_one` is the protocol. The junior's side is `pool_reader.py`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.metadata_server.request_handler import RequestHandler
from nodes.metadata_server.snapshots import Imaging
from nodes.protocols.mams.configuration import ConfigurationKeeper
from nodes.protocols.mams.messages import Register, Renew, Renewed
from nodes.protocols.mams.rules import RenewingRules, Waiting
from nodes.protocols.mams.ssp import Participant, Ssp
from nodes.replicas.log import NOTHING
from nodes.wire.messages import Mark

FINAL_GAP = 64
"""Largest number of groups that the final synchronisation sends while admission is held."""
DIRECT_GAP = 512
"""Largest gap in groups that the active sends by itself, without a reading phase."""
COPY_TRIES = 2
"""Sessions in which a junior copies what the kept checkpoints need. Later sessions use the newest image."""
PAPER = "CFS §4.2.3"
LOOK_NS = 5 * MILLISECOND
SILENCE = 8
"""Acknowledgement time-outs without a message from the junior after which a session ends."""


class RenewingSessions:
    """The active's side. `juniors` has the journal tails of each server that registered in this epoch and is not in step."""

    def __init__(
        self,
        replica: Replica,
        sync: Ssp,
        keeper: ConfigurationKeeper,
        answering: RequestHandler,
        imaging: Imaging,
        rules: RenewingRules,
    ):
        self._replica = replica
        self._rules = rules
        self._sync = sync
        self._keeper = keeper
        self._answering = answering
        self._imaging = imaging
        self._epoch = sync.epoch
        self.juniors = imaging.pruning.juniors
        self.leaving: set[str] = set()
        """Servers to remove in this tenure. The active no longer renews them."""
        self._seen: set[str] = set()
        """Juniors of the scan before. A new junior waits for the next scan, so juniors that arrive together are compared."""
        self._attempts: Counter[str] = Counter()
        """Sessions since a junior was last in step, by name. A junior that fails does not keep the others waiting."""
        self._awaited: dict[str, int] = {}
        """Sn of the newest image when a junior began to wait for one, by name."""
        self._disks: dict[str, int] = {}
        """Disk instances of the registered servers, by name."""
        self._imageless: set[str] = set()
        """Juniors that could not read the image in their last session: it may lie on no server that is there."""
        self._reading = ""
        self._finishing = ""
        self._progress = asyncio.Event()
        self._renewed: Renewed | None = None
        """Last progress report of the junior that reads."""

    @property
    def advances(self) -> bool:
        """Whether the junior in renewal has answered in this session."""
        if self._finishing:
            participant = self._sync.participants.get(self._finishing)
            return participant is not None and participant.confirmed
        return bool(self._reading) and self._renewed is not None

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_register(self, peer: str, message: Register) -> None:
        """A server that registers is not in step. It is no participant until it is renewed."""
        ours = message.incarnation == self._replica.origin.incarnation
        if message.epoch != self._epoch or not ours or not message.tails:
            return
        there = self._sync.participants.get(peer)
        if there is not None and (peer != self._finishing or there.disk != message.disk.instance):
            self._sync.participants.pop(peer)
        if peer not in self.leaving:
            self.juniors[peer] = message.tails
        self._disks[peer] = message.disk.instance

    def on_renewed(self, peer: str, message: Renewed) -> None:
        if peer == self._reading and message.epoch == self._epoch:
            self._renewed = message
            self._progress.set()

    # --- procedure ------------------------------------------------------------------------------------------------

    async def renew_one(self) -> None:
        """One scan of the juniors (CFS §4.2.3): a session with the nearest one.

        The junior reads image and journals from the pool while service goes on. The active then sends it the remaining groups. Admission is held
        until the journals are equal and the junior is a standby. Raises LostLock, ConnectionLoss.
        """
        junior = self._select()
        if not junior:
            return
        tails = self.juniors[junior]
        common = self._common(tails)
        if self._awaits_image(junior, common):
            return
        self._open(junior, common)
        try:
            matched = await self._let_read_from_pool(junior, tails)
            if matched is not None and await self._send_the_rest(junior, matched):
                await self._synchronise(junior)
        finally:
            self._finishing = ""
            self._imaging.pruning.end_session()

    def _select(self) -> str:
        """The nearest junior of those with the fewest sessions, empty when there is none.

        A junior is eligible from its second scan on.
        """
        waiting = [name for name in self.juniors if name in self._seen]
        self._seen = set(self.juniors)
        if not waiting:
            return ""
        junior = self._rules.next_junior(
            {name: Waiting(self._attempts[name], self._common(self.juniors[name])) for name in waiting}
        )
        self._attempts[junior] += 1
        return junior

    def _open(self, junior: str, common: int) -> None:
        del self.juniors[junior]
        self._awaited.pop(junior, None)
        self._imaging.pruning.begin_session()
        self._step("open", f"{junior} lacks {self._replica.log.last.sn - common} groups")

    async def _let_read_from_pool(self, junior: str, tails: list[Mark]) -> Mark | None:
        """The junior reads committed groups until its gap is small enough for the active to send the rest. One whose journal has nothing in common
        with this one reads first: the groups do not follow on what it has.

        Returns the mark up to which the journals agree, None when the gap does not shrink.
        """
        log = self._replica.log
        direct = self._replica.config.cluster.knobs.direct_groups or DIRECT_GAP
        apart = log.agrees_up_to(tails) is None
        common = self._common(tails)
        gap = self._readable(common)
        while self._rules.reads_from_pool(gap, direct, apart or common < log.base.sn):
            mark = await self._let_read(junior, common, apart and not log.base.sn)
            if mark is None:
                return None
            common, before = self._common([mark]), gap
            gap = self._readable(common)
            if gap >= before and not apart:
                return None
            apart = False
        return log.mark_at(common)

    def _readable(self, common: int) -> int:
        """Number of groups after `common` that the junior can read: images and the pool have only committed ones. The active sends the rest, however
        many failed takeovers have left: without this junior none of them might ever be committed."""
        return max(0, self._replica.state.commit_sn - common)

    def _common(self, tails: list[Mark]) -> int:
        common = self._replica.log.agrees_up_to(tails)
        return 0 if common is None else common

    def _step(self, step: str, detail: str, took_ms: float = 0.0) -> None:
        self._replica.step("renewing", step, PAPER, detail, self._epoch, took_ms=took_ms)

    def _wants_image(self, common: int) -> bool:
        """Whether this log no longer has the groups after `common`, or reading them would take longer than an image."""
        pruned = common < self._replica.log.base.sn
        return self._rules.wants_image(self._readable(common), self._replica.config.cluster.image_gap, pruned)

    def _awaits_image(self, junior: str, common: int) -> bool:
        """Whether the junior waits for an image. It waits for one at most: under steady writes the next has as large a gap."""
        if not self._wants_image(common):
            return False
        imaging = self._imaging
        came = imaging.taken_sn > self._awaited.setdefault(junior, imaging.taken_sn)
        return not (came and imaging.useful(common)) and imaging.coming(common)

    def _reads_image(self, junior: str, keep_sn: int, pinned_sn: int | None) -> bool:
        """Whether the junior begins from an image. After one that it could not read it continues with the journal, where this one is whole."""
        whole = keep_sn >= self._replica.log.base.sn
        if junior in self._imageless and whole:
            self._imageless.discard(junior)
            return False
        return self._wants_image(keep_sn) and self._imaging.useful(keep_sn, pinned_sn)

    async def _let_read(self, junior: str, keep_sn: int, anew: bool) -> Mark | None:
        """The junior reads image and journal, or the journal `anew`. Returns the end of its journal, None when it failed or fell silent."""
        replica = self._replica
        pinned_sn = self._imaging.pinned_sn if self._attempts[junior] <= COPY_TRIES else None
        image = self._reads_image(junior, keep_sn, pinned_sn)
        sources = [*self._sync.participants, replica.name]
        renew = Renew(self._epoch, keep_sn, replica.state.commit_sn, sources, image, pinned_sn or 0, anew)
        replica.world.network.send(junior, renew)
        self._step(
            "image" if image else "journal",
            f"{junior} reads from {', '.join(sources)} up to sn {renew.goal_sn}",
        )
        self._reading, self._renewed = junior, None
        patience_ns = SILENCE * replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        while self._renewed is None or self._renewed.phase not in ("done", "failed"):
            self._progress.clear()
            timer = replica.world.clock.call_later(patience_ns, self._fall_silent)
            await self._progress.wait()
            timer.cancel()
        self._reading = ""
        if image and self._renewed.phase == "failed":
            self._imageless.add(junior)
        return self._renewed.mark if self._renewed.phase == "done" else None

    def _fall_silent(self) -> None:
        self._renewed = Renewed(self._epoch, "failed", NOTHING)
        self._progress.set()

    async def _send_the_rest(self, junior: str, matched: Mark) -> bool:
        """Makes the junior a participant that does not count yet.

        Returns whether it has come within `FINAL_GAP` groups and still is that participant.
        """
        self._finishing = junior
        participant = self._sync.admit(junior, matched, self._disks[junior])
        near = await self._comes_within(junior, FINAL_GAP) and await self._keeper.granted(
            junior, participant.disk
        )
        still = self._sync.participants.get(junior) is participant
        if still and not near:
            self._sync.lose(junior)
        return still and near

    async def _synchronise(self, junior: str) -> None:
        """The final synchronisation: admission is held until the junior has the same sn and is a standby of the view."""
        began_ns = self._replica.world.clock.monotonic_ns()
        self._answering.backlog.hold()
        try:
            grown = await self._comes_in_step(junior) and await self._keeper.grow(junior)
        finally:
            self._answering.backlog.release()
        if grown:
            took_ms = (self._replica.world.clock.monotonic_ns() - began_ns) / MILLISECOND
            self._step(
                "standby",
                f"{junior} is in step at sn {self._replica.log.last.sn}",
                took_ms,
            )
            if junior in self._sync.participants:  # Else it has registered with another disk meanwhile.
                self.juniors.pop(junior, None)
            del self._attempts[junior]
        else:
            self._sync.participants.pop(junior, None)

    async def _comes_within(self, junior: str, gap: int) -> bool:
        """Waits until the participant lacks no more than `gap` groups; False when it is no participant any more."""
        return await self._comes(
            junior, lambda p: p.confirmed and self._replica.log.last.sn - p.matched.sn <= gap
        )

    async def _comes_in_step(self, junior: str) -> bool:
        """Waits until the participant has every group; False when it is no participant any more."""
        return await self._comes(
            junior, lambda p: self._rules.in_step(self._replica.log.last.sn, p.matched.sn, p.confirmed)
        )

    async def _comes(self, junior: str, near: Callable[[Participant], bool]) -> bool:
        while True:
            participant = self._sync.participants.get(junior)
            if participant is None:
                return False
            if near(participant):
                return True
            await self._replica.world.clock.sleep(LOOK_NS)
