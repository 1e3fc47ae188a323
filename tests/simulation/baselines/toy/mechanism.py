"""A lazy primary with one secondary, written from scratch: the smallest agreement. `docs/add-a-protocol.md` walks through it.

The holder of the lock writes, and answers as soon as its own disk has a group. It sends each group once, and the secondary requests the
groups that it lacks; a group that the secondary never got is lost when the primary dies.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.listeners import Listeners
from nodes.metadata_server.dispatch import Handlers
from nodes.metadata_server.own_journal import OwnJournal
from nodes.metadata_server.replica import Replica, open_replica
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import ChosenMechanisms, JournalLeader
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.replicas.leader import wait_out_old_leases, write_epoch
from nodes.replicas.log import decode_group, mark_of
from nodes.replicas.session import ReplicaSession
from nodes.replicas.view import ACTIVE, STANDBY, EpochNode, LostLock
from nodes.replicas.view_watcher import ViewWatcher
from nodes.scope import Tenure
from nodes.wire.messages import JournalGroup, Mark, Message, about
from nodes.world import CoordinationError, World

LOOK_NS = 100 * MILLISECOND


class LazyGroup(Message, array_like=True, tag=True, gc=False):
    """Message of the primary: the next group, or a requested one."""

    epoch: int
    data: bytes


class LazyLacks(Message, array_like=True, tag=True, gc=False):
    """Message to the primary: the end of the secondary's journal."""

    last: Mark


class Lazy:
    """Slot `journal_sync`, and the other server as the primary sees it."""

    configuration_number = 0
    lacks_quorum = False

    def __init__(self, replica: Replica, log: OwnJournal, epoch: int):
        self._replica, self._log, self._epoch = replica, log, epoch
        self._own_sn = replica.log.last.sn
        self._others = [name for name in replica.group.members if name != replica.name]
        self._received: dict[str, Mark] = {}
        self.on_progress: Listeners[()] = Listeners()
        log.on_durable.subscribe(self.on_durable)

    def on_durable(self, mark: Mark) -> None:
        self._own_sn = mark.sn
        self.on_progress()

    def write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self._log.append(group, data, mark)
        for name in self._others:
            self._replica.world.network.send(name, LazyGroup(self._epoch, data))

    def report_commit(self, sn: int) -> None:
        """Does nothing: a secondary counts every group that it has as committed."""

    def safe(self, sn: int) -> bool:
        return self._own_sn >= sn

    def holders(self, sn: int) -> list[str]:
        return [self._replica.name]

    def on_lacks(self, peer: str, message: LazyLacks) -> None:
        log = self._replica.log
        self._received[peer] = message.last
        common = message.last.sn if log.holds(message.last) else min(message.last.sn, log.last.sn) - 1
        for data in log.encoded(common + 1, log.last.sn, 1 << 20):
            self._replica.world.network.send(peer, LazyGroup(self._epoch, data))

    def standbys(self) -> list[str]:
        return list(self._received)

    def matched_sns(self) -> list[int]:
        return [mark.sn for mark in self._received.values()]

    def suffice(self, holders: list[str]) -> bool:
        return bool(holders)

    def pruned(self, sn: int) -> None:
        """Does nothing: no other state refers to pruned groups."""


