"""A journal node as in Hadoop's Quorum Journal Manager: it keeps a copy of each group's journal and obeys the writer of the highest epoch.

A journal is one dense log. Its finished part is the same on every node. Behind it lies at most one open segment, whose end a recovery decides.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import msgspec
from crc32c import crc32c

from nodes.calls import Calls
from nodes.config import MILLISECOND, NodeConfig
from nodes.errors import Damaged
from nodes.ignored_messages import Ignoring
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.replicas.grants import Granter
from nodes.replicas.log import NOTHING, ReplicaLog, decode_group
from nodes.replicas.messages import AskGrant, AskSilence
from nodes.storage.identity import DISK_FILE, DiskIdentity
from nodes.storage.journal_file import Journal
from nodes.storage.sealed_file import seal, unseal
from nodes.trace.events import Warned
from nodes.trace.journal_events import JournalStored, WriterFenced
from nodes.units import ROOT_GROUP
from nodes.wake import Inbox, Wake
from nodes.wire.journal_messages import (
    AcceptJournal,
    EpochPromised,
    FinishSegment,
    HigherEpoch,
    JournalAccepted,
    JournalRead,
    JournalWritten,
    NewEpoch,
    OutOfStep,
    PruneJournal,
    ReadJournal,
    SegmentFinished,
    StartSegment,
    WriteJournal,
)
from nodes.wire.messages import Mark, Message
from nodes.world import World

STATE_FILE = "journal-node"
MAGIC = b"CLVRJNOD"
FORMAT = 1
READ_BYTES = 1 << 20
WAITING_MAX = 4_096
"""Messages that wait for the disk; further ones are dropped, and their sender finds this node out of step."""
FETCH_NS = 500 * MILLISECOND
AHEAD_MAX = 1 << 16
"""Largest distance of a new epoch from the promised one: the number of writers that a node may have missed. A smaller epoch that no writer uses
is outbid by the next writer, which learns it from `HigherEpoch`."""

Leases = AskGrant | AskSilence
Writers = NewEpoch | AcceptJournal | FinishSegment | StartSegment | WriteJournal | PruneJournal


class JournalNodeState(msgspec.Struct, array_like=True):
    """The node's state beside the journal."""

    promised: int = 0
    written_in: int = 0
    accepted_in: int = 0
    finished: Mark = NOTHING
    base: Mark = NOTHING
    """The journal begins behind this mark, or behind a later group that pruning has removed last."""


class JournalPaths(NamedTuple):
    """Paths of one group's journal on the disk."""

    journal: str
    state: str
    identity: str


def files_of(group: int) -> JournalPaths:
    """Paths of a group's files. The first group's keep the names from when a node kept only one journal."""
    suffix = "" if group == ROOT_GROUP else f"-{group}"
    return JournalPaths(f"journal{suffix}", f"{STATE_FILE}{suffix}", f"{DISK_FILE}{suffix}")


