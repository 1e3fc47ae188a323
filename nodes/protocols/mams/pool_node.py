"""The pool node in every metadata server (CFS §4.1, Fig. 4b, participant's side): promises, prepares, acknowledges and serves groups.

One procedure writes the journal, so messages that arrive during a sync share the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from crc32c import crc32c

from nodes.ignored_messages import Ignoring
from nodes.metadata.records import CROSS_GROUP
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
from nodes.protocols.mams.rules import ElectionRules
from nodes.replicas.grants import Granter
from nodes.replicas.log import decode_group, mark_of
from nodes.replicas.messages import AskGrant
from nodes.storage.sealed_file import SealBroken, UnknownSeal, seal, unseal
from nodes.trace.events import Cut, Durable, Warned
from nodes.wake import Inbox, Rounds
from nodes.wire.messages import JournalGroup, Mark, Message
from nodes.world import World

EPOCH_FILE = "epoch"
EPOCH_MAGIC = b"CLVREPCH"
EPOCH_FORMAT = 1
FETCHED_BYTES = 1 << 20
AHEAD_MAX = 1 << 16
"""Largest number of epochs that a server may have missed. The next holder of the lock chooses an epoch above every one it promised."""


class PoolJournalListener(Protocol):
    """The server around a pool node."""

    def on_promised(self, epoch: int) -> None:
        """A higher epoch was promised. An active of a lower epoch stands down."""

    def on_own_durable(self, mark: Mark) -> None:
        """The active's own groups are durable up to here."""