class Primary(JournalLeader):
    def __init__(
        self,
        replica: Replica,
        choice: ChosenMechanisms,
        log: OwnJournal,
        tenure: Tenure,
        ended: Callable[[], None],
    ):
        super().__init__(replica, choice, tenure, ended)
        self.answering.backlog.admit_and_hold()
        self._log = log
        self._epoch = 0
        self._lazy: Lazy | None = None

    @property
    def epoch(self) -> int:
        return self._epoch

    def _begin(self, last: EpochNode) -> int:
        self._epoch = last.epoch + 1
        return self._epoch

    def on_lacks(self, peer: str, message: LazyLacks) -> None:
        if self._lazy is not None:
            self._lazy.on_lacks(peer, message)

    async def run(self) -> None:
        """Runs from the acquisition of the lock to the end of the tenure."""
        try:
            await write_epoch(self._replica, self._begin, ACTIVE, STANDBY)
            self._confirm_lease()
            self._lazy = Lazy(self._replica, self._log, self.epoch)
            writer = self._open_writer(self._lazy, self._lazy)
            sn = self._close_first_group(writer)
            while self._replica.state.commit_sn < sn:
                await self._replica.world.clock.sleep(LOOK_NS // 10)
            await wait_out_old_leases(self._replica)
            self._begin_service("active", f"epoch {self.epoch} is served", self._replica.log.last)
        except (LostLock, CoordinationError) as error:
            await self._give_up(str(error))

    def _end(self) -> None:
        if self._lazy is not None:
            self._log.on_durable.unsubscribe(self._lazy.on_durable)
        super()._end()


class LazyPrimary:
    """One server's part: it follows the holder of the lock, and takes the lock when it is free."""

    def __init__(self, server: MetadataServer, replica: Replica, choice: ChosenMechanisms):
        self._server, self._choice = server, choice
        self._replica, self._following = replica, ViewWatcher(replica)
        self.session: ReplicaSession[Primary] = ReplicaSession(
            replica, self._following, self, server.snapshot_writer.stop
        )
        self._log = OwnJournal(replica)
        self._catching_up = False
        to_leader = self.session.to_leader
        self.handlers: Handlers = {LazyGroup: self._on_group, LazyLacks: to_leader(Primary.on_lacks)}

    @property
    def epoch(self) -> int:
        return self._following.epoch

    @property
    def rests(self) -> bool:
        return not self._catching_up

    def begin(self) -> None:
        self._server.world.scope.spawn(self._log.run(), "journal")

    def forget_session(self) -> None:
        """Does nothing: this server has no watches."""

    def stop_reading(self) -> None:
        """Does nothing: groups of the primary come as messages."""

    async def enter(self) -> None:
        await self._replica.view.prepare(self._server.group.members, self._server.world.network.address)
        await self._replica.ledger.prepare()
        await self._following.take_place(STANDBY, "has entered the view")

    async def look_at_view(self) -> None:
        view, following = self._replica.view, self._following
        seen = await following.look()
        if seen.owner == self._server.world.name:
            await view.drop_stale_lock(seen.session)
        elif seen.place is None or seen.place.state == ACTIVE:
            await following.take_place(STANDBY, "has entered the view")
        elif seen.owner:
            following.believe(STANDBY, "somebody else holds the lock")
            self._server.world.network.send(seen.owner, LazyLacks(self._replica.log.last))
            await following.changed(LOOK_NS)
        elif await view.take_lock(await view.draw_round()):
            await self.session.lead(self._lead)

    def _lead(self, tenure: Tenure, over: Callable[[], None]) -> Primary:
        return Primary(self._replica, self._choice, self._log, tenure, over)

    def _on_group(self, peer: str, message: LazyGroup) -> None:
        """Appends the next group. Before a group that does not follow, conflicting groups are removed."""
        replica, group = self._replica, decode_group(message.data)
        if message.epoch < self.epoch or self.session.leader is not None or self._catching_up:
            return
        if group.previous == replica.log.last:
            self._log.append(group, message.data, mark_of(group, message.data))
            replica.state.prepared(group)
            replica.state.commit(group.sn)
        elif group.sn <= replica.log.last.sn and not replica.log.holds(mark_of(group, message.data)):
            self._catching_up = True
            self._server.world.scope.spawn(self._cut(group.sn - 1), "cut")

    async def _cut(self, sn: int) -> None:
        await self._log.cut(sn, "another primary wrote something else")
        self._catching_up = False


def start(world: World, config: ServerConfig, choice: ChosenMechanisms) -> None:
    """Raises UnknownFormat, UnknownJournal, OSError of the files on the disk."""

    def begin() -> None:
        replica = open_replica(world, config, group_of(config.cluster, config.group), choice.image_store)
        MetadataServer(world, config, replica, lambda server: LazyPrimary(server, replica, choice)).start()

    start_anew_if_damaged(world, begin)


REPLICATION = {"toy": start}
MESSAGES = COUNTED = about("journal", LazyGroup, LazyLacks)
