"""The pool node in every metadata server (CFS §4.1, Fig. 4b, participant's side): promises, prepares, acknowledges, hands out.

One procedure writes the journal, so that whatever arrived while it was syncing shares the next sync.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from crc32c import crc32c

from nodes.metadata_server.replica import Replica, keep_aside, rebuild
from nodes.protocols.mams.decisions import DecisionLog
from nodes.protocols.mams.messages import (
    Commit,
    CommitDecision,
    DecisionLogged,
    FetchGroups,
    Groups,
    Mismatch,
    Prepare,
    Prepared,
    Promise,
    Recover,
    Stale,
)
from nodes.replicas.log import decode_group, mark_of
from nodes.storage.sealed import SealBroken, UnknownSeal, seal, unseal
from nodes.trace.events import Cut, Durable, Warned
from nodes.trace.ignoring import Ignoring
from nodes.wake import Inbox, Rounds
from nodes.wire.messages import JournalGroup, Mark, Message
from nodes.world import World

EPOCH_FILE = "epoch"
EPOCH_MAGIC = b"CLVREPCH"
EPOCH_FORMAT = 1
FETCHED_OCTETS = 1 << 20
AHEAD_MAX = 1 << 16
"""Epochs that a server may have missed. One within it that nobody took the lock for is outbid by the next who takes it."""


class PoolNode:
    """Keeps one replica's journal. `promised` is the epoch below which it refuses everything (safety rule 2)."""

    def __init__(self, replica: Replica, acknowledges: bool):
        """Raises UnknownSeal, OSError."""
        world = self._world = replica.world
        self._replica = replica
        self._ignoring = Ignoring(world)
        self._log = replica.log
        self._state = replica.state
        self._identity = replica.identity
        self._holes = replica.config.cluster.holes
        self._acknowledges = acknowledges
        """Whether the active is answered when its groups are durable here."""
        self._acknowledges_gaps = replica.config.cluster.mutations.ack_of_gap
        stored, promises_lost = _stored_epoch(world)
        self.promised = max(stored, replica.log.last.epoch)
        self.deaf = promises_lost or replica.unfit is not None
        """Nothing is taken from anybody before the epoch of the view is promised again: the promises of an earlier life are lost."""
        self._promised_on_disk = self.promised
        self._inbox: Inbox[Message] = Inbox()
        self._wanted = Rounds()
        self._unsynced: list[Durable] = []
        self._replies: list[tuple[str, Message]] = []
        self._commits_after_sync = 0
        self._own: Mark | None = None
        self._decisions = DecisionLog(world)
        self._own_decision = 0
        self.on_own_durable: Callable[[Mark], None] = lambda mark: None
        self.on_own_decision: Callable[[int], None] = lambda sn: None
        """Told when a decision of ours up to sn is durable."""
        self.on_promised: Callable[[int], None] = lambda epoch: None
        """Told when a higher epoch was promised: an active of a lower one stands down."""

    # --- steps -------------------------------------------------------------------------------------------------

    @property
    def handlers(self) -> dict[type[Message], Callable[[str, Any], None]]:
        return {
            Prepare: self.on_message,
            Recover: self.on_message,
            CommitDecision: self.on_message,
            FetchGroups: self.on_fetch_groups,
            Commit: lambda peer, message: self.on_commit(message.epoch, message.sn),
        }

    def on_message(self, peer: str, message: Message) -> None:
        """Prepare, CommitDecision and Recover wait for the writer; the rest is answered at once."""
        if not self.deaf:
            self._inbox.put(peer, message)
            self._wanted.set()

    def append_own(self, group: JournalGroup, octets: bytes, mark: Mark) -> None:
        """The active's one write of its own log."""
        self._write(group, octets, mark)
        self._own = mark
        self._wanted.set()

    def decide_own(self, epoch: int, sn: int) -> None:
        """The coordinator's second log write in the classic 2PC."""
        self._decisions.append(epoch, sn)
        self._own_decision = sn
        self._wanted.set()

    async def promise(self, epoch: int) -> None:
        """Refuses every lower epoch from now on; durable when it returns."""
        self._promise(epoch)
        await self._wanted.over()

    async def promise_view(self) -> None:
        """A server that lost its promises makes them anew: every epoch that an earlier life promised was in the view before.

        Raises CoordinationError.
        """
        view = self._replica.view
        try:
            await self._world.disk.move(EPOCH_FILE, f"aside/{EPOCH_FILE}")
        except FileNotFoundError:
            pass
        await self._world.coordination.sync(view.path("epoch"))
        epoch, _ = await view.epoch()
        await self.promise(epoch.epoch)
        self.deaf = False

    async def adopt(self, prepare: Prepare) -> None:
        """Takes groups that were fetched as if their writer had sent them; durable when it returns."""
        self._inbox.put(self._world.name, prepare)
        await self._wanted.over()

    def _promise(self, epoch: int) -> None:
        if epoch > self.promised:
            self.promised = epoch
            self.on_promised(epoch)

    def on_commit(self, epoch: int, sn: int) -> None:
        if epoch == self.promised and self._log.last.epoch == epoch:
            self._state.commit(min(sn, self._log.last.sn))

    def on_fetch_groups(self, peer: str, message: FetchGroups) -> None:
        """Any pool node hands out what it knows to be committed, and all it has to the elected it promised."""
        end = message.to_sn if message.epoch == self.promised else min(message.to_sn, self._state.commit_sn)
        groups = self._log.octets(message.from_sn, end, FETCHED_OCTETS)
        self._world.network.send(peer, Groups(message.call, message.from_sn, groups))

    # --- the one writer ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Takes what has arrived, writes it, syncs once, answers; for ever. Raises OSError of the disk."""
        await self._identity.keep()
        while True:
            await self._wanted.wait()
            waits = self._wanted.begin()
            for peer, message in self._inbox.take():
                if isinstance(message, Prepare):
                    await self._on_prepare(peer, message)
                elif isinstance(message, Recover):
                    self._on_recover(peer, message)
                elif isinstance(message, CommitDecision):
                    self._on_decision(peer, message)
            await self._make_durable()
            self._wanted.end(waits)

    def _cannot_be(self, peer: str, epoch: int) -> bool:
        wild = epoch > self.promised + AHEAD_MAX
        if wild:
            self._world.trace.emit(Warned(f"{peer} speaks of epoch {epoch}, which cannot be"))
        return wild

    async def _on_prepare(self, peer: str, message: Prepare) -> None:
        if self._cannot_be(peer, message.epoch):
            return
        if message.epoch < self.promised:
            told = f"of epoch {message.epoch}; epoch {self.promised} is promised"
            self._ignoring.tell(peer, message, told)
            self._replies.append((peer, Stale(self.promised)))
            return
        self._promise(message.epoch)
        log = self._log
        if not log.holds(message.previous):
            gap: Message = Mismatch(message.epoch, self._state.commit_sn, log.tails())
            if self._acknowledges_gaps and message.groups:
                gap = self._prepared(
                    message.epoch, mark_of(decode_group(message.groups[-1]), message.groups[-1])
                )
            self._replies.append((peer, gap))
            return
        sn = message.previous.sn
        for octets in message.groups:
            sn += 1
            try:
                await self._take(sn, octets)
            except msgspec.DecodeError as error:
                self._world.trace.emit(Warned(f"{peer} sent a group that is none: {error}"))
                return
        matched = log.mark_at(sn)
        assert matched is not None
        if self._acknowledges:
            self._replies.append((peer, self._prepared(message.epoch, matched)))
        self._commits_after_sync = max(self._commits_after_sync, min(message.commit_sn, sn))

    def _prepared(self, epoch: int, mark: Mark) -> Prepared:
        return Prepared(epoch, mark, self._identity.id.instance)

    async def _take(self, sn: int, octets: bytes) -> None:
        """One group of the writer's: drop it if it is here, else cut what disagrees and append."""
        crc = crc32c(octets)
        if self._log.has(sn, crc):
            return
        group = decode_group(octets)
        if self._log.last.sn >= sn:
            await self.cut(sn - 1, f"epoch {group.epoch} wrote another group {sn}")
        self._write(group, octets, Mark(group.incarnation, group.epoch, sn, crc))
        self._state.prepared(group)

    def _on_decision(self, peer: str, message: CommitDecision) -> None:
        if message.epoch == self.promised and self._log.holds(message.mark):
            self._decisions.append(message.epoch, message.mark.sn)
            self._replies.append((peer, DecisionLogged(message.epoch, message.mark.sn)))

    def _write(self, group: JournalGroup, octets: bytes, mark: Mark) -> None:
        self._log.append(mark, octets)
        self._replica.pins.on_group(group)
        self._unsynced.append(
            Durable(mark.sn, mark.epoch, group.groupid, mark.crc, len(group.records), len(octets))
        )

    def _on_recover(self, peer: str, message: Recover) -> None:
        """Stores the new epoch before it tells what it has; the hole tells at once.

        Who does not count promises nothing: what it acknowledged before may not be here (safety rule 23). Who asks in another incarnation of the
        cluster is not answered (safety rule 14).
        """
        replica = self._replica
        ours = message.incarnation == replica.origin.incarnation
        if replica.unfit is not None or not ours or self._cannot_be(peer, message.epoch):
            return
        if message.epoch < self.promised:
            told = f"of epoch {message.epoch}; epoch {self.promised} is promised"
            self._ignoring.tell(peer, message, told)
            self._replies.append((peer, Stale(self.promised)))
            return
        if not self._holes.late_watch:
            self._promise(message.epoch)
        promise = Promise(message.epoch, self._state.commit_sn, self._log.tails(), self._identity.id)
        self._replies.append((peer, promise))

    async def _make_durable(self) -> None:
        if self._holes.async_flush:
            self._answer(self._own)
        own, self._own = self._own, None
        decision, self._own_decision = self._own_decision, 0
        if self.promised != self._promised_on_disk:
            promised = self.promised
            await self._world.disk.replace(EPOCH_FILE, seal(EPOCH_MAGIC, EPOCH_FORMAT, promised))
            self._promised_on_disk = promised
        if self._unsynced:
            written, self._unsynced = self._unsynced, []
            await self._log.sync()
            for durable in written:
                self._world.trace.emit(durable)
        await self._decisions.sync()
        self._answer(own)
        if decision:
            self.on_own_decision(decision)

    def _answer(self, own: Mark | None) -> None:
        send = self._world.network.send
        for peer, message in self._replies:
            if peer != self._world.name:
                send(peer, message)
        self._replies.clear()
        if self._commits_after_sync > self._state.commit_sn:
            self._state.commit(min(self._commits_after_sync, self._log.last.sn))
        self._commits_after_sync = 0
        if own is not None:
            self.on_own_durable(own)

    async def cut(self, sn: int, reason: str) -> None:
        """Removes the journal's groups after sn, and from the namespace if they are in it."""
        if self._log.last.sn <= sn:
            return
        if self._state.applied_sn > sn:
            await keep_aside(self._replica, sn)
        self._unsynced = [durable for durable in self._unsynced if durable.sn <= sn]
        # Before the await: groups that come meanwhile follow on `sn`, and are not to be forgotten, nor applied to what they were cut from.
        applied = not self._state.cut(sn)
        if applied:
            self._state.freeze()
        await self._log.cut(sn)
        self._world.trace.emit(Cut(sn, reason))
        if applied:
            rebuild(self._replica)


def _stored_epoch(world: World) -> tuple[int, bool]:
    """The epoch that was promised, and whether what says so is lost. Raises UnknownSeal, OSError."""
    try:
        return unseal(EPOCH_FILE, EPOCH_MAGIC, EPOCH_FORMAT, world.disk.read(EPOCH_FILE), int), False
    except FileNotFoundError:
        return 0, False
    except UnknownSeal:
        raise
    except SealBroken as broken:
        told = f"{broken}; it is moved to aside/{EPOCH_FILE}, and {world.name} takes no journals before it has promised the epoch of the view anew"
        world.trace.emit(Warned(told))
        return 0, True
