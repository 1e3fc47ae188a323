"""One member's journal of the total order, and the namespace that it yields."""

from __future__ import annotations

import asyncio
from collections import deque

from nodes.config import MILLISECOND, GroupConfig, ServerConfig, opened
from nodes.ignored_messages import Ignoring
from nodes.metadata.namespace import Namespace
from nodes.metadata.records import result_sum
from nodes.metadata_server.replica import Replica as CommonReplica
from nodes.metadata_server.replica import keep_aside, rebuild, report_applied
from nodes.metadata_server.replica import open_replica as open_common
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.symmetric.agreement import Agreed, ViewAgreement
from nodes.protocols.symmetric.execution import CallOutcome, Execution, Submitted
from nodes.protocols.symmetric.order import MakeOrder
from nodes.replicas.disks import DOUBTFUL, OTHER, WHOLE, Roll
from nodes.replicas.lease import Term, term_of
from nodes.replicas.log import ReplicaLog, encode_group
from nodes.trace.events import Committed, Cut, Durable, Renewing, StepTaken
from nodes.units import DiskId
from nodes.wake import Wake
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import World


class SymmetricReplica:
    """Groups are appended by `append`, made durable by `sync`, and submitted, visible to all, by `show`."""

    def __init__(self, common: CommonReplica, execution: Execution, appended: Wake, make_order: MakeOrder):
        self.make_order = make_order
        """Makes the total order of one view."""
        self.common = common
        """The parts that every metadata server has. The shorter names serve the code of the members."""
        self.world: World = common.world
        self.config: ServerConfig = common.config
        self.group: GroupConfig = common.group
        self.log: ReplicaLog = common.log
        self.calls = common.calls
        self.execution = execution
        self.appended = appended
        """Set when groups are to be synced, or submitted ones to be reported."""
        without = self.config.cluster.holes.views_without_agreement
        self.agreement = ViewAgreement(self.world.coordination, common.view, self.world.name, without)
        self.ignoring = Ignoring(self.world)
        self.times = common.times
        """Clock that stamps this server's calls since its process began."""
        self.settling = asyncio.Lock()
        """Lock held by a task that cuts and settles the journal."""
        self.granted_ns = self.world.clock.monotonic_ns()
        """Time at which this server last extended a lease, in any view; at least its start, because it may have done so just before a restart."""
        self._stored_sn = self.log.last.sn
        """Last group that was on the disk when this process began and has not been cut."""
        self._taken = 0
        self._not_synced: deque[tuple[int, JournalGroup, Mark, int]] = deque()
        """Unsynced groups, each with a count that no later group gets, not even one of the same sn."""
        self._begin_again()

    @property
    def name(self) -> str:
        return self.world.name

    @property
    def disk(self) -> DiskId:
        """The identity of this server's disk (safety rule 23)."""
        return self.common.identity.id

    def standing(self, agreed: Agreed, name: str, disk: DiskId) -> str:
        """Whether a server has, on this disk, all that it ever held as the member of its name (nodes/replicas/disks.py)."""
        mutations = self.config.cluster.mutations
        roll = Roll(agreed.members, agreed.instances, mutations.replaced_disk_votes)
        if name not in agreed.members:
            return OTHER
        found = roll.standing(name, disk)
        return WHOLE if found == DOUBTFUL and mutations.rot_revives_alone else found

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

    def _begin_again(self) -> None:
        """The groups of the journal are on the disk. Those that are known to be committed become visible again."""
        self.execution.made_durable(self._durable_sn)
        self.show(0, [])

    @property
    def _durable_sn(self) -> int:
        return self._not_synced[0][1].sn - 1 if self._not_synced else self.log.last.sn

    def append(self, group: JournalGroup) -> None:
        """Appends the next group; durable after a sync."""
        self.take(group, *encode_group(group))

    def take(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self.log.append(mark, data)
        self.execution.prepared(group)
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
        self.execution.made_durable(self._durable_sn)
        return self._durable_sn

    async def cut(self, sn: int, reason: str) -> None:
        """Removes every group after sn. No member has shown any of them, unless a hole is open or a person forced a view. Applied groups are kept
        aside, and those that were on the disk at the start, because this process cannot tell which of them were shown."""
        if sn >= self.log.last.sn:
            return
        whole = self.execution.cut(sn)
        while self._not_synced and self._not_synced[-1][1].sn > sn:
            self._not_synced.pop()
        self.world.trace.emit(Cut(sn, reason))
        if not whole or sn < self._stored_sn:
            await keep_aside(self.common, sn)
            self._stored_sn = min(self._stored_sn, sn)
        await self.log.cut(sn)
        if not whole:
            rebuild(self.common)
            self._begin_again()

    async def begin_from(self, namespace: Namespace, mark: Mark) -> None:
        """Replaces journal and namespace by an image whose last group is `mark`. Durable on return. Groups and images behind it are kept aside."""
        await keep_aside(self.common, mark.sn)
        self._not_synced.clear()
        self.execution.restart(namespace, mark.sn)
        await self.log.restart_at(mark)
        self.world.trace.emit(Renewing("image", mark.sn, mark.sn))

    def has_start(self, agreed: Agreed) -> bool:
        """Whether the journal, or the image under it, has the groups with which a view began."""
        base = self.log.base
        return self.log.holds(agreed.start) or (base.sn > agreed.start.sn and base.epoch >= agreed.number)

    @property
    def log_size(self) -> int:
        """Bytes of the journal behind the newest image on this disk."""
        return self.log.bytes_behind(max(self.common.images.stored(), default=0))

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
    def behind(self) -> bool:
        """Whether another member may have answered a group that is not executed here yet."""
        if self.config.cluster.mutations.frees_what_others_made:
            return False
        return self.applied_sn < self.execution.durable_sn

    def show(self, sn: int, holders: list[str]) -> list[tuple[int, list[CallOutcome]]]:
        """Submits the groups up to sn as soon as the namespace may change. Returns the sn and the outcomes of each that is not returned yet.

        `holders` are the members that hold the groups. Without holders no commit is reported, because it was reported before.
        """
        execution = self.execution
        execution.commit(sn)
        submitted, execution.submitted = execution.submitted, []
        for each in submitted:
            if holders:
                self._report(each, holders)
            report_applied(self.world, each.group.sn, each.group.epoch, each.digest)
        return [(each.group.sn, each.outcomes) for each in submitted]

    def _report(self, submitted: Submitted, holders: list[str]) -> None:
        sn, view = submitted.group.sn, submitted.group.epoch
        mark = self.log.mark_at(sn)
        assert mark is not None
        reported = {each.op_id: result_sum(each.result) for each in submitted.outcomes}
        results = [reported[op_id] for op_id in submitted.effects]
        operations = [(op_id.client, op_id.number) for op_id in submitted.effects]
        self.world.trace.emit(
            Committed(self.group.name, sn, view, mark.crc, holders, view, operations, [], results)
        )


def open_replica(
    world: World, config: ServerConfig, group: GroupConfig, choice: ChosenMechanisms, make_order: MakeOrder
) -> SymmetricReplica:
    """Opens a member's replica from its disk. Raises Damaged, UnknownFormat, OSError."""
    appended = Wake()
    session_ttl_ns = config.cluster.session_ttl_ms * MILLISECOND
    executions: list[Execution] = []

    def execution(namespace: Namespace, sn: int, *unused: object) -> Execution:
        executions.append(Execution(namespace, sn, session_ttl_ns, appended.set))
        return executions[-1]

    common = open_common(world, config, group, choice.image_store, execution)
    return SymmetricReplica(common, executions[-1], appended, make_order)
