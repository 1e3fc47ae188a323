"""The acceptor of one member: it promises, accepts, acknowledges, and executes decided records in slot order (DCFS3; safety rules 8, 9, 21).

One procedure writes the log. Records that arrive during a sync share the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from nodes.ignored_messages import Ignoring
from nodes.metadata.namespace import Namespace
from nodes.protocols.paxos.ballot import BALLOT_FILE, BALLOT_MAX, pack_ballot
from nodes.protocols.paxos.log import SlotLog, decode_record
from nodes.protocols.paxos.messages import (
    Accept,
    Accepted,
    AcceptedSlot,
    LogBegins,
    LogRecord,
    Outbid,
    PaxosPrepare,
    PaxosPromise,
    Success,
)
from nodes.protocols.paxos.queue import CoordinationQueue
from nodes.replicas.state import ReplicatedState
from nodes.storage.identity import DiskIdentity
from nodes.trace.events import Renewing, Warned
from nodes.wake import Rounds
from nodes.wire.messages import Mark, Message
from nodes.world import World

PROMISE_BYTES = 1 << 20
RECORD_MAX = 8 << 20
AHEAD_MAX = 1 << 16
"""Most ballots that a member may have missed. The bound keeps one message from using up the ballot numbers."""


class AcceptorListener(Protocol):
    """The server around an acceptor."""

    def on_promised(self, ballot: int) -> None:
        """A higher ballot was promised: leases and primaries of lower ones end."""

    def on_durable(self, ballot: int, slot: int) -> None:
        """Everything that was accepted under this ballot is durable here up to this slot."""

    def on_executed(self) -> None:
        """The success pointer has moved."""

    def on_lacking(self, base: int) -> None:
        """The primary has only records after this slot, and this member lacks earlier slots."""


class Acceptor:
    """Keeps one member's log and queue. It refuses every ballot below `promised`.

    Many methods: each step of phase 1, phase 2 and success reads and changes promised ballot, log, queue and owed acknowledgements.
    """

    def __init__(
        self,
        world: World,
        log: SlotLog,
        queue: CoordinationQueue,
        state: ReplicatedState,
        promised: int,
        identity: DiskIdentity,
        packs: bool,
        memory_only: bool,
        view: list[str],
        on_record: Callable[[LogRecord], None],
    ):
        self._world = world
        self._ignoring = Ignoring(world)
        self.log = log
        self.queue = queue
        self._state = state
        self._identity = identity
        self._packs = packs
        self._memory_only = memory_only
        self._on_record = on_record
        """Callback for every accepted record."""
        self.promised = promised
        self.primary = ""
        """Sender of the last phase-2 message under the promised ballot."""
        self.view = view
        """View as of the last executed slot; empty when an image holds that slot, because images do not store the view."""
        self.last_place = 1 if log.base.sn else 0
        """Number of records in the last executed slot; for a slot inside an image, the largest possible number."""
        self._promised_on_disk = promised
        queue.begin(promised)
        self._durable = queue.reach
        """Last slot of the prefix that is decided or durably accepted under the queue's ballot."""
        self._owed: list[tuple[str, int]] = []
        """Peers with the slot that each one's next acknowledgement covers."""
        self._promises: list[tuple[str, PaxosPrepare]] = []
        self.rounds = Rounds()
        self._reports = False
        self._listener: AcceptorListener

    def attach(self, listener: AcceptorListener) -> None:
        """Connects the server, which is built after the acceptor was read from disk. No message arrives earlier."""
        self._listener = listener

    @property
    def handlers(self) -> dict[type[Message], Callable[[str, Any], None]]:
        return {
            PaxosPrepare: self._on_prepare,
            Accept: self._on_accept,
            Success: self._on_success,
            LogBegins: self._on_log_begins,
        }

    @property
    def disk(self) -> int:
        """Instance of this server's disk."""
        return self._identity.id.instance

    @property
    def knows_view(self) -> bool:
        """Whether `view` is the last view decided up to the success pointer."""
        return bool(self.view) or not self.queue.success

    def views(self) -> list[list[str]]:
        """The decided view, if known, and the views of accepted records that may be decided."""
        return [view for view in (self.view, *(record.view for record in self.queue.waiting())) if view]

    # --- ballots ---------------------------------------------------------------------------------------------------

    def _promise(self, ballot: int) -> None:
        if ballot > self.promised:
            self.promised = ballot
            self.primary = ""
            self._durable = self.queue.success
            self.queue.begin(ballot)
            self._listener.on_promised(ballot)

    async def promise(self, ballot: int) -> None:
        """Promises to refuse every lower ballot. The promise is durable when this returns."""
        self._promise(ballot)
        await self.rounds.over()

    def _refuses(self, peer: str, message: PaxosPrepare | Accept | Success | LogBegins) -> bool:
        ballot = message.ballot
        highest = min(BALLOT_MAX, self.promised + AHEAD_MAX)
        if self.promised <= ballot <= highest:
            return False
        if ballot > highest:
            self._warn(f"{peer} speaks of ballot {ballot}, which cannot be")
        else:
            reported = f"of ballot {ballot}; ballot {self.promised} is promised"
            self._ignoring.report(peer, message, reported)
            self._world.network.send(peer, Outbid(self.promised))
        return True

    def _follows(self, peer: str, message: Accept | Success | LogBegins) -> bool:
        """Whether this member accepts phase 2 of the message's ballot from this peer."""
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
            self.rounds.set()

    def reported(self, from_slot: int) -> PaxosPromise:
        """The accepted slots from this one on, as many as fit into one message. Raises OSError."""
        current, slots, size, base = self.queue.current, [], 0, self.log.base.sn
        slot = max(1, from_slot, base + 1) - 1
        while slot < current and size < PROMISE_BYTES:
            slot += 1
            stored = self.log.stored(slot)
            if stored is not None:
                slots.append(AcceptedSlot(slot, *stored))
                size += len(stored[1])
        success, disk = self.queue.success, self._identity.id
        return PaxosPromise(self.promised, success, current, from_slot, slot, slots, disk, base)

    # --- phase 2 ---------------------------------------------------------------------------------------------------

    def _on_accept(self, peer: str, message: Accept) -> None:
        if not self._follows(peer, message):
            return
        slot = message.first - 1
        for data in message.records:
            slot += 1
            if not self._take(peer, message.ballot, slot, data):
                break
        self._owed.append((peer, slot))
        self.rounds.set()
        self.decide(message.ballot, message.success)

    def _take(self, peer: str, ballot: int, slot: int, data: bytes) -> bool:
        """Accepts one record; true also for a slot that is decided or already accepted under this ballot."""
        queue = self.queue
        if not queue.takes(slot):
            return slot > 0 and slot <= queue.success
        if queue.ballot_at(slot) == ballot:
            return True
        try:
            record = decode_record(data)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            self._warn(f"{peer} sent something for slot {slot} that is no record: {error}")
            return False
        if record.sn != slot or len(data) > RECORD_MAX or not 0 < record.epoch <= ballot:
            self._warn(f"{peer} sent a record of slot {record.sn} for slot {slot}")
            return False
        self.keep(ballot, record, data)
        return True

    def keep(self, ballot: int, record: LogRecord, data: bytes) -> None:
        """Accepts a record. The acknowledgement follows when it is durable. Raises OSError."""
        self.log.put(ballot, record, data)
        self.queue.accept(ballot, record)
        self._on_record(record)
        self.rounds.set()

    async def adopt(self, ballot: int, records: Iterable[tuple[LogRecord, bytes]], success: int) -> None:
        """The elected server accepts the redone records, durably when this returns. Slots up to `success` are decided."""
        for record, data in records:
            self.keep(ballot, record, data)
        await self.rounds.over()
        self.decide(ballot, success)

    # --- success ---------------------------------------------------------------------------------------------------

    def _on_success(self, peer: str, message: Success) -> None:
        if self._follows(peer, message) and not self.decide(message.ballot, message.slot):
            self._report()

    def decide(self, ballot: int, slot: int) -> bool:
        """Executes the records that this decides. Returns whether there were any; the primary then gets a report."""
        before = self.queue.success
        for record in self.queue.succeed(ballot, slot):
            self.execute(record)
        if self.queue.success > before:
            self._listener.on_executed()
            self.queue.run_reads()
            self._report()
        return self.queue.success > before

    def execute(self, record: LogRecord) -> None:
        """Executes the next decided slot. The primary has applied its record already."""
        if not self._state.has(record.sn):
            self._state.prepared(record)
        self._state.commit(record.sn)
        self.last_place = len(record.records)
        if record.view:
            self.view = record.view

    # --- images ------------------------------------------------------------------------------------------------------

    def _on_log_begins(self, peer: str, message: LogBegins) -> None:
        """Reports at once, so that the primary counts this server as alive while the image is read."""
        if self._follows(peer, message):
            if message.base > self.queue.success:
                self._listener.on_lacking(message.base)
            self._report()

    def begin_behind(self, namespace: Namespace, image: Mark) -> None:
        """An image that is ahead replaces the namespace. Accepted slots above the image stay accepted."""
        self._state.restart(namespace, image.sn)
        self.log.begin_behind(image)
        self.queue.begin_behind(image.sn)
        self.view, self.last_place = [], 1
        self._world.trace.emit(Renewing("image", image.sn, image.sn))
        self.rounds.set()
        self.queue.run_reads()

    def pass_over(self, namespace: Namespace, image: Mark) -> None:
        """An image behind a rollback that this server cannot apply replaces the namespace; decided slots after the image are executed again."""
        self._state.restart(namespace, image.sn)
        for sn in range(image.sn + 1, self.queue.success + 1):
            record = self.log.group_at(sn)
            assert record is not None, f"slot {sn} is decided and not in the log"
            self.execute(record)

    # --- acknowledgements --------------------------------------------------------------------------------------------

    def _report(self) -> None:
        """Reports the executed slots to the primary. A packing acceptor sends one report per turn."""
        if not self._packs:
            self._send_reports()
        elif not self._reports:
            self._reports = True
            self._world.when_idle(self._send_reports)

    def _send_reports(self) -> None:
        self._reports = False
        if self.primary not in ("", self._world.name):
            self._acknowledge(self.primary, self._durable)

    def _acknowledge(self, peer: str, slot: int) -> None:
        queue = self.queue
        gap = queue.latest > queue.reach
        disk = self._identity.id.instance
        # An image can delay the namespace; reads wait then, so that they show everything executed at all members.
        self._world.network.send(peer, Accepted(queue.ballot, slot, queue.success, gap, disk))

    # --- the writer --------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Writes the records that have arrived, syncs once and answers, in an endless loop. Raises OSError of the disk."""
        while True:
            await self.rounds.wait()
            owed, self._owed = self._owed, []
            promises, self._promises = self._promises, []
            waits = self.rounds.begin()
            ballot, reach = self.queue.ballot, self.queue.reach
            if self._memory_only:
                self._answer(ballot, reach, owed)
            await self._make_durable()
            if not self._memory_only:
                self._answer(ballot, reach, owed)
            for peer, prepare in promises:
                if prepare.ballot == self.promised:
                    self._world.network.send(peer, self.reported(prepare.from_slot))
            self.rounds.end(waits)

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
        self._listener.on_durable(ballot, reach)
        if self._packs:
            owed = [(peer, reach) for peer in dict.fromkeys(peer for peer, _ in owed)]
        for peer, slot in owed:
            self._acknowledge(peer, min(slot, reach))