class PoolJournal:
    """Keeps one replica's journal. `promised` is the epoch below which it refuses everything (safety rule 2)."""

    def __init__(
        self, replica: Replica, acknowledges: bool, listener: PoolJournalListener, rules: ElectionRules
    ):
        """Raises UnknownSeal, OSError."""
        world = self._world = replica.world
        self._replica = replica
        self._listener = listener
        self._rules = rules
        self._ignoring = Ignoring(world)
        self._log = replica.log
        self._state = replica.state
        self._identity = replica.identity
        self._holes = replica.config.cluster.holes
        self._acknowledges = acknowledges
        """Whether this node acknowledges durable groups to the active."""
        self._mutations = replica.config.cluster.mutations
        stored, promises_lost = _stored_epoch(world)
        self.promised = max(stored, replica.log.last.epoch)
        self.deaf = promises_lost or replica.unfit is not None
        """Whether earlier promises are lost. No Prepare, CommitDecision or Recover is taken before the view's epoch is promised."""
        self._promised_on_disk = self.promised
        self.granter = Granter(world, replica.config.cluster)
        self._inbox: Inbox[Message] = Inbox()
        self.rounds = Rounds()
        self._unsynced: list[Durable] = []
        self._protocol_write_back = False
        """With the hole `async_flush`: whether a group that is not synced has a record of an operation on several groups (DCFS2 §4.3.2)."""
        self._replies: list[tuple[str, Message]] = []
        self._commits_after_sync = 0
        self._sent = (0, 0)
        """The last epoch whose writer sent groups, and the sn up to which this journal equals the writer's."""
        self._own: Mark | None = None
        self._decisions = DecisionLog(world)
        self._decided: Callable[[], None] | None = None
        """Callback of the active for its newest decision, called when that is durable."""

    # --- steps -------------------------------------------------------------------------------------------------

    @property
    def handlers(self) -> dict[type[Message], Callable[[str, Any], None]]:
        return {
            Prepare: self.on_message,
            Recover: self.on_message,
            CommitDecision: self.on_message,
            FetchGroups: self.on_fetch_groups,
            Commit: lambda peer, message: self.on_commit(message.epoch, message.sn),
            AskGrant: self.on_heartbeat,
        }

    def on_message(self, peer: str, message: Message) -> None:
        """Queues Prepare, CommitDecision and Recover for the writer. Other messages are handled at once."""
        if not self.deaf:
            self._inbox.put(peer, message)
            self.rounds.set()

    def on_heartbeat(self, peer: str, message: AskGrant) -> None:
        """Grants the active of the promised epoch a lease (safety rule 26). A server whose promises are lost grants none."""
        self.granter.on_heartbeat(
            peer, message, -1 if self.deaf else self.promised, self._identity.id.instance
        )

    def append_own(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        """Writes a group of the active to its own log."""
        self._write(group, data, mark)
        self._own = mark
        self.rounds.set()

    def decide_own(self, epoch: int, sn: int, decided: Callable[[], None]) -> None:
        """The coordinator's second log write in the classic 2PC. Calls `decided` when the newest decision is durable."""
        self._decisions.append(epoch, sn)
        self._decided = decided
        self.rounds.set()

    async def promise(self, epoch: int) -> None:
        """Refuses every lower epoch from now on. The promise is durable on return."""
        self._promise(epoch)
        await self.rounds.over()

    async def promise_view(self) -> None:
        """Replaces lost promises by that of the view's epoch: the view had every epoch before a server promised it.

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
        """Appends fetched groups as if their writer had sent them. They are durable on return."""
        self._inbox.put(self._world.name, prepare)
        await self.rounds.over()

    def _promise(self, epoch: int) -> None:
        if epoch > self.promised:
            self.promised = epoch
            self._listener.on_promised(epoch)

    def on_commit(self, epoch: int, sn: int) -> None:
        if epoch == self.promised and self._log.last.epoch == epoch:
            self._state.commit(min(sn, self._log.last.sn))

    def on_fetch_groups(self, peer: str, message: FetchGroups) -> None:
        """Sends groups that are known to be committed, and all groups to the elected of the promised epoch."""
        end = message.to_sn if message.epoch == self.promised else min(message.to_sn, self._state.commit_sn)
        groups = self._log.encoded(message.from_sn, end, FETCHED_BYTES)
        self._world.network.send(peer, Groups(message.call, message.from_sn, groups))

    # --- the one writer ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Takes the queued messages, writes their groups, syncs once and answers, in an endless loop. Raises OSError of the disk."""
        await self._identity.keep()
        while True:
            await self.rounds.wait()
            waits = self.rounds.begin()
            for peer, message in self._inbox.take():
                if isinstance(message, Prepare):
                    await self._on_prepare(peer, message)
                elif isinstance(message, Recover):
                    self._on_recover(peer, message)
                elif isinstance(message, CommitDecision):
                    self._on_decision(peer, message)
            await self._make_durable()
            self.rounds.end(waits)

    def _cannot_be(self, peer: str, epoch: int) -> bool:
        wild = epoch > self.promised + AHEAD_MAX
        if wild:
            self._world.trace.emit(Warned(f"{peer} speaks of epoch {epoch}, which cannot be"))
        return wild

    async def _on_prepare(self, peer: str, message: Prepare) -> None:
        if self._cannot_be(peer, message.epoch):
            return
        if self._rules.refuses(self.promised, message.epoch):
            reported = f"of epoch {message.epoch}; epoch {self.promised} is promised"
            self._ignoring.report(peer, message, reported)
            self._replies.append((peer, Stale(self.promised)))
            return
        self._promise(message.epoch)
        log = self._log
        if not log.holds(message.previous):
            gap: Message = Mismatch(message.epoch, self._state.commit_sn, log.tails())
            if self._mutations.ack_of_gap and message.groups:
                gap = self._prepared(
                    message.epoch, mark_of(decode_group(message.groups[-1]), message.groups[-1])
                )
            self._replies.append((peer, gap))
            return
        sn = message.previous.sn
        for data in message.groups:
            sn += 1
            try:
                await self._take(sn, data)
            except msgspec.DecodeError as error:
                self._world.trace.emit(Warned(f"{peer} sent a group that is none: {error}"))
                return
        matched = log.mark_at(sn)
        assert matched is not None
        self._sent = max(self._sent, (message.epoch, sn))
        if self._acknowledges:
            self._replies.append((peer, self._prepared(message.epoch, matched)))
        self._commits_after_sync = max(self._commits_after_sync, min(message.commit_sn, sn))

    def _prepared(self, epoch: int, mark: Mark) -> Prepared:
        return Prepared(epoch, mark, self._identity.id.instance)

    async def _take(self, sn: int, data: bytes) -> None:
        """Drops a group that the journal has; cuts groups that disagree with a new one and appends it."""
        crc = crc32c(data)
        if self._log.has(sn, crc):
            return
        group = decode_group(data)
        if self._log.last.sn >= sn:
            await self.cut(sn - 1, f"epoch {group.epoch} wrote another group {sn}")
        began = group.epoch > self._log.last.epoch
        self._write(group, data, Mark(group.incarnation, group.epoch, sn, crc))
        if began:
            self._replica.images.leave_lost()
        self._state.prepared(group)

    def _on_decision(self, peer: str, message: CommitDecision) -> None:
        if message.epoch == self.promised and self._log.holds(message.mark):
            self._decisions.append(message.epoch, message.mark.sn)
            self._replies.append((peer, DecisionLogged(message.epoch, message.mark.sn)))

    def _write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self._log.append(mark, data)
        if self._holes.async_flush and any(isinstance(record, CROSS_GROUP) for record in group.records):
            self._protocol_write_back = True
        self._replica.pins.on_group(group)
        self._unsynced.append(
            Durable(mark.sn, mark.epoch, group.groupid, mark.crc, len(group.records), len(data))
        )

    def _on_recover(self, peer: str, message: Recover) -> None:
        """Promises the new epoch durably before the journal is reported. With the hole `late_watch`, it promises nothing.

        A server that does not count does not reply: groups that it acknowledged may be lost (safety rule 23). An elected of another incarnation
        of the cluster receives no reply (safety rule 14).
        """
        replica = self._replica
        ours = message.incarnation == replica.origin.incarnation
        if replica.unfit is not None or not ours or self._cannot_be(peer, message.epoch):
            return
        if self._rules.refuses(self.promised, message.epoch):
            reported = f"of epoch {message.epoch}; epoch {self.promised} is promised"
            self._ignoring.report(peer, message, reported)
            self._replies.append((peer, Stale(self.promised)))
            return
        if not self._holes.late_watch:
            self._promise(message.epoch)
        commit_sn, left_ns = self._state.commit_sn, self.granter.left_ns
        promise = Promise(message.epoch, commit_sn, self._log.tails(), self._identity.id, left_ns)
        self._replies.append((peer, promise))

    async def _make_durable(self) -> None:
        if self._holes.async_flush and not self._protocol_write_back:
            self._answer(self._own)
        own, self._own = self._own, None
        decided, self._decided = self._decided, None
        if self.promised != self._promised_on_disk:
            promised = self.promised
            await self._world.disk.replace(EPOCH_FILE, seal(EPOCH_MAGIC, EPOCH_FORMAT, promised))
            self._promised_on_disk = promised
        if self._unsynced:
            written, self._unsynced, self._protocol_write_back = self._unsynced, [], False
            await self._log.sync()
            for durable in written:
                self._world.trace.emit(durable)
        await self._decisions.sync()
        self._answer(own)
        if decided is not None:
            decided()

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
            self._listener.on_own_durable(own)

    def spared_sn(self, epoch: int) -> int:
        """The sn up to which a session of this epoch cuts nothing: its writer sent these groups, or a later epoch is promised.

        An acknowledgement may be under way for each of them.
        """
        last = self._log.last
        if self._mutations.session_cuts_acknowledged:
            return 0
        if last.epoch == epoch or self.promised > epoch:
            return last.sn
        return self._sent[1] if self._sent[0] == epoch else 0

    async def cut(self, sn: int, reason: str, session: int | None = None) -> None:
        """Removes the groups after sn from the journal, and from the namespace if they are applied. `session`: the epoch of the renewing session
        that asks for it, which spares what its writer has sent."""
        if session is not None:
            sn = max(sn, self.spared_sn(session))
        if self._log.last.sn <= sn:
            return
        if self._state.applied_sn > sn:
            await keep_aside(self._replica, sn)
            if session is not None and self.spared_sn(session) > sn:
                await self.cut(sn, reason, session)  # Groups have come meanwhile.
                return
        self._sent = (self._sent[0], min(self._sent[1], sn))
        self._unsynced = [durable for durable in self._unsynced if durable.sn <= sn]
        # The state is cut before the await: groups that arrive during it follow `sn`. They must be kept, and not applied to the old namespace.
        applied = not self._state.cut(sn)
        if applied:
            self._state.freeze()
        try:
            await self._log.cut(sn)
            self._world.trace.emit(Cut(sn, reason))
        finally:  # A session may end during the wait; the log has let the groups go before it.
            if applied:
                rebuild(self._replica)


def _stored_epoch(world: World) -> tuple[int, bool]:
    """The promised epoch on disk, and whether damage to its file lost it. Raises UnknownSeal, OSError."""
    try:
        return unseal(EPOCH_FILE, EPOCH_MAGIC, EPOCH_FORMAT, world.disk.read(EPOCH_FILE), int), False
    except FileNotFoundError:
        return 0, False
    except UnknownSeal:
        raise
    except SealBroken as broken:
        reported = f"{broken}; it is moved to aside/{EPOCH_FILE}, and {world.name} takes no journals before it promises the epoch of the view anew"
        world.trace.emit(Warned(reported))
        return 0, True
