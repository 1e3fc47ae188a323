"""One member's journal of the total order, and the namespace that it yields."""

from __future__ import annotations

import asyncio
from collections import deque

from nodes.calls import Calls
from nodes.config import MILLISECOND, GroupConfig, ServerConfig, opened
from nodes.ignoring import Ignoring
from nodes.metadata.namespace import Namespace
from nodes.metadata.records import result_sum
from nodes.metadata_server.record_clock import RecordClock
from nodes.protocols.symmetric.agreement import Agreement
from nodes.protocols.symmetric.execution import Execution, Outcome
from nodes.protocols.symmetric.own_disk import OwnDisk, open_journal
from nodes.replicas.lease import Term, term_of
from nodes.replicas.log import NOTHING, ReplicaLog, encode_group
from nodes.trace.events import Applied, Committed, Cut, Durable, JournalOpened, StepTaken
from nodes.units import OpId
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import World


class Replica:
    """Groups are appended by `append`, made durable by `sync`, and submitted, visible to all, by `show`."""

    def __init__(
        self, world: World, config: ServerConfig, group: GroupConfig, log: ReplicaLog, own_disk: OwnDisk
    ):
        holes = config.cluster.holes
        self.world = world
        self.config = config
        self.group = group
        self.log = log
        self.own_disk = own_disk
        self.agreement = Agreement(world.coordination, group.name, world.name, holes.views_without_agreement)
        self.calls = Calls(world)
        self.ignoring = Ignoring(world)
        self.execution = self._from_nothing()
        self.times = RecordClock(world.clock, config.cluster.mutations.clock_jump_stamps)
        """Clock that stamps this server's calls since its process began."""
        self.settling = asyncio.Lock()
        """Lock held by a task that cuts and settles the journal."""
        self.granted_ns = world.clock.monotonic_ns()
        """Time at which this server last extended a lease, in any view; at least its start, because it may have done so just before a restart."""
        self._taken = 0
        self._not_synced: deque[tuple[int, JournalGroup, Mark, int]] = deque()
        """Unsynced groups, each with a count that no later group gets, not even one of the same sn."""

    @property
    def name(self) -> str:
        return self.world.name

    def _from_nothing(self) -> Execution:
        cluster = self.config.cluster
        short = cluster.holes.short_duplicate_memory
        empty = Namespace(self.group.number, short, mutations=cluster.mutations)
        return Execution(empty, cluster.session_ttl_ms * MILLISECOND)

    @property
    def term(self) -> Term:
        """The term of a lease, as the member that holds it and the one that grants it count."""
        cluster = self.config.cluster
        return term_of(cluster.timing.ack_timeout_ms * MILLISECOND, cluster.mutations)

    @property
    def rules(self) -> str:
        """The rules that the safety of a view rests on (safety rules 5 to 9). Members of different rules would order or count leases differently."""
        cluster = self.config.cluster
        holes = ", ".join(opened(cluster.holes)) or "none"
        return f"order {cluster.order}, leases of {cluster.timing.ack_timeout_ms} ms, holes {holes}"

    def step(self, step: str, detail: str, view: int, paper: str = "SAA §5.3") -> None:
        self.world.trace.emit(StepTaken("view change", step, paper, detail, view))

    # --- journal ----------------------------------------------------------------------------------------------------

    def open(self, cut_bytes: int) -> None:
        """Reads the journal and executes the groups that its views had settled. Raises Damaged."""
        settled_sn = 0
        for group in self.log.load():
            self.execution.deliver(group)
            settled_sn = max(settled_sn, group.commit_sn)
        last = self.log.last
        self.execution.made_durable(last.sn)
        self.world.trace.emit(JournalOpened(1, last.sn, last.epoch, last.crc, cut_bytes, 0))
        self.show(settled_sn, [])

    def append(self, group: JournalGroup) -> None:
        """Appends the next group; durable after a sync."""
        self.take(group, *encode_group(group))

    def take(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self.log.append(mark, data)
        self.execution.deliver(group)
        self._taken += 1
        self._not_synced.append((self._taken, group, mark, len(data)))

    async def sync(self) -> int:
        """Makes the appended groups durable. Returns the sn up to which all are durable. Raises OSError."""
        goal = self._taken
        await self.log.sync()
        while self._not_synced and self._not_synced[0][0] <= goal:
            _, group, mark, size = self._not_synced.popleft()
            self.world.trace.emit(
                Durable(group.sn, group.epoch, group.groupid, mark.crc, len(group.records), size)
            )
        sn = self._not_synced[0][1].sn - 1 if self._not_synced else self.log.last.sn
        self.execution.made_durable(sn)
        return sn

    async def cut(self, sn: int, reason: str) -> None:
        """Removes every group after sn. No member has shown any of them, unless a hole is open."""
        if sn >= self.log.last.sn:
            return
        self.execution.roll_back(sn)
        while self._not_synced and self._not_synced[-1][1].sn > sn:
            self._not_synced.pop()
        self.world.trace.emit(Cut(sn, reason))
        await self.log.cut(sn)
        if self.execution.applied_sn > sn:
            self._rebuild()

    def _rebuild(self) -> None:
        shown_sn = self.log.last.sn
        self.execution = self._from_nothing()
        for group in self.log.groups(1):
            self.execution.deliver(group)
        self.execution.made_durable(shown_sn)
        self.show(shown_sn, [])

    def now_ns(self) -> int:
        """The stamp that a call would get now."""
        return max(self.times.read_ns(), self.namespace.newest_ns + 1)

    # --- namespace --------------------------------------------------------------------------------------------------

    @property
    def namespace(self) -> Namespace:
        return self.execution.namespace

    @property
    def applied_sn(self) -> int:
        return self.execution.applied_sn

    @property
    def commit_sn(self) -> int:
        """The last executed group. A group is executed only after every member holds it."""
        return self.execution.applied_sn

    @property
    def behind(self) -> bool:
        """Whether another member may have answered a group that is not executed here yet."""
        if self.config.cluster.mutations.frees_what_others_made:
            return False
        return self.applied_sn < self.execution.durable_sn

    def show(self, sn: int, holders: list[str]) -> list[tuple[int, list[Outcome]]]:
        """Submits the groups up to sn while no long read is under way. Returns the sn and the outcomes of each.

        `holders` are the members that hold the groups. Without holders no commit is reported, because it was reported before.
        """
        shown: list[tuple[int, list[Outcome]]] = []
        while self.applied_sn < min(sn, self.execution.delivered_sn) and self.execution.may_submit:
            group, outcomes, effects = self.execution.submit()
            if holders:
                self._report(group, effects, outcomes, holders)
            digest = self.execution.namespace.digest
            self.world.trace.emit(Applied(group.sn, group.epoch, digest))
            shown.append((group.sn, outcomes))
        return shown

    def _report(
        self, group: JournalGroup, effects: list[OpId], outcomes: list[Outcome], holders: list[str]
    ) -> None:
        mark = self.log.mark_at(group.sn)
        assert mark is not None
        reported = {each.op_id: result_sum(each.result) for each in outcomes}
        results = [reported[op_id] for op_id in effects]
        operations = [(op_id.client, op_id.number) for op_id in effects]
        name, view = self.group.name, group.epoch
        self.world.trace.emit(
            Committed(name, group.sn, view, mark.crc, holders, view, operations, [], results)
        )


def open_replica(world: World, config: ServerConfig, group: GroupConfig) -> Replica:
    """Opens a member's replica from its disk. Raises Damaged, UnknownFormat, OSError."""
    mutations = config.cluster.mutations
    journal, suffix = open_journal(world, config.cluster)
    log = ReplicaLog(journal, NOTHING, config.cluster.holes.sn_without_epoch)
    own_disk = OwnDisk(world, suffix, journal, mutations)
    replica = Replica(world, config, group, log, own_disk)
    replica.open(journal.cut_bytes)
    return replica
