"""How the holder of the lock becomes the primary (DCFS3, Recovery; safety rules 8 and 16): a ballot, phase 1, and the redone slots."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from nodes.config import MILLISECOND
from nodes.protocols.paxos.member import PaxosMember
from nodes.protocols.paxos.messages import PaxosPrepare, PaxosPromise
from nodes.protocols.paxos.redo import Received, Redone, credible, lacking, redo
from nodes.replicas.disks import Roll
from nodes.replicas.leader import TakeoverStopped, lease_over_ns, may_answer, write_epoch
from nodes.replicas.view import EpochNode
from nodes.units import DiskId

PRIMARY, SECONDARY, JOINING = "primary", "secondary", "joining"
ASK_AGAIN_NS = 100 * MILLISECOND
TRY_AGAIN_NS = 10 * MILLISECOND


class Adopted(NamedTuple):
    """The result of phase 1."""

    promised: list[str]
    """The servers that have promised and reported all their slots."""
    redone: list[Redone]

    def __str__(self) -> str:
        if not self.redone:
            return "nothing is to be redone"
        states = [each.state for each in self.redone]
        counted = ", ".join(f"{states.count(state)} {state}" for state in ("success", "accept", "empty"))
        return f"slots {self.redone[0].record.sn} to {self.redone[-1].record.sn} are redone: {counted}"


class Takeover:
    """One attempt of one server in one ballot."""

    def __init__(self, member: PaxosMember):
        self._member = member
        self.ballot = 0
        self.old_primary = ""
        self.written_at_ns = 0
        """Time at which the ballot was written. No primary confirms a lower ballot afterwards."""
        self.promised: dict[str, int] = {}
        """Arrival time of each promise, by server."""
        self.answers: dict[str, Received] = {}
        self.configured: list[str] = []
        self.disks: dict[str, DiskId] = {}
        """Disk of each promise, by server."""
        self.recorded: dict[str, int] = {}
        """Disk of each server on record when the ballot was written."""
        self._views: list[list[str]] = []
        """The last view known to be decided and later ones that may be; each begins with its primary."""
        self._received = asyncio.Event()

    # --- the ballot ------------------------------------------------------------------------------------------------

    async def write_ballot(self) -> None:
        """Writes the next ballot, this server as primary and the old one as joining, in one guarded transaction. Raises LostLock."""
        member = self._member
        await write_epoch(member, self._begin, PRIMARY, JOINING)
        self.written_at_ns = member.world.clock.monotonic_ns()
        configuration, _ = await member.view.configuration()
        self.configured, self.recorded = configuration.members, configuration.disks
        self.disks[member.name] = member.identity.id
        await member.acceptor.promise(self.ballot)
        self._views = member.acceptor.views()
        if not member.acceptor.knows_view:
            await self._suspect_everybody()

    def _begin(self, last: EpochNode) -> int:
        self.ballot = max(last.epoch, self._member.acceptor.promised) + 1
        self.old_primary = last.active
        return self.ballot

    # --- phase 1 ---------------------------------------------------------------------------------------------------

    def on_promise(self, peer: str, message: PaxosPromise) -> None:
        if message.ballot != self.ballot:
            reported = f"of ballot {message.ballot}; this is ballot {self.ballot}"
            self._member.ignoring.report(peer, message, reported)
            return
        if not credible(message):
            self._member.warn(f"{peer} promises, and reports what cannot be")
            return
        same_disk = self.disks.setdefault(peer, message.disk) == message.disk
        if not same_disk or (peer in self.answers and self.answers[peer].begins_anew(message)):
            self.answers.pop(peer, None)
            self.disks[peer] = message.disk
        self.promised.setdefault(peer, self._member.world.clock.monotonic_ns())
        received = self.answers.setdefault(peer, Received(self._first - 1))
        received.add(message)
        if not received.whole:
            self._ask(peer)
        self._received.set()

    def _ask(self, server: str) -> None:
        received = self.answers.get(server)
        first = self._first if received is None else received.upto + 1
        self._member.world.network.send(server, PaxosPrepare(self.ballot, first))

    def ask(self, servers: list[str]) -> None:
        for server in servers:
            if server != self._member.name and not self._reported_all(server):
                self._ask(server)

    @property
    def _first(self) -> int:
        return self._member.queue.success + 1

    def _reported_all(self, server: str) -> bool:
        return server == self._member.name or (server in self.answers and self.answers[server].whole)

    def _enough(self) -> bool:
        """Whether enough of the configured group has reported (safety rule 23).

        Enough is a majority with so many recorded disks that every other majority of recorded disks has one of them, or all servers. Only recorded
        disks have decided anything; while none is recorded, nothing is decided."""
        reported = {server: self.disks[server] for server in self.configured if self._reported_all(server)}
        mutation = self._member.config.cluster.mutations.replaced_disk_votes
        majority = len(self.configured) // 2 + 1
        witnesses = max(1, (len(self.recorded) or len(self.configured)) - majority + 1)
        roll = Roll(self.configured, self.recorded, mutation)
        return len(reported) >= majority and roll.suffices(witnesses, reported)

    async def hear(self, present: list[str], timeout_ns: int, grace_ns: int) -> None:
        """Asks until a majority of the configured group has promised and reported, then during `grace_ns` for all present. Raises TakeoverStopped."""
        clock = self._member.world.clock
        everybody = sorted({*self.configured, *present})
        began_ns = clock.monotonic_ns()
        while True:
            waited_ns = clock.monotonic_ns() - began_ns
            all_reported = all(self._reported_all(server) for server in present)
            if self._enough() and (all_reported or waited_ns >= grace_ns):
                return
            if waited_ns >= timeout_ns:
                raise TakeoverStopped("too few of the configured group answered")
            self.ask(everybody)
            self._received.clear()
            timer = clock.call_later(ASK_AGAIN_NS, self._received.set)
            await self._received.wait()
            timer.cancel()

    # --- images ----------------------------------------------------------------------------------------------------

    async def begin_from_image(self, timeout_ns: int) -> None:
        """Reads an image first if other members have pruned slots that this server lacks.

        Raises TakeoverStopped when no image could be read in time or too few reports are left, CoordinationError, OSError.
        """
        member, clock = self._member, self._member.world.clock
        deadline_ns = clock.monotonic_ns() + timeout_ns
        while slot := lacking(member.queue.success, self._received_whole().values()):
            if clock.monotonic_ns() >= deadline_ns:
                raise TakeoverStopped(
                    f"slot {slot} is decided, others have pruned it, and no image of it was read"
                )
            if await member.begin_from_image(sorted(self.answers)):
                await self._suspect_everybody()
            else:
                await clock.sleep(ASK_AGAIN_NS)
        if not self._enough():
            # One that had reported has another disk since, and what it reported was dropped.
            raise TakeoverStopped(
                "too few of the configured group answered with the disks that they have now"
            )

    async def _suspect_everybody(self) -> None:
        """An image hides the last view, so any server may have led and any other may read under its lease. Raises CoordinationError."""
        everybody = await self._member.view.registered()
        self._views += [[name, *everybody] for name in everybody]

    def _received_whole(self) -> dict[str, Received]:
        return {name: received for name, received in self.answers.items() if received.whole}

    # --- redone slots ----------------------------------------------------------------------------------------------

    async def adopt(self) -> Adopted:
        """Accepts the redone records under the new ballot. Raises ValueError."""
        member = self._member
        mark = member.log.mark_at(member.queue.success)
        assert mark is not None
        mine = Received(member.queue.success)
        while not mine.whole:
            mine.add(member.acceptor.reported(mine.upto + 1))
        promised = self._received_whole()
        answers = {member.name: mine}
        if not member.config.cluster.holes.redo_without_phase_one:
            answers.update(promised)
        redone = redo(self.ballot, mark, member.now_ns(), answers.values())
        success = max(received.success for received in answers.values())
        member.acceptor.primary = member.name
        await member.acceptor.adopt(self.ballot, [(each.record, each.data) for each in redone], success)
        for each in member.queue.waiting_up_to(member.queue.current):
            member.state.prepared(each)
        member.state.apply_ahead()
        self._views += [each.record.view for each in redone if each.record.view]
        return Adopted(list(promised), redone)

    async def check_rollbacks(self) -> None:
        """Checks that this server can apply the rollbacks among its slots, before it proposes one. Raises TakeoverStopped."""
        state, history = self._member.state, self._member.replica.history
        for sn, record in history.rollbacks():
            if sn > state.applied_sn and (state.stuck_sn or not await history.leads_to(record.barrier_sn)):
                raise TakeoverStopped(f"the rollback in slot {sn} cannot be applied here")

    # --- old leases ------------------------------------------------------------------------------------------------

    async def outlive_old_leases(self) -> None:
        """Waits until no server reads under a lower ballot (safety rules 9 and 16). Raises CoordinationError.

        A server that promised does not read. A grant of an old primary may last for one lease after that primary promised, stopped, or lost its
        own lease."""
        member, clock = self._member, self._member.world.clock
        await member.view.confirmations.look_around(clock)
        while True:
            unsure = [name for name in await may_answer(member) if name not in self.promised]
            silent = {name for view in self._views for name in view} - {member.name, *self.promised}
            left_ns = self._leases_over_ns(unsure, silent) - clock.monotonic_ns()
            if left_ns <= 0:
                return
            self.ask(sorted({*silent, *unsure}))
            await clock.sleep(min(left_ns, TRY_AGAIN_NS))

    def _leases_over_ns(self, unsure: list[str], silent: set[str]) -> int:
        """The end of the old leases. `unsure` may still answer as primaries; `silent` may still read as secondaries of another primary."""
        member = self._member
        over_ns = [lease_over_ns(member, name) for name in unsure]
        primaries = {self.old_primary, *(view[0] for view in self._views), *unsure} - {""}
        granters = [name for name in sorted(primaries) if silent - {name}]
        granted_ns = [self._granted_until_ns(name, unsure) for name in granters]
        return max([*over_ns, *granted_ns], default=0)

    def _granted_until_ns(self, primary: str, unsure: list[str]) -> int:
        """The time at which every lease that this primary granted has certainly expired."""
        member = self._member
        if primary in unsure:
            stopped_ns = lease_over_ns(member, primary)
        elif primary in self.promised:
            stopped_ns = self.promised[primary]
        else:
            seen = member.view.confirmations.sighting(primary)
            stopped_ns = self.written_at_ns if seen is None else seen.at_ns
        return stopped_ns + member.read_term.outlived_ns
