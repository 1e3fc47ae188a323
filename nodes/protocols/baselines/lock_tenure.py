"""The tenure of a server in a family with a shared journal, while it holds the lock: takeover, service, end."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import msgspec

from nodes.metadata.records import IncarnationRecord
from nodes.metadata_server.own_journal import NotNext, OwnJournal
from nodes.metadata_server.replica import Replica
from nodes.metadata_server.tenure import ChosenMechanisms, JournalLeader
from nodes.metadata_server.writer import JournalWriter
from nodes.protocols.baselines.readers import Readers, read_on
from nodes.protocols.baselines.shared_journal import JournalLost, SharedJournal, SharedWriter
from nodes.replicas.leader import LOOK_NS, LOOKS, TakeoverStopped, wait_out_old_leases, write_epoch
from nodes.replicas.log import decode_group
from nodes.replicas.messages import Granted
from nodes.replicas.view import ACTIVE, STANDBY, EpochNode, LostLock
from nodes.scope import Tenure
from nodes.trace.events import StepTaken, Warned
from nodes.world import CoordinationError

PAPER = "CFS §2.2"


class Leading(JournalLeader):
    """One tenure of a holder of the lock."""

    def __init__(
        self,
        replica: Replica,
        choice: ChosenMechanisms,
        journal: SharedJournal,
        local: OwnJournal,
        tenure: Tenure,
        ended: Callable[[], None],
    ):
        super().__init__(replica, choice, tenure, ended, local.rounds)
        self.answering.backlog.admit_and_hold()
        self._journal = journal
        self._local = local
        self._sync: SharedWriter | None = None
        self._readers = Readers(replica, self._prune)
        self._epoch = 0

    @property
    def epoch(self) -> int:
        return self._epoch

    def _could_go_on(self, there: int, size: int, spares: int) -> bool:
        """Any other server, for the journal is elsewhere."""
        return there > 0

    # --- steps -------------------------------------------------------------------------------------------------

    def on_granted(self, peer: str, message: Granted) -> None:
        if message.epoch == self.epoch:
            self.grants.on_granted(peer, message)

    def remove(self, server: str) -> str:
        return self._readers.remove(server) if self.serving else f"{self._replica.name} does not serve yet"

    def _prune(self, sn: int) -> None:
        if self._sync is not None:
            self._sync.prune(sn)

    def _end(self) -> None:
        if self._sync is not None:
            self._local.on_durable.unsubscribe(self._sync.on_own_durable)
        super()._end()

    def _step(self, step: str, detail: str) -> None:
        self._replica.world.trace.emit(StepTaken("upgrade", step, PAPER, detail, self.epoch))

    # --- procedure ---------------------------------------------------------------------------------------------

    async def take_over(self) -> None:
        replica, grants = self._replica, self.grants
        clock = replica.world.clock
        await write_epoch(replica, self._begin, ACTIVE, STANDBY)
        session_ns = replica.world.coordination.session_timeout_ns
        self._role("elected", f"epoch {self.epoch} is written")
        self._confirm_lease()
        if grants.needed:
            # From here on the journal nodes receive heartbeats, so that they do not call this server silent.
            asks = grants.ask(replica.group.number, self.epoch, replica.view.generation, self._receivers)
            self._tenure.spawn(asks, "grants")
        end_sn = await self._journal.recover(self.epoch, session_ns)
        if end_sn is None:
            self._too_few("too few nodes of the journal answered")
        self._step("1", f"earlier writers are shut out; the journal ends with sn {end_sn}")
        if not await self._catch_up(end_sn, clock.monotonic_ns() + session_ns):
            self._too_few(f"the journal could not be read up to sn {end_sn}")
        for sn, _ in replica.history.rollbacks():
            # Everything up to the end is on a quorum of the nodes, and a rollback is applied only as committed.
            replica.state.commit(sn)
        self._step("2", f"has read up to sn {end_sn}")
        if not await self._can_roll_back():
            self._too_few(f"image and journal here do not lead to checkpoint {replica.origin.checkpoint}")
        if not await self._open_journal(session_ns):
            self._too_few("too few nodes of the journal take a new segment")
        await wait_out_old_leases(replica, grants_end_ns=lambda: self._journal.grants_end_ns)
        while not await grants.obtained(lambda: self._granted, session_ns):
            pass  # Without them `_give_way_to_granted` ends this tenure.
        self._serve()

    def _receivers(self) -> list[str]:
        """The nodes of the journal, which grant, and the other servers, which notice when this one falls silent."""
        servers = dict.fromkeys((*self._readers.members, *self._readers.standbys()))
        others = [name for name in servers if name != self._replica.name]
        return [*self._replica.config.cluster.journal.nodes, *others]

    @property
    def _granted(self) -> bool:
        return self.grants.until_ns > self._replica.world.clock.monotonic_ns()

    async def _give_way_to_granted(self) -> None:
        """Releases the lock after a session time-out without the grants of a majority, when another server is there. The fault may be in this
        server's own links, and nodes that receive its heartbeats never call it silent."""
        view, world = self._replica.view, self._replica.world
        found = 0
        while True:
            await world.clock.sleep(world.coordination.session_timeout_ns // LOOKS)
            if self._granted:
                found = 0
                continue
            try:
                places = await view.places()
            except CoordinationError:
                continue
            # Any server can lead, also one that was added and is not in the record.
            found = found + 1 if places.keys() - {world.name} else 0
            if found > LOOKS:
                self.skip_next_election = True
                await self._give_up("no majority of the journal nodes grants the lease")

    def _too_few(self, reason: str) -> NoReturn:
        self._step("give up", reason)
        self.skip_next_election = True
        raise TakeoverStopped(reason)

    def _begin(self, last: EpochNode) -> int:
        self._epoch = max(last.epoch, self._journal.promised) + 1
        return self._epoch

    async def _catch_up(self, end_sn: int, deadline_ns: int) -> bool:
        """Cuts the own journal to what is known to be committed, then reads the rest of the shared one."""
        replica = self._replica
        await self._local.cut(replica.state.commit_sn, "what was not known to be committed is read again")
        while replica.log.last.sn < end_sn:
            try:
                groups = await read_on(replica, self._journal, self._local)
            except (NotNext, msgspec.DecodeError) as error:
                replica.world.trace.emit(Warned(str(error)))
                return False
            if groups:
                continue
            if replica.world.clock.monotonic_ns() > deadline_ns:
                return False
            await replica.world.clock.sleep(LOOK_NS)
        return replica.log.last.sn == end_sn

    @property
    def _must_roll_back(self) -> bool:
        """Whether the newest recovery of the cluster is not in the journal yet."""
        return self._replica.state.namespace.incarnation < self._replica.origin.incarnation

    async def _can_roll_back(self) -> bool:
        """Whether this server has applied the journal, and can apply the rollback that comes next if there is one."""
        replica = self._replica
        if replica.state.stuck_sn or replica.state.namespace.incarnation > replica.origin.incarnation:
            return False
        barrier = replica.origin.barrier
        return not self._must_roll_back or (
            replica.log.holds(barrier) and await replica.history.leads_to(barrier.sn)
        )

    async def _open_journal(self, timeout_ns: int) -> bool:
        """Opens the journal. One empty group of the new epoch commits everything adopted, and shows readers the group before it."""
        replica = self._replica
        sync = await self._journal.begin(self.epoch, replica.log.last, timeout_ns, self.grants)
        if sync is None:
            return False
        self._sync = sync
        self._local.on_durable.subscribe(sync.on_own_durable)
        self._tenure.spawn(self._readers.follow(), "readers")
        writer = self._open_writer(sync, self._readers)
        self._report_commits(writer)
        self._tenure.spawn(self._keep(sync), "journal")
        if self.grants.needed:
            self._tenure.spawn(self._give_way_to_granted(), "whether the lease is granted")
        if self._must_roll_back:
            await self._roll_back(writer)
        await self._commit_empty_group(writer)
        self._step("3", f"an empty group of epoch {self.epoch} is committed")
        return True

    async def _roll_back(self, writer: JournalWriter) -> None:
        """The first group of the new incarnation: from it on, the state is that of the barrier (CFS §4.3). Raises TakeoverStopped.

        It is applied when it is committed, so that no failover can bring back what it set aside.
        """
        replica, origin = self._replica, self._replica.origin
        barrier, now_ns = origin.barrier, self.answering.now_ns()
        writer.roll_back(
            IncarnationRecord(now_ns, origin.incarnation, origin.checkpoint, barrier.sn, barrier.crc)
        )
        await self._committed(replica.log.last.sn)
        if replica.state.stuck_sn:
            self._too_few(f"the state at checkpoint {origin.checkpoint} cannot be restored here")
        self._step("3", f"sn {replica.log.last.sn} restores checkpoint {origin.checkpoint}")

    async def _commit_empty_group(self, writer: JournalWriter) -> None:
        writer.close_group()
        await self._committed(self._replica.log.last.sn)

    async def _committed(self, sn: int) -> None:
        while self._replica.state.commit_sn < sn:
            await self._replica.world.clock.sleep(LOOK_NS)

    def _report_commits(self, writer: JournalWriter) -> None:
        """Reports committed groups that an earlier active may have died before reporting.

        The shared journal has decided them, so that this server may have applied them as a standby. Groups that the last group knew to be
        committed were reported before that group was sent.
        """
        log = self._replica.log
        for data in log.encoded(log.known_commit_sn() + 1, self._replica.state.commit_sn):
            writer.report_committed(decode_group(data))

    async def _keep(self, sync: SharedWriter) -> None:
        try:
            await sync.keep()
        except LostLock as lost:
            self.stand_down(str(lost))
        except (JournalLost, CoordinationError) as error:
            await self._give_up(f"{type(error).__name__}: {error}")

    def _serve(self) -> None:
        self._step("4", f"{self._replica.world.name} is the active")
        self._begin_service("active", f"epoch {self.epoch} is served", self._replica.log.last)