class KeptJournal:
    """The journal of one group on one node."""

    def __init__(self, world: World, config: NodeConfig, group: int, calls: Calls):
        """Raises Damaged, OSError."""
        self._world = world
        self._group = group
        self._mutations = config.cluster.mutations
        self._others = [name for name in config.cluster.journal.nodes if name != config.name]
        files = files_of(group)
        self._state_file = files.state
        try:
            self._kept = unseal(files.state, MAGIC, FORMAT, world.disk.read(files.state), JournalNodeState)
        except FileNotFoundError:
            self._kept = JournalNodeState()
        journal = Journal.open(world.disk, files.journal, self._mutations, config.cluster.knobs)
        self._identity = DiskIdentity(world, journal, files.identity)
        self._log = ReplicaLog(journal, self._base_of(journal), False)
        self._good_sn = 0
        """Everything up to this sn is committed."""
        for written in self._log.load():
            self._good_sn = max(self._good_sn, written.commit_sn)
        self._granter = Granter(world, config.cluster)
        self._writer = ""
        """The server that first spoke under the promised epoch since this node started. An epoch has one writer."""
        self._changed = False
        self._durably_finished_sn = self._kept.finished.sn
        if journal.doubtful is not None:
            self._doubt_state()
        if self._kept.finished.sn < self._log.base.sn:
            # A crash in the middle of setting the files aside left pruned segments without their state.
            self._kept.finished, self._changed = self._log.base, True
        self._good_sn = max(self._good_sn, self._kept.finished.sn)
        if not self._log.holds(self._kept.finished):
            raise Damaged(
                f"the journal ends with sn {self._log.last.sn}, but was finished up to sn {self._kept.finished.sn}"
            )
        self._calls = calls
        self._ignoring = Ignoring(world)
        self._inbox: Inbox[Writers] = Inbox()
        self._wanted = Wake()
        self._replies: list[tuple[str, Message]] = []
        self._stored = 0

    def _base_of(self, journal: Journal) -> Mark:
        """The mark before the journal's first group. A restart of the journal that a crash interrupted is completed here."""
        kept = self._kept
        if journal.first_sn <= kept.base.sn:
            journal.restart_at(kept.base.sn + 1)
        if journal.last_sn >= journal.first_sn:
            [(_, first)] = journal.entries(journal.first_sn, journal.first_sn)
            return decode_group(first).previous
        if kept.finished.sn == journal.first_sn - 1:
            return kept.finished  # Everything up to there was pruned. A crash left nothing behind a cut.
        if kept.base.sn != journal.first_sn - 1:
            journal.restart_at(kept.base.sn + 1)  # What followed on the pruned part is damaged.
        return kept.base

    def _doubt_state(self) -> None:
        """The journal lost its end, and with it perhaps what the node accepted last: what is left decides no more than its last group."""
        kept, last = self._kept, self._log.last
        kept.written_in = min(kept.written_in, last.epoch)
        kept.accepted_in = min(kept.accepted_in, last.epoch)
        if last.sn < kept.finished.sn:
            kept.finished = last
        self._changed = True

    # --- steps -------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: ReadJournal | Leases | Writers) -> None:
        if isinstance(message, ReadJournal):
            self._on_read(peer, message)
        elif isinstance(message, AskGrant):
            self._granter.on_heartbeat(peer, message, self._kept.promised, self._identity.id.instance)
        elif isinstance(message, AskSilence):
            self._granter.on_ask(peer, message)
        elif len(self._inbox) < WAITING_MAX:
            self._inbox.put(peer, message)
            self._wanted.set()

    def _on_read(self, peer: str, message: ReadJournal) -> None:
        if self._kept.base.sn > self._log.base.sn:
            return  # The journal is being restarted: what it has is not what is finished.
        end = self._kept.finished.sn if message.finished_only else self._good_sn
        if message.epoch and message.epoch == self._kept.promised:
            end = self._log.last.sn
        groups = self._log.encoded(message.from_sn, end, READ_BYTES)
        self._world.network.send(peer, JournalRead(message.call, message.from_sn, groups, self._log.base))

    # --- the one writer ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Takes messages, makes them durable and answers, without end. Raises OSError of the disk."""
        if self._changed:
            await self._keep_state()  # Before the journal's mark of doubt is removed.
        await self._identity.keep()
        while True:
            await self._wanted.wait()
            for peer, message in self._inbox.take():
                try:
                    await self._take(peer, message)
                except msgspec.DecodeError as error:
                    self._world.trace.emit(Warned(f"{peer} sent a group that is none: {error}"))
            await self._make_durable()

    async def _take(self, peer: str, message: Writers) -> None:
        if message.epoch < self._kept.promised:
            reported = f"of epoch {message.epoch}; epoch {self._kept.promised} is promised"
            self._ignoring.report(peer, message, reported)
            self._replies.append((peer, HigherEpoch(self._kept.promised)))
            return
        if message.epoch > self._kept.promised + AHEAD_MAX:
            self._world.trace.emit(Warned(f"{peer} speaks of epoch {message.epoch}, which cannot be"))
            return
        if message.epoch == self._kept.promised and peer != self._writer != "":
            reported = f"epoch {message.epoch} is written by {self._writer}"
            self._ignoring.report(peer, message, reported)
            return
        self._writer = peer
        if message.epoch > self._kept.promised:
            self._kept.promised = message.epoch
            self._changed = True
            self._world.trace.emit(WriterFenced(message.epoch))
        reply: Message | None
        if isinstance(message, WriteJournal):
            reply = self._write(message)
        elif isinstance(message, NewEpoch):
            kept = self._kept
            reply = EpochPromised(
                message.epoch,
                kept.finished,
                self._log.last,
                kept.written_in,
                kept.accepted_in,
                self._identity.id,
                self._granter.left_ns,
            )
        elif isinstance(message, AcceptJournal):
            reply = await self._accept(message)
        elif isinstance(message, FinishSegment):
            reply = self._finish(message)
        elif isinstance(message, PruneJournal):
            self._log.prune(min(message.sn, self._durably_finished_sn))
            reply = None
        else:
            reply = await self._start_segment(message)
        if reply is not None:
            self._replies.append((peer, reply))

    def _write(self, message: WriteJournal) -> Message | None:
        sn, crc = message.previous.sn + 1, crc32c(message.data)
        if self._kept.written_in != message.epoch or not self._log.holds(message.previous):
            return OutOfStep(message.epoch, sn)
        if not self._log.has(sn, crc):
            if self._log.last.sn >= sn:
                return OutOfStep(message.epoch, sn)
            self._append(sn, message.data)
        self._good_sn = max(self._good_sn, min(message.commit_sn, message.previous.sn))
        mark = self._log.mark_at(sn)
        assert mark is not None
        return JournalWritten(message.epoch, mark, self._identity.id.instance)

    def _append(self, sn: int, data: bytes) -> None:
        """Raises msgspec.DecodeError."""
        group = decode_group(data)
        self._log.append(Mark(group.incarnation, group.epoch, sn, crc32c(data)), data)
        self._stored += 1

    async def _accept(self, message: AcceptJournal) -> Message | None:
        late = self._kept.written_in == message.epoch and not self._mutations.late_acceptance_cuts
        if late or message.last.sn < self._kept.finished.sn:
            return None
        if not await self._copy_up_to(message.last, [message.source], message.epoch):
            return None
        await self._log.cut(message.last.sn)
        self._kept.accepted_in = message.epoch
        self._changed = True
        return JournalAccepted(message.epoch, message.last, self._identity.id.instance)

    def _finish(self, message: FinishSegment) -> Message | None:
        """Finishes the segment. A node that lacks part of it does not answer, and copies it when the next segment begins."""
        if self._log.last != message.last:
            return None
        self._finished(message.last)
        self._kept.accepted_in = max(self._kept.accepted_in, message.epoch)
        return SegmentFinished(message.epoch, message.last, self._identity.id.instance)

    def _finished(self, mark: Mark) -> None:
        self._kept.finished = mark
        self._good_sn = max(self._good_sn, mark.sn)
        self._changed = True

    async def _start_segment(self, message: StartSegment) -> Message | None:
        """Begins a segment. A node that missed part of the earlier segments first copies it from the others. It acknowledges what it has then: with a
        new disk it is recorded although there are no writes."""
        finished, is_late = self._kept.finished, message.epoch == self._kept.written_in
        written = JournalWritten(message.epoch, message.previous, self._identity.id.instance)
        if is_late and message.previous == finished:
            return written  # The first answer may be lost.
        if is_late and message.previous.sn < finished.sn:
            return None
        if is_late and self._log.holds(message.previous) and not self._mutations.late_start_cuts:
            # Later groups here belong to this writer, and were acknowledged.
            self._finished(message.previous)
            return written
        if not await self._copy_up_to(message.previous, self._others, 0):
            return OutOfStep(message.epoch, message.previous.sn + 1)
        await self._log.cut(message.previous.sn)
        self._finished(message.previous)
        self._kept.written_in = message.epoch
        return written

    async def _copy_up_to(self, last: Mark, sources: list[str], epoch: int) -> bool:
        """Makes this journal hold `last`: conflicting groups behind the finished part are cut, missing ones are fetched. False when no source
        has them."""
        log, sn = self._log, self._kept.finished.sn
        for source in sources:
            while not log.holds(last):
                reply = await self._calls.ask(
                    source, ReadJournal(0, self._group, sn + 1, epoch, False), FETCH_NS
                )
                if not isinstance(reply, JournalRead) or sn >= last.sn:
                    break
                if sn < reply.base.sn <= last.sn:
                    await self._begin_behind(reply.base)
                    sn = reply.base.sn
                    continue
                if not reply.groups:
                    break
                for data in reply.groups:
                    sn += 1
                    if not log.has(sn, crc32c(data)):
                        if log.last.sn >= sn:
                            await log.cut(sn - 1)
                        self._append(sn, data)
                await log.sync()
        return log.holds(last)

    async def _begin_behind(self, base: Mark) -> None:
        """Restarts the journal behind `base`. Groups before `base` are pruned elsewhere and therefore finished; a journal that holds `base` is kept.

        The new base is durable before the journal is emptied, so that a crash in between ends in the same state. Raises OSError.
        """
        self._finished(base)
        if self._log.holds(base):
            return
        self._kept.base = base
        await self._keep_state()
        await self._log.restart_at(base)

    async def _keep_state(self) -> None:
        finished_sn, self._changed = self._kept.finished.sn, False
        await self._world.disk.replace(self._state_file, seal(MAGIC, FORMAT, self._kept))
        self._durably_finished_sn = finished_sn

    async def _make_durable(self) -> None:
        await self._log.sync()
        if self._stored:
            self._world.trace.emit(
                JournalStored(self._log.last.sn, self._log.last.epoch, self._stored, self._group)
            )
            self._stored = 0
        if self._changed:
            await self._keep_state()
        replies, self._replies = self._replies, []
        for peer, reply in replies:
            self._world.network.send(peer, reply)


