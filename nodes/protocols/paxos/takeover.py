"""How the holder of the lock becomes the primary (DCFS3, Recovery; safety rules 8 and 16): a ballot, phase 1, and what is redone."""

from __future__ import annotations

import asyncio

from nodes.config import MILLISECOND
from nodes.protocols.paxos.member import Member
from nodes.protocols.paxos.messages import PaxosPrepare, PaxosPromise
from nodes.protocols.paxos.redo import Heard, Redone, credible, lacking, redo
from nodes.replicas.disks import Roll
from nodes.replicas.leader import lease_over_ns, may_answer, write_epoch
from nodes.replicas.view import EpochNode
from nodes.storage.identity import DiskId

PRIMARY, SECONDARY, JOINING = "primary", "secondary", "joining"
ASK_AGAIN_NS = 100 * MILLISECOND
TRY_AGAIN_NS = 10 * MILLISECOND


class Takeover:
    """One attempt of one server in one ballot."""

    def __init__(self, member: Member):
        self._member = member
        self.ballot = 0
        self.old_primary = ""
        self.written_at_ns = 0
        """When the ballot was written: nobody confirms a lower one from then on."""
        self.promised: dict[str, int] = {}
        """Who has promised, and when this was heard."""
        self.answers: dict[str, Heard] = {}
        self.configured: list[str] = []
        self.disks: dict[str, DiskId] = {}
        """With which those that have promised did."""
        self._recorded: dict[str, int] = {}
        self._views: list[list[str]] = []
        """The last view that is known to be decided, and those that may have been since; each begins with its primary."""
        self._heard = asyncio.Event()

    def step(self, step: str, detail: str) -> None:
        self._member.step("upgrade", step, detail, self.ballot)

    # --- the ballot ------------------------------------------------------------------------------------------------

    async def write_ballot(self) -> None:
        """One guarded transaction: the next ballot, ourselves primary, the old one joining. Raises LostLock."""
        member = self._member
        await write_epoch(member, self._begin, PRIMARY, JOINING)
        self.written_at_ns = member.world.clock.monotonic_ns()
        configuration, _ = await member.view.configuration()
        self.configured, self._recorded = configuration.members, configuration.disks
        self.disks[member.name] = member.identity.id
        await member.acceptor.promise(self.ballot)
        self._views = member.acceptor.views()
        if not member.acceptor.knows_view:
            await self._suspect_everybody()
        self.step("1", f"ballot {self.ballot} is written; lower ones are refused")

    def _begin(self, last: EpochNode) -> int:
        self.ballot = max(last.epoch, self._member.acceptor.promised) + 1
        self.old_primary = last.active
        return self.ballot

    # --- phase 1 ---------------------------------------------------------------------------------------------------

    def on_promise(self, peer: str, message: PaxosPromise) -> None:
        if message.ballot != self.ballot:
            told = f"of ballot {message.ballot}; this is ballot {self.ballot}"
            self._member.ignoring.tell(peer, message, told)
            return
        if not credible(message):
            self._member.warn(f"{peer} promises and tells what cannot be")
            return
        if self.disks.setdefault(peer, message.disk) != message.disk:
            self.answers.pop(peer, None)
            self.disks[peer] = message.disk
        self.promised.setdefault(peer, self._member.world.clock.monotonic_ns())
        heard = self.answers.setdefault(peer, Heard(message.success, message.current))
        heard.add(message)
        if not heard.whole:
            self._ask(peer)
        self._heard.set()

    def _ask(self, server: str) -> None:
        heard = self.answers.get(server)
        first = self._first if heard is None else heard.upto + 1
        self._member.world.network.send(server, PaxosPrepare(self.ballot, first))

    def ask(self, servers: list[str]) -> None:
        for server in servers:
            if server != self._member.name and not self._told_all(server):
                self._ask(server)

    @property
    def _first(self) -> int:
        return self._member.queue.success + 1

    def _told_all(self, server: str) -> bool:
        return server == self._member.name or (server in self.answers and self.answers[server].whole)

    def _enough(self) -> bool:
        """Whether a majority of the configured group has told, and among them so many with the recorded disks that every other majority has one
        of those; or all have (safety rule 23)."""
        told = {server: self.disks[server] for server in self.configured if self._told_all(server)}
        mutation = self._member.config.cluster.mutations.replaced_disk_votes
        majority = len(self.configured) // 2 + 1
        witnesses = len(self.configured) - majority + 1
        roll = Roll(self.configured, self._recorded, mutation)
        return len(told) >= majority and roll.suffices(witnesses, told)

    async def hear(self, present: list[str], timeout_ns: int, grace_ns: int) -> bool:
        """Asks until a majority of the configured group has promised and told; then a little longer for all who are present. False without."""
        clock = self._member.world.clock
        everybody = sorted({*self.configured, *present})
        began_ns = clock.monotonic_ns()
        while True:
            waited_ns = clock.monotonic_ns() - began_ns
            all_told = all(self._told_all(server) for server in present)
            if self._enough() and (all_told or waited_ns >= grace_ns):
                return True
            if waited_ns >= timeout_ns:
                return False
            self.ask(everybody)
            self._heard.clear()
            timer = clock.call_later(ASK_AGAIN_NS, self._heard.set)
            await self._heard.wait()
            timer.cancel()

    # --- images ----------------------------------------------------------------------------------------------------

    async def begin_from_image(self, timeout_ns: int) -> bool:
        """Where others have pruned what lacks here their image is read first. False when that could not be had in time.

        Raises CoordinationError, OSError.
        """
        member, clock = self._member, self._member.world.clock
        deadline_ns = clock.monotonic_ns() + timeout_ns
        while slot := lacking(member.queue.success, self._heard_whole().values()):
            if clock.monotonic_ns() >= deadline_ns:
                self.step(
                    "2", f"slot {slot} is decided, nobody who answered has it any more, and no image was read"
                )
                return False
            if await member.begin_from_image(sorted(self.answers)):
                await self._suspect_everybody()
            else:
                await clock.sleep(ASK_AGAIN_NS)
        return True

    async def _suspect_everybody(self) -> None:
        """The last view is inside an image: any server may have led, and any other may read under its lease. Raises CoordinationError."""
        everybody = await self._member.view.registered()
        self._views += [[name, *everybody] for name in everybody]

    def _heard_whole(self) -> dict[str, Heard]:
        return {name: heard for name, heard in self.answers.items() if heard.whole}

    # --- what is redone --------------------------------------------------------------------------------------------

    async def adopt(self) -> list[str]:
        """Accepts, under the new ballot, what the group goes on with; who has promised so far. Raises ValueError."""
        member = self._member
        mark = member.log.mark_at(member.queue.success)
        assert mark is not None
        mine = Heard(member.queue.success, member.queue.current)
        while not mine.whole:
            mine.add(member.acceptor.told(max(mine.upto, member.queue.success) + 1))
        promised = self._heard_whole()
        answers = {member.name: mine}
        if not member.config.cluster.holes.redo_without_phase_one:
            answers.update(promised)
        redone = redo(self.ballot, mark, member.now_ns(), answers.values())
        success = max(heard.success for heard in answers.values())
        member.acceptor.primary = member.name
        await member.acceptor.adopt(self.ballot, [(each.record, each.octets) for each in redone], success)
        for each in member.queue.waiting_up_to(member.queue.current):
            member.state.prepared(each)
        member.state.apply_ahead()
        self._views += [each.record.view for each in redone if each.record.view]
        self.step("2", f"heard {', '.join(sorted(self.answers)) or 'nobody else'}; {_counted(redone)}")
        return list(promised)

    # --- old leases ------------------------------------------------------------------------------------------------

    async def outlive_old_leases(self) -> None:
        """Waits until nobody reads under a lower ballot (safety rules 9 and 16): who promised does not; what an old primary granted may last for
        one lease after it promised, stopped, or could answer no more itself. Raises CoordinationError."""
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
        """`unsure`: who may still answer as a primary; `silent`: who may still read as a secondary of any primary but itself."""
        member = self._member
        over_ns = [lease_over_ns(member, name) for name in unsure]
        primaries = {self.old_primary, *(view[0] for view in self._views), *unsure} - {""}
        granters = [name for name in sorted(primaries) if silent - {name}]
        granted_ns = [self._granted_until_ns(name, unsure) for name in granters]
        return max([*over_ns, *granted_ns], default=0)

    def _granted_until_ns(self, primary: str, unsure: list[str]) -> int:
        """When what this primary granted has surely run out."""
        member = self._member
        if primary in unsure:
            stopped_ns = lease_over_ns(member, primary)
        elif primary in self.promised:
            stopped_ns = self.promised[primary]
        else:
            seen = member.view.confirmations.sighting(primary)
            stopped_ns = self.written_at_ns if seen is None else seen.at_ns
        return stopped_ns + member.read_term.outlived_ns


def _counted(redone: list[Redone]) -> str:
    if not redone:
        return "nothing is to be redone"
    states = [each.state for each in redone]
    counted = ", ".join(f"{states.count(state)} {state}" for state in ("success", "accept", "empty"))
    return f"slots {redone[0].record.sn} to {redone[-1].record.sn} are redone: {counted}"
