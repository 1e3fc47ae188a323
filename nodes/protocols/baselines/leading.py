"""What exists only while a server of a family with a shared journal holds the lock: takeover, service, end."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import asdict

from nodes.config import MILLISECOND
from nodes.metadata.pages import Crossed, Log, counters_of
from nodes.protocols.baselines.local import NotNext
from nodes.protocols.baselines.replica import Replica
from nodes.protocols.baselines.shared_journal import JournalLost, SharedJournal, SharedWriter
from nodes.replicas.answering import Answering
from nodes.replicas.lease import Lease
from nodes.replicas.view import ACTIVE, STANDBY, Draw, LostLock, Place, ViewMoved
from nodes.replicas.writer import JournalWriter
from nodes.scope import Tenure
from nodes.trace.events import (
    RoleChanged,
    Serving,
    StepTaken,
    StoppedServing,
    Warned,
)
from nodes.world import Change, ConnectionLoss, CoordinationError

LOOK_NS = 10 * MILLISECOND
TICK_NS = 100 * MILLISECOND
PAPER = "CFS §2.2"


class Leading:
    """One tenure of a holder of the lock."""

    def __init__(self, replica: Replica, journal: SharedJournal, tenure: Tenure, ended: Callable[[], None]):
        self._replica = replica
        self._journal = journal
        self._tenure = tenure
        self._ended = ended
        self.epoch = 0
        self.serving = False
        self.sits_out = False
        """Too few answered: this server leaves the next attempt to the others."""
        holes = replica.config.cluster.holes
        self.lease = Lease(replica.world, holes.no_fencing)
        self.answering = Answering(replica.world, replica.state, self.lease, holes.reads_before_flush)
        self._writer: JournalWriter | None = None

    @property
    def quiet(self) -> bool:
        """Nothing is ahead of commit."""
        return self._writer is not None and self._writer.idle

    def counters(self) -> dict[str, int] | None:
        """None before it serves."""
        return asdict(counters_of(self._replica.state.namespace, Crossed(), Log())) if self.serving else None

    # --- steps -------------------------------------------------------------------------------------------------

    def stand_down(self, reason: str) -> None:
        """Ends the tenure at once: nothing is answered from here on."""
        if not self._tenure.open:
            return
        replica = self._replica
        self._tenure.close()
        replica.local.on_durable = lambda mark: None
        replica.state.step_back(self._writer.end() if self._writer else [])
        if self.serving:
            replica.world.trace.emit(StoppedServing(replica.group.name, self.epoch, reason))
        self.serving = False
        self.answering.refuse_all()
        self._role("none", reason)
        self._ended()

    def _role(self, role: str, reason: str) -> None:
        replica = self._replica
        replica.world.trace.emit(
            RoleChanged(replica.group.name, role, self.epoch, replica.log.last.sn, reason)
        )

    def _step(self, step: str, detail: str) -> None:
        self._replica.world.trace.emit(StepTaken("takeover", step, PAPER, detail, self.epoch))

    # --- procedure ---------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """From the lock to the end of the tenure."""
        try:
            await self._take_over()
        except LostLock as lost:
            self.stand_down(str(lost))
        except (CoordinationError, JournalLost) as error:
            await self._give_up(f"{type(error).__name__}: {error}")

    async def _give_up(self, reason: str) -> None:
        try:
            await self._replica.view.release_lock()
        except CoordinationError:
            pass
        self.stand_down(reason)

    async def _take_over(self) -> None:
        replica = self._replica
        clock = replica.world.clock
        began_ns, session_ns = clock.monotonic_ns(), replica.world.coordination.session_timeout_ns
        await self._write_view()
        self._tenure.spawn(self._heartbeat(), "heartbeat")
        end_sn = await self._journal.recover(self.epoch, session_ns)
        if end_sn is None:
            await self._too_few("too few nodes of the journal answered")
            return
        self._step("recover", f"earlier writers are shut out; the journal ends with sn {end_sn}")
        if not await self._catch_up(end_sn, clock.monotonic_ns() + session_ns):
            await self._too_few(f"the journal could not be read up to sn {end_sn}")
            return
        self._step("catch up", f"has read up to sn {end_sn}")
        if not await self._open_writer(session_ns):
            await self._too_few("too few nodes of the journal take a new segment")
            return
        await self._outlive_others(began_ns + session_ns)
        self._serve()

    async def _too_few(self, reason: str) -> None:
        self._step("give up", reason)
        self.sits_out = True
        await self._give_up(reason)

    async def _write_view(self) -> None:
        """The new epoch, ourselves active, the old active a standby; and our draw, which is there for as long as we may answer. Raises LostLock."""
        replica, view = self._replica, self._replica.view
        await view.write_draw(Draw(0, 0, replica.log.last.epoch, replica.log.last.sn))
        while True:
            node, version = await view.epoch()
            if self.epoch and node.epoch == self.epoch and node.active == replica.world.name:
                break
            self.epoch = node.epoch + 1
            changes: list[Change] = [
                view.epoch_change(self.epoch, version),
                view.place_change(replica.world.name, Place(ACTIVE, self.epoch, replica.log.last.sn)),
            ]
            for server, place in (await view.places()).items():
                if server != replica.world.name and place.state == ACTIVE:
                    changes.append(view.place_change(server, Place(STANDBY, self.epoch, place.sn)))
            try:
                await view.guarded(changes)
                break
            except (ViewMoved, ConnectionLoss):
                await replica.world.clock.sleep(LOOK_NS)
        self._role("elected", f"epoch {self.epoch} is written")

    async def _catch_up(self, end_sn: int, deadline_ns: int) -> bool:
        """Reads the rest of the shared journal; nothing else is in ours."""
        replica = self._replica
        await replica.local.cut(replica.state.commit_sn, "what was not known to be committed is read again")
        while replica.log.last.sn < end_sn:
            groups = await self._journal.read(replica.log.last.sn + 1)
            if groups:
                try:
                    await replica.local.take(groups)
                except NotNext as error:
                    replica.world.trace.emit(Warned(str(error)))
                    return False
            elif replica.world.clock.monotonic_ns() > deadline_ns:
                return False
            else:
                await replica.world.clock.sleep(LOOK_NS)
        return replica.log.last.sn == end_sn

    async def _open_writer(self, timeout_ns: int) -> bool:
        """Everything adopted is committed with one empty group of the new epoch."""
        replica = self._replica
        sync = await self._journal.begin(self.epoch, replica.log.last, timeout_ns)
        if sync is None:
            return False
        writer = self._writer = JournalWriter(
            replica.world, replica.group.name, replica.group.number, False, self.epoch, 0, replica.log, replica.state, sync
        )  # fmt: skip
        replica.local.on_durable = sync.on_own_durable
        replica.state.apply_ahead()
        self.answering.writer = writer
        writer.on_unparked = self.answering.on_unparked
        self._tenure.spawn(self._keep(sync), "journal")
        writer.close_group()
        sn = replica.log.last.sn
        while replica.state.commit_sn < sn:
            await replica.world.clock.sleep(LOOK_NS)
        self._step("flush", f"an empty group of epoch {self.epoch} is committed")
        return True

    async def _keep(self, sync: SharedWriter) -> None:
        try:
            await sync.keep()
        except LostLock as lost:
            self.stand_down(str(lost))
        except (JournalLost, CoordinationError) as error:
            await self._give_up(f"{type(error).__name__}: {error}")

    async def _outlive_others(self, until_ns: int) -> None:
        """Until nobody who led before may answer a read: its draw or its session is gone, or its lease has run out (safety rule 16)."""
        replica = self._replica
        clock = replica.world.clock
        while clock.monotonic_ns() < until_ns:
            draws = await replica.world.coordination.children(replica.view.path("draws"))
            if all(name == replica.world.name for name in draws):
                break
            await clock.sleep(LOOK_NS)

    def _serve(self) -> None:
        replica = self._replica
        mark = replica.log.last
        self._step("serve", f"{replica.world.name} is the active")
        self._role("active", f"epoch {self.epoch} is served")
        replica.world.trace.emit(Serving(replica.group.name, self.epoch, mark.sn, mark.crc))
        self.serving = True
        self.answering.begin(self.epoch)

    async def _heartbeat(self) -> None:
        """Confirms the lease by a read of its own (safety rule 16)."""
        replica = self._replica
        pause_ns = replica.config.cluster.timing.heartbeat_ms * MILLISECOND
        while True:
            sent_ns = replica.world.clock.monotonic_ns()
            try:
                node, _ = await replica.view.epoch()
            except CoordinationError:
                await replica.world.clock.sleep(pause_ns // 10)
                continue
            if node.epoch > self.epoch:
                self.stand_down(f"epoch {node.epoch} has begun")
                return
            self.lease.confirmed(sent_ns)
            await replica.world.clock.sleep(pause_ns)
