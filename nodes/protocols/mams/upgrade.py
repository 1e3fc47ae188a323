"""Active-standby state transition (CFS §4.2.2, Fig. 5): how the holder of the lock becomes the active. `Elected.take_over` is the figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.metadata_server.tenure import ChosenMechanisms, JournalLeader
from nodes.protocols.mams.active import Active
from nodes.protocols.mams.configuration import place_of
from nodes.protocols.mams.handover import Handovers
from nodes.protocols.mams.members_lease import MembersLease
from nodes.protocols.mams.messages import Promise
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.protocols.mams.receivers import follow_receivers
from nodes.protocols.mams.recovery import JournalRecovery
from nodes.protocols.mams.rules import MamsRules
from nodes.protocols.mams.ssp import Ssp
from nodes.protocols.mams.stream import MamsStream
from nodes.replicas.leader import TakeoverStopped, wait_out_old_leases, write_epoch
from nodes.replicas.messages import Granted
from nodes.replicas.view import ACTIVE, JUNIOR, STANDBY, Configuration, EpochNode, ServerPlace, ViewMoved
from nodes.scope import Tenure
from nodes.wire.messages import Mark, Message
from nodes.world import Change, CheckNode, ConnectionLoss

PAPER = "CFS §4.2.2"
TRY_AGAIN_NS = 10 * MILLISECOND


class Elected(JournalLeader):
    """The tenure of one holder of the lock: upgrade, service, end."""

    def __init__(
        self,
        replica: Replica,
        pool: PoolJournal,
        choice: ChosenMechanisms,
        sync: type[Ssp],
        tenure: Tenure,
        ended: Callable[[], None],
        trusts_own_journal: bool,
        rules: MamsRules,
    ):
        super().__init__(replica, choice, tenure, ended, pool.rounds)
        self._pool = pool
        self._make_sync = sync
        self._standby_trusts_own = trusts_own_journal
        self._rules = rules
        self._epoch = 0
        self._by_juniors = False
        self._recovery: JournalRecovery | None = None
        """Promises and journals of the members, from step 3b on."""
        self._active: Active | None = None
        """Participants and members, from step 4 on."""
        self._members_lease = MembersLease(replica, self, tenure)
        self.handovers = Handovers(replica, self, tenure, self._give_up)

    @property
    def epoch(self) -> int:
        return self._epoch

    # --- messages -------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        """Promises and grants count from step 3b on, all other messages from step 4 on."""
        if isinstance(message, Granted):
            if message.epoch == self.epoch:
                self.grants.on_granted(peer, message)
            return
        if self._recovery is not None and isinstance(message, Promise):
            self._recovery.on_promise(peer, message)
        if self._active is not None:
            self._active.on_message(peer, message)

    def remove(self, server: str) -> str:
        """Orders the removal of a server, which happens as soon as it can lose nothing.

        Returns the reason when the removal is impossible, else an empty string.
        """
        if self._active is None or not self.serving:
            return f"{self._replica.name} does not serve yet"
        return self._active.remove(server)

    def _could_go_on(self, there: int, size: int, spares: int) -> bool:
        """Whether `there` members are a read quorum, and a write quorum together with the spares that they renew."""
        return 2 * there >= size and 2 * (there + spares) > size + spares

    def _may_lead(self, place: ServerPlace) -> bool:
        """A standby, or a junior that came with a journal: such juniors may be the only candidates when all other servers were started anew or led
        last."""
        return place.state == STANDBY or place.epoch > 0

    def on_own_durable(self, mark: Mark) -> None:
        if self._active is not None:
            self._active.sync.on_own_durable(mark)

    def _on_lost(self, participant: str) -> None:
        timeout_ms = self._replica.config.cluster.timing.ack_timeout_ms
        detail = f"{participant} has not acknowledged for {timeout_ms} ms and is sent no more journals"
        self._replica.step("shrink", "ACK", "CFS §4.1.2", detail, self.epoch)

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("upgrade", step, PAPER, detail, self.epoch)

    # --- Fig. 5 ---------------------------------------------------------------------------------------------------

    async def take_over(self) -> None:
        """Runs the steps of CFS §4.2.2, Fig. 5. Each is an event with the paper's number; the paper has no steps 0, 3b and 4b. The record of
        the members' disks, between steps 4 and 5, is its own event (`Configured`).

        Raises TakeoverStopped, LostLock, CoordinationError.
        """
        await self._look_at_epoch()  # 0
        await self._check_own_state()  # 1
        await self._write_view()  # 2
        self._hold_requests()  # 3
        recovery = await self._recover()  # 3b
        active, sn = await self._flush(recovery)  # 4
        if self.grants.needed:  # No configuration changes before: R of the next one may have granted an earlier holder nothing (safety rule 26).
            await wait_out_old_leases(self._replica, recovery.unsure, recovery.grants_end_ns)
        await self._regain_quorum(active, sn)  # 4b
        await active.name_disks()  # safety rule 23
        standbys = await self._register(active)  # 5
        await self._serve(active, recovery, standbys)  # 6
        await self._keep_stable(active)  # 7

    async def _look_at_epoch(self) -> None:
        """Step 0, before the paper's: the server reads the epoch that ends. Groups of it that are known to be committed are applied."""
        node, _ = await self._replica.view.epoch()
        self._epoch = node.epoch + 1
        self._step(
            "0",
            f"epoch {node.epoch} was the last; what it committed is applied up to sn {self._replica.state.applied_sn}",
        )

    async def _check_own_state(self) -> None:
        """CFS §4.2.2 step 1: a junior stops here while there are standbys. Raises TakeoverStopped."""
        replica = self._replica
        places = await replica.view.places()
        mine = places.get(replica.name)
        self._by_juniors = not any(place.state == STANDBY for place in places.values())
        allowed = mine is not None and (mine.state == STANDBY or self._by_juniors or replica.forcing.stands)
        state = mine.state if mine else "without a place"
        self._step("1", f"is {state}, {'goes on' if allowed else 'gives up the lock'}")
        if not allowed:
            raise TakeoverStopped("a junior does not take over while there are standbys")

    async def _write_view(self) -> None:
        """CFS §4.2.2 step 2: one transaction writes the new epoch, this server as active and the old active as junior.

        The old active stays a junior until its journal proves equal. Journals of lower epochs are refused from here on.
        """
        await write_epoch(self._replica, self._begin, ACTIVE, JUNIOR)
        await self._pool.promise(self.epoch)
        written = f"epoch {self.epoch} is written, {self._replica.name} is active"
        self._step("2", f"{written}, journals of lower epochs are refused")
        self._role("elected", "step 2 is written")
        self._confirm_lease()

    def _begin(self, last: EpochNode) -> int:
        self._epoch = self._rules.election.next_epoch(last.epoch, self._pool.promised)
        if self._replica.config.cluster.mutations.reused_epoch and self._epoch > 1:
            self._epoch -= 1
        return self._epoch

    async def _recover(self) -> JournalRecovery:
        """Step 3b (safety rules 1-4): the elected adopts every group that the last configuration acknowledged. Raises TakeoverStopped."""
        replica = self._replica
        configuration = await self._last_configuration()
        recovery = self._recovery = JournalRecovery(
            replica, self._pool, self.epoch, configuration, self._rules.election
        )
        self._members_lease.begin(recovery)
        if self._trusts_own_journal():
            recovery.ask(configuration.members)
            return recovery
        received = await recovery.hear(replica.world.coordination.session_timeout_ns)
        if not received and not replica.forcing.stands:
            self._too_few(f"{recovery.received} of {configuration.read_quorum} members answered")
        source = recovery.longest()
        if source != replica.name and not await recovery.adopt(source):
            self._too_few(f"could not copy the journal of {source}")
        if not received:
            await recovery.begin_from_image()
            recovery.force()
            self.forced = True
        if not replica.reaches_barrier:
            self._too_few(f"no server that answered holds checkpoint {replica.origin.checkpoint}")
        promised = ", ".join(sorted(recovery.promises)) or "no other server"
        self._step("3b", f"promises of {promised}; {source} has the last journal")
        return recovery

    async def _last_configuration(self) -> Configuration:
        """The recorded configuration. With the hole open, its members are the servers with a place in the view now."""
        configuration, _ = await self._replica.view.configuration()
        if self._replica.config.cluster.holes.configuration_is_liveness:
            return msgspec.structs.replace(configuration, members=list(await self._replica.view.places()))
        return configuration

    def _trusts_own_journal(self) -> bool:
        """Whether a hole of the papers is open with which the elected takes its own journal as complete."""
        if self._by_juniors:
            return self._replica.config.cluster.holes.junior_election_eager
        return self._standby_trusts_own

    def _too_few(self, detail: str) -> NoReturn:
        self._step("3b", detail)
        self.skip_next_election = True
        raise TakeoverStopped("too few members of the last configuration answered")

    def _hold_requests(self) -> None:
        """CFS §4.2.2 step 3: requests are admitted and held. None is carried out before step 6."""
        self.answering.backlog.admit_and_hold()
        self._step("3", "requests are accepted and held")

    async def _flush(self, recovery: JournalRecovery) -> tuple[Active, int]:
        """CFS §4.2.2 step 4: sends the journal to the members that promised, which skip groups that they have, and one empty group of this epoch.

        When that group is committed, so is every earlier one. The members have one acknowledgement time-out. Returns the group's sn.
        """
        last = self._replica.log.last
        self._step("4", f"flushes everything up to sn {last.sn} and one empty group of epoch {self.epoch}")
        active = self._active = self._open_journal(recovery)
        self._members_lease.count(active)
        active.admit_promised()
        sn = self._close_first_group(active.writer)
        await active.flushed(sn)
        return active, sn

    def _open_journal(self, recovery: JournalRecovery) -> Active:
        replica, cluster = self._replica, self._replica.config.cluster
        sync = self._make_sync(
            replica.world, self.epoch, replica.log, replica.state, self._pool, recovery.configuration, cluster.holes.silent_shrink,
            cluster.mutations, self._on_lost,
        )  # fmt: skip
        active = Active(replica, self, recovery, sync, self._open_writer(sync, sync), self._rules.renewing)
        if sync.acknowledged:
            self._ahead_of_own = sync.ahead_of_own
        else:  # A takeover ends only on a disk that works: where all are slow alike, the active had better stay.
            self._patient = True
        self._tenure.spawn(active.ticks(), "ticks")
        self._tenure.spawn(self._give_way(active.out_of_reach, lambda: True), "who cannot be reached")
        if isinstance(sync, MamsStream):
            self._tenure.spawn(follow_receivers(replica, sync, self.epoch), "receivers")
        return active

    async def _regain_quorum(self, active: Active, sn: int) -> None:
        """Step 4b, only while too few members hold the flushed group: missing members leave and juniors are renewed, before the group serves
        (safety rule 19). Raises LostLock, ConnectionLoss."""
        if self._replica.state.commit_sn >= sn:
            return
        self._step("4b", f"too few members hold sn {sn}: missing ones leave, juniors are renewed")
        await active.regain_quorum(sn)

    async def _register(self, active: Active) -> list[str]:
        """CFS §4.2.2 step 5: members with the same journal are standbys, all others juniors. Raises LostLock, CoordinationError."""
        replica, view = self._replica, self._replica.view
        while True:
            _, version = await view.configuration()
            places = await view.places()
            sn, in_step = replica.log.last.sn, active.in_step()
            others = {name: place.state for name, place in places.items() if name != replica.name}
            states = {name: STANDBY if name in in_step else JUNIOR for name in others}
            changes: list[Change] = [
                view.place_change(name, place_of(active.sync, name, state, sn))
                for name, state in states.items()
                if others[name] != state
            ]
            try:
                if changes:  # A late copy must not call a server a standby that has been removed since: it would be sent nothing.
                    await view.guarded([CheckNode(view.path("configuration"), version), *changes])
                break
            except (ViewMoved, ConnectionLoss):
                await replica.world.clock.sleep(TRY_AGAIN_NS)
        standbys = [name for name, state in states.items() if state == STANDBY]
        self._step("5", f"registered {', '.join(standbys) or 'no server'} as standby")
        return standbys

    async def _serve(self, active: Active, recovery: JournalRecovery, standbys: list[str]) -> None:
        """CFS §4.2.2 step 6: service begins once no server replies under an earlier lock and pending checkpoints are void.

        Raises CoordinationError.
        """
        replica = self._replica
        await wait_out_old_leases(replica, recovery.unsure, recovery.grants_end_ns)
        await self._members_lease.obtain(active)
        await replica.ledger.void_pending()
        self._step("6", f"{replica.name} is the new active with {len(standbys)} standbys")
        last = replica.log.last
        self._begin_service("active", f"step 6 of epoch {self.epoch}", last)
        replica.forcing.end("done", f"serves in epoch {self.epoch} from sn {last.sn} on")

    async def _keep_stable(self, active: Active) -> None:
        """Step 7, until the tenure ends: the active renews juniors, one at a time. Raises LostLock.

        The view is stable when every member is in step and no junior waits.
        """
        pause_ns = self._replica.config.cluster.timing.renew_scan_ms * MILLISECOND
        was_stable = False
        while True:
            try:
                stable = await active.look_after_members()
                if stable and not was_stable:
                    self._step("7", "the view is stable again")
                was_stable = stable
            except ConnectionLoss:
                pass
            await self._replica.world.clock.sleep(pause_ns)
