"""A member's side of Paxos: promises, accepts, acknowledges, executes what is decided in the order of the slots (DCFS3; safety rules 8, 9, 21).

One procedure writes the log, so that whatever arrived while it was syncing shares the next sync.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from nodes.metadata.namespace import Namespace
from nodes.protocols.paxos.ballot import BALLOT_FILE, BALLOT_MAX, pack_ballot
from nodes.protocols.paxos.log import SlotLog, decode_record
from nodes.protocols.paxos.messages import (
    Accept,
    Accepted,
    LogBegins,
    LogRecord,
    Outbid,
    PaxosPrepare,
    PaxosPromise,
    Success,
    Told,
)
from nodes.protocols.paxos.queue import CoordinationQueue
from nodes.replicas.state import ReplicatedState
from nodes.storage.identity import Identity
from nodes.trace.events import Renewing, Warned
from nodes.trace.ignoring import Ignoring
from nodes.wake import Rounds
from nodes.wire.messages import Mark, Message
from nodes.world import World

PROMISE_OCTETS = 1 << 20
RECORD_MAX = 8 << 20
AHEAD_MAX = 1 << 16
"""Takeovers that a member may have missed: one word of a higher ballot must not use up those that there are."""


class Acceptor:
    """Keeps one member's log and queue. `promised` is the ballot below which it refuses everything."""

    def __init__(
        self,
        world: World,
        log: SlotLog,
        queue: CoordinationQueue,
        state: ReplicatedState,
        promised: int,
        identity: Identity,
        packs: bool,
        memory_only: bool,
        view: list[str],
    ):
        self._world = world
        self._ignoring = Ignoring(world)
        self.log = log
        self.queue = queue
        self._state = state
        self._identity = identity
        self._packs = packs
        self._memory_only = memory_only
        self.promised = promised
        self.primary = ""
        """Who sent the last message of phase 2 under the promised ballot."""
        self.view = view
        """As of the last slot that was executed here; empty when that is not known, for it is inside an image."""
        self.last_place = 1 if log.base.sn else 0
        """How many records that slot holds; of one inside an image, the most that it may."""
        self._promised_on_disk = promised
        queue.begin(promised)
        self._durable = queue.reach
        """Every slot up to here is decided or durably accepted under the queue's ballot."""
        self._owed: list[tuple[str, int]] = []
        """Who is to be acknowledged which slot."""
        self._promises: list[tuple[str, PaxosPrepare]] = []
        self._wanted = Rounds()
        self._reports = False
        self.on_promised: Callable[[int], None] = lambda ballot: None
        """A higher ballot was promised: leases and primaries of lower ones end."""
        self.on_durable: Callable[[int, int], None] = lambda ballot, slot: None
        """For the primary on this server: what it has accepted itself."""
        self.on_executed: Callable[[], None] = lambda: None
        self.on_lacking: Callable[[int], None] = lambda base: None
        """The primary has records from behind this slot only, and slots before it lack here."""

    @property
    def handlers(self) -> dict[type[Message], Callable[[str, Any], None]]:
        return {
            PaxosPrepare: self._on_prepare,
            Accept: self._on_accept,
            Success: self._on_success,
            LogBegins: self._on_log_begins,
        }

    @property
    def knows_view(self) -> bool:
        """Whether `view` is the last one that was decided up to the success pointer."""
        return bool(self.view) or not self.queue.success

    def views(self) -> list[list[str]]:
        """The view that is decided, as far as it is known, and those that may be."""
        return [view for view in (self.view, *(record.view for record in self.queue.waiting())) if view]

    # --- ballots ---------------------------------------------------------------------------------------------------

    def _promise(self, ballot: int) -> None:
        if ballot > self.promised:
            self.promised = ballot
            self.primary = ""
            self._durable = self.queue.success
            self.queue.begin(ballot)
            self.on_promised(ballot)

    async def promise(self, ballot: int) -> None:
        """Refuses every lower ballot from now on; durable when it returns."""
        self._promise(ballot)
        await self._wanted.over()

    def _refuses(self, peer: str, message: PaxosPrepare | Accept | Success | LogBegins) -> bool:
        ballot = message.ballot
        highest = min(BALLOT_MAX, self.promised + AHEAD_MAX)
        if self.promised <= ballot <= highest:
            return False
        if ballot > highest:
            self._warn(f"{peer} speaks of ballot {ballot}, which cannot be")
        else:
            told = f"of ballot {ballot}; ballot {self.promised} is promised"
            self._ignoring.tell(peer, message, told)
            self._world.network.send(peer, Outbid(self.promised))
        return True

    def _follows(self, peer: str, message: Accept | Success | LogBegins) -> bool:
        """Whether phase 2 of its ballot is taken from this peer."""
        ballot = message.ballot
        if self._refuses(peer, message):
            return False
        self._promise(ballot)
        if self.primary == self._world.name:
            self._warn(f"{peer} proposes in ballot {ballot}, which is ours")
            return False
        self.primary = peer
        return True

    def _warn(self, what: str) -> None:
        self._world.trace.emit(Warned(what))

    # --- phase 1 ---------------------------------------------------------------------------------------------------

    def _on_prepare(self, peer: str, message: PaxosPrepare) -> None:
        if not self._refuses(peer, message):
            self._promise(message.ballot)
            self._promises.append((peer, message))
            self._wanted.set()

    def told(self, from_slot: int) -> PaxosPromise:
        """What lies here from this slot on, as far as it fits into one message. Raises OSError."""
        current, slots, octets, base = self.queue.current, [], 0, self.log.base.sn
        slot = max(1, from_slot, base + 1) - 1
        while slot < current and octets < PROMISE_OCTETS:
            slot += 1
            stored = self.log.stored(slot)
            if stored is not None:
                slots.append(Told(slot, *stored))
                octets += len(stored[1])
        success, disk = self.queue.success, self._identity.id
        return PaxosPromise(self.promised, success, current, from_slot, slot, slots, disk, base)

    # --- phase 2 ---------------------------------------------------------------------------------------------------

    def _on_accept(self, peer: str, message: Accept) -> None:
        if not self._follows(peer, message):
            return
        slot = message.first - 1
        for octets in message.records:
            slot += 1
            if not self._take(peer, message.ballot, slot, octets):
                break
        self._owed.append((peer, slot))
        self._wanted.set()
        self._decide(message.ballot, message.success)

    def _take(self, peer: str, ballot: int, slot: int, octets: bytes) -> bool:
        """One record into its slot; one that is decided or the same under the same ballot is here already."""
        queue = self.queue
        if not queue.takes(slot):
            return slot > 0 and slot <= queue.success
        if queue.ballot_at(slot) == ballot:
            return True
        try:
            record = decode_record(octets)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            self._warn(f"{peer} sent something for slot {slot} that is no record: {error}")
            return False
        if record.sn != slot or len(octets) > RECORD_MAX or not 0 < record.epoch <= ballot:
            self._warn(f"{peer} sent a record of slot {record.sn} for slot {slot}")
            return False
        self.keep(ballot, record, octets)
        return True

    def keep(self, ballot: int, record: LogRecord, octets: bytes) -> None:
        """Accepts; acknowledged when it is durable. Raises OSError."""
        self.log.put(ballot, record, octets)
        self.queue.accept(ballot, record)
        self._wanted.set()

    async def adopt(self, ballot: int, records: Iterable[tuple[LogRecord, bytes]], success: int) -> None:
        """The elected accepts what it goes on with, of which everything up to `success` is decided; durable when it returns."""
        for record, octets in records:
            self.keep(ballot, record, octets)
        await self._wanted.over()
        self._decide(ballot, success)

    # --- success ---------------------------------------------------------------------------------------------------

    def _on_success(self, peer: str, message: Success) -> None:
        if self._follows(peer, message) and not self._decide(message.ballot, message.slot):
            self._report()

    def _decide(self, ballot: int, slot: int) -> bool:
        """Executes what is decided by this; whether that was anything, and so was told to the primary."""
        before = self.queue.success
        for record in self.queue.succeed(ballot, slot):
            self.execute(record)
        if self.queue.success > before:
            self.on_executed()
            self.queue.run_reads()
            self._report()
        return self.queue.success > before

    def execute(self, record: LogRecord) -> None:
        """The next slot is decided; the primary has carried its record out before."""
        if record.sn > self._state.applied_sn:
            self._state.prepared(record)
        self._state.commit(record.sn)
        self.last_place = len(record.records)
        if record.view:
            self.view = record.view

    def decide_own(self, ballot: int, slot: int) -> None:
        """The primary on this server has found that everything up to this slot is decided."""
        self._decide(ballot, slot)

    # --- images ------------------------------------------------------------------------------------------------------

    def _on_log_begins(self, peer: str, message: LogBegins) -> None:
        """The answer says that this server lives, however long the image takes."""
        if self._follows(peer, message):
            if message.base > self.queue.success:
                self.on_lacking(message.base)
            self._report()

    def begin_behind(self, namespace: Namespace, image: Mark) -> None:
        """An image of the others reaches further than what is executed here, and takes its place. What is accepted above it stays accepted."""
        self._state.restart(namespace, image.sn)
        self.log.begin_behind(image)
        self.queue.begin_behind(image.sn)
        self.view, self.last_place = [], 1
        self._world.trace.emit(Renewing("image", image.sn, image.sn))
        self._wanted.set()
        self.queue.run_reads()

    # --- acknowledgements --------------------------------------------------------------------------------------------

    def _report(self) -> None:
        """Tells the primary what is executed; with the others of this turn, if they are put together."""
        if not self._packs:
            self._tell()
        elif not self._reports:
            self._reports = True
            self._world.when_idle(self._tell)

    def _tell(self) -> None:
        self._reports = False
        if self.primary not in ("", self._world.name):
            self._acknowledge(self.primary, self._durable)

    def _acknowledge(self, peer: str, slot: int) -> None:
        queue = self.queue
        gap = queue.latest > queue.reach
        disk = self._identity.id.instance
        # Where an image holds the namespace up reads wait, so that they show no less than what is executed everywhere.
        self._world.network.send(peer, Accepted(queue.ballot, slot, queue.success, gap, disk))

    # --- the one writer ----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Takes what has arrived, writes it, syncs once, answers; for ever. Raises OSError of the disk."""
        while True:
            await self._wanted.wait()
            owed, self._owed = self._owed, []
            promises, self._promises = self._promises, []
            waits = self._wanted.begin()
            ballot, reach = self.queue.ballot, self.queue.reach
            if self._memory_only:
                self._answer(ballot, reach, owed)
            await self._make_durable()
            if not self._memory_only:
                self._answer(ballot, reach, owed)
            for peer, prepare in promises:
                if prepare.ballot == self.promised:
                    self._world.network.send(peer, self.told(prepare.from_slot))
            self._wanted.end(waits)

    async def _make_durable(self) -> None:
        if self.promised != self._promised_on_disk:
            promised = self.promised
            await self._world.disk.replace(BALLOT_FILE, pack_ballot(promised))
            self._promised_on_disk = promised
            self.log.dirty = True
        self.log.mark_success(self.queue.success, self.view)
        if self.log.dirty:
            await self.log.sync()

    def _answer(self, ballot: int, reach: int, owed: list[tuple[str, int]]) -> None:
        if ballot != self.queue.ballot:
            return
        self._durable = max(self._durable, reach)
        self.on_durable(ballot, reach)
        if self._packs:
            owed = [(peer, reach) for peer in dict.fromkeys(peer for peer, _ in owed)]
        for peer, slot in owed:
            self._acknowledge(peer, min(slot, reach))
