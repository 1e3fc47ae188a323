"""Everything that exists only while a server is elected or active in one epoch."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.metadata_server.tenure import Choice, JournalLeader
from nodes.protocols.mams.configuration import ConfigurationKeeper
from nodes.protocols.mams.messages import Promise, Register, Renewed
from nodes.protocols.mams.pool_node import PoolNode
from nodes.protocols.mams.receivers import follow_receivers
from nodes.protocols.mams.renewing import RenewingSessions
from nodes.protocols.mams.ssp import Ssp
from nodes.protocols.mams.stream import Stream
from nodes.protocols.mams.upgrade import Upgrade
from nodes.replicas.leader import outlive_holders
from nodes.replicas.view import STANDBY, LostLock, Place
from nodes.scope import Tenure
from nodes.wire.messages import Message
from nodes.world import ConnectionLoss, CoordinationError

FLUSH_LOOK_NS = 10 * MILLISECOND


class Active(JournalLeader):
    """The tenure of one holder of the lock: upgrade, service, end."""

    def __init__(
        self,
        replica: Replica,
        pool: PoolNode,
        choice: Choice,
        sync: type[Ssp],
        tenure: Tenure,
        ended: Callable[[], None],
        trusts_own_journal: bool,
    ):
        super().__init__(replica, choice, tenure, ended)
        self._pool = pool
        self._make_sync = sync
        self.upgrade = Upgrade(replica, pool, trusts_own_journal)
        self.sync: Ssp | None = None
        self.keeper: ConfigurationKeeper | None = None
        self.renewing: RenewingSessions | None = None
        self._asked_back: list[str] = []

    @property
    def epoch(self) -> int:
        return self.upgrade.epoch

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_promise(self, peer: str, message: Promise) -> None:
        if self.upgrade.recovery is not None:
            self.upgrade.recovery.on_promise(peer, message)
            self._admit(peer, message)

    def on_journal(self, peer: str, message: Message) -> None:
        """What participants say of journal groups."""
        step = None if self.sync is None else self.sync.handlers.get(type(message))
        if step is not None:
            step(peer, message)

    def on_register(self, peer: str, message: Register) -> None:
        if self.renewing is not None:
            self.renewing.on_register(peer, message)

    def on_renewed(self, peer: str, message: Renewed) -> None:
        if self.renewing is not None:
            self.renewing.on_renewed(peer, message)

    def remove(self, server: str) -> str:
        """An orderly leave, which is done as soon as it can lose nothing; the reason when it never is."""
        keeper = self.keeper
        if keeper is None or self.renewing is None or not self.serving:
            return f"{self._replica.name} does not serve yet"
        if server == self._replica.name:
            return f"{server} is the active: take its lock first"
        members = [name for name in keeper.present.members if name != server]
        if len(members) < self._replica.min_in_step:
            return f"{self._replica.group.name} never counts fewer than {self._replica.min_in_step} servers"
        self.renewing.leaving.append(server)
        return ""

    def _end(self) -> None:
        self._pool.on_own_durable = lambda mark: None
        super()._end()

    def _admit(self, peer: str, promise: Promise) -> None:
        """A member that promised is sent what it lacks, unless its journal is too far away."""
        sync = self.sync
        if (
            sync is None
            or peer in sync.participants
            or peer not in sync.configurations[0].members
            or (self.serving and not self._asks_back(peer))
        ):
            return
        common = self._replica.log.agrees_up_to(promise.tails)
        matched = None if common is None else self._replica.log.mark_at(common)
        if matched is not None:
            sync.admit(peer, matched, promise.disk.instance)

    def _asks_back(self, peer: str) -> bool:
        """One with another disk than the recorded one is no member before it is renewed: it registers."""
        recovery = self.upgrade.recovery
        if self.sync is None or recovery is None or peer not in self._asked_back:
            return False
        return recovery.is_recorded(self.sync.configurations[0], peer)

    # --- procedure ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """From the lock to the end of the tenure."""
        try:
            if not await self.upgrade.check_own_state():
                await self._give_up("a junior does not take over while there are standbys")
                return
            await self._take_over()
        except LostLock as lost:
            self.stand_down(str(lost))
        except CoordinationError as error:
            await self._give_up(f"{type(error).__name__} while upgrading: {error}")

    async def _take_over(self) -> None:
        replica, upgrade = self._replica, self.upgrade
        await upgrade.write_view()
        self._role("elected", "step 2 is written")
        self._confirm_lease()
        session_ns = replica.world.coordination.session_timeout_ns
        if not await upgrade.recover(session_ns):
            self.sits_out = True
            await self._give_up("too few members of the last configuration answered")
            return
        self._open_journal()
        upgrade.holds_intake()
        await self._flush()
        standbys = await upgrade.register(await self._name_disks())
        await outlive_holders(replica, self._not_promised)
        await replica.ledger.void_pending()
        self._serve(standbys)
        await self._keep()

    def _open_journal(self) -> None:
        replica, upgrade = self._replica, self.upgrade
        assert upgrade.configuration is not None and upgrade.recovery is not None
        log, holes = replica.log, replica.config.cluster.holes
        sync = self.sync = self._make_sync(
            replica.world, self.epoch, log, replica.state, self._pool, upgrade.configuration, holes.silent_shrink,
            replica.config.cluster.mutations,
        )  # fmt: skip
        self._pool.on_own_durable = sync.on_own_durable
        self._open_writer(sync, sync)
        assert self.imaging is not None
        self.keeper = ConfigurationKeeper(replica, sync, self.epoch, log.last.sn)
        self.renewing = RenewingSessions(replica, sync, self.keeper, self.answering, self.imaging, self.epoch)
        sync.on_lost = self.renewing.on_lost
        sync.on_far = self.renewing.on_far
        for peer, promise in upgrade.recovery.promises.items():
            self._admit(peer, promise)
        self._tenure.spawn(self._ticks(), "ticks")
        self._tenure.spawn(
            self._give_way(self._out_of_reach, _may_lead, lambda: True), "who cannot be reached"
        )
        if isinstance(sync, Stream):
            self._tenure.spawn(follow_receivers(replica, sync, self.epoch), "receivers")

    async def _flush(self) -> None:
        """Step 4; ends when the empty group of this epoch, and so everything before it, is committed."""
        writer, replica = self.writer, self._replica
        assert writer is not None and self.keeper is not None and self.upgrade.recovery is not None
        self.upgrade.flushes(replica.log.last)
        sn = self._close_first_group(writer)
        clock = replica.world.clock
        grace_ns = clock.monotonic_ns() + replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        while replica.state.commit_sn < sn or (self._expected() and clock.monotonic_ns() < grace_ns):
            self.upgrade.recovery.ask(self.keeper.missing())
            if clock.monotonic_ns() >= grace_ns:
                await self._try_shrink()
                await self._find_quorum()
            for _ in range(10):
                if replica.state.commit_sn >= sn and not self._expected():
                    break
                await clock.sleep(FLUSH_LOOK_NS)

    async def _name_disks(self) -> list[str]:
        """Who is in step, by disks that the record names before anything is answered: the first record names none (safety rule 23)."""
        assert self.keeper is not None
        while True:
            in_step = self._in_step()
            if await self.keeper.name_disks():
                return [name for name in in_step if name in self._in_step()]
            await self._replica.world.clock.sleep(FLUSH_LOOK_NS)

    def _out_of_reach(self) -> list[str]:
        assert self.sync is not None and self.renewing is not None
        stays = not self.sync.lacks_answers or self._replica.forcing.stands or self.renewing.advances
        return [] if stays else self.sync.configurations[0].members

    def _could_go_on(self, there: int, size: int, spares: int) -> bool:
        """A read quorum of the configuration takes over; juniors that it renews make a write quorum of it."""
        return 2 * there >= size and 2 * (there + spares) > size + spares

    def _expected(self) -> bool:
        """Whether a member that promised has yet to acknowledge the flush."""
        assert self.sync is not None
        last = self._replica.log.last.sn
        return any(not p.confirmed or p.matched.sn < last for p in self.sync.participants.values())

    def _in_step(self) -> list[str]:
        assert self.sync is not None
        last = self._replica.state.commit_sn
        return [name for name, p in self.sync.participants.items() if p.confirmed and p.matched.sn >= last]

    def _not_promised(self, servers: list[str]) -> list[str]:
        """They are asked to: who has promised this epoch answers no more."""
        recovery = self.upgrade.recovery
        assert recovery is not None
        unsure = [server for server in servers if server not in recovery.promises]
        recovery.ask(unsure)
        return unsure

    def _serve(self, standbys: list[str]) -> None:
        self.upgrade.serves(standbys)
        self._begin_service("active", f"step 6 of epoch {self.epoch}", self._replica.log.last)
        sn = self._replica.log.last.sn
        self._replica.forcing.end("done", f"serves in epoch {self.epoch} from sn {sn} on")

    async def _keep(self) -> None:
        """The active's round: removes who is missing, renews one junior at a time."""
        assert self.keeper is not None and self.renewing is not None
        pause_ns = self._replica.config.cluster.timing.renew_scan_ms * MILLISECOND
        was_stable = False
        while True:
            try:
                await self._try_shrink()
                for server in self.renewing.leaving:
                    await self.keeper.leave(server)
                await self._ask_back()
                await self.renewing.renew_one()
                stable = not self.keeper.missing() and not self.renewing.juniors
                if stable and not was_stable:
                    self.upgrade.stable()
                was_stable = stable
            except ConnectionLoss:
                pass
            await self._replica.world.clock.sleep(pause_ns)

    async def _try_shrink(self) -> None:
        assert self.keeper is not None and self.sync is not None
        if self.keeper.missing():
            await self.keeper.shrink()
        if self.sync.lacks_quorum and self._replica.forcing.stands:
            done = await self.keeper.force()
            if done and self.serving:
                self._replica.forcing.end("done", f"{self._replica.name} takes writes again")

    async def _find_quorum(self) -> None:
        """Below the floor a group comes back with whoever can be renewed, before it serves (safety rule 19)."""
        assert self.sync is not None and self.renewing is not None
        if self.sync.lacks_quorum:
            await self.renewing.renew_one()

    async def _ask_back(self) -> None:
        """A member that fell silent, but is still a standby of the view, is sent journals again once it answers."""
        assert self.keeper is not None and self.upgrade.recovery is not None
        missing = self.keeper.missing()
        places = await self._replica.view.places() if missing else {}
        self._asked_back = [m for m in missing if m in places and places[m].state == STANDBY]
        self.upgrade.recovery.ask(self._asked_back)

    async def _ticks(self) -> None:
        timeout_ns = self._replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        assert self.sync is not None and self.writer is not None
        while True:
            await self._replica.world.clock.sleep(timeout_ns // 5)
            self.sync.on_tick(timeout_ns)
            self.writer.on_tick()


def _may_lead(place: Place) -> bool:
    """Standbys, and juniors that came with a journal: those are what is left where all others were started anew, or led last."""
    return place.state == STANDBY or place.epoch > 0