class JournalNode:
    """One process: the journals of all groups, each with a promise, a procedure and an identity of its own."""

    def __init__(self, world: World, config: NodeConfig):
        self._world = world
        self._config = config
        self._calls = Calls(world)
        self._journals: dict[int, KeptJournal] = {}

    def start(self) -> None:
        """Starts the node. Raises UnknownJournal, UnknownSeal, other Damaged, OSError of the disk's content."""
        for group in self._config.cluster.groups:
            files = files_of(group.number)
            start_anew_if_damaged(
                self._world, partial(self._open, group.number), [files.state], files.journal, files.identity
            )
        self._world.network.receive(self.on_message)

    def _open(self, group: int) -> None:
        journal = self._journals[group] = KeptJournal(self._world, self._config, group, self._calls)
        self._world.scope.spawn(journal.run(), f"journal of group {group}")

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, JournalRead):
            self._calls.on_reply(peer, message)
        elif isinstance(message, ReadJournal | Leases | Writers):
            journal = self._journals.get(message.journal)
            if journal is not None:
                journal.on_message(peer, message)
            else:
                self._world.trace.emit(
                    Warned(f"{peer} speaks of the journal of group {message.journal}, which is not here")
                )
        else:
            self._world.trace.emit(
                Warned(f"{peer} sent a {type(message).__name__}, which a journal node does not take")
            )


def start_journal_node(world: World, config: NodeConfig) -> None:
    """Starts a journal node in this world. Raises UnknownJournal, UnknownSeal, other Damaged, OSError of the disk's content."""
    JournalNode(world, config).start()
