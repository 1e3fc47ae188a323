"""Requests of clients at the active: each is sequenced once, planned on the present namespace, answered when nothing it shows can be lost.

Safety rule 15: an answer, a read or an error that was computed ahead of commit waits for it. Rule 10: duplicates are found when sequenced.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.errors import FsError
from nodes.metadata.operations import WRITES, Read
from nodes.protocols.mams.fencing import Lease
from nodes.protocols.mams.replica import Replica
from nodes.protocols.mams.writer import JournalWriter
from nodes.units import OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Refused, Request

HELD_MAX = 10_000


class Answering:
    """Intake of one tenure. While `held`, requests are kept in order and nothing is sequenced."""

    def __init__(
        self, replica: Replica, lease: Lease, lease_lost: Callable[[], None], lease_back: Callable[[], None]
    ):
        self._replica = replica
        self._lease = lease
        self._lease_lost = lease_lost
        self._lease_back = lease_back
        self._send = replica.world.network.send
        self._early = replica.config.cluster.holes.reads_before_flush
        self.writer: JournalWriter | None = None
        self.epoch = 0
        self._holds = 1
        self._held: list[tuple[str, Request]] = []
        self._parked: list[tuple[str, Request]] = []
        self._fenced = False

    # --- holding ---------------------------------------------------------------------------------------------------

    def begin(self, epoch: int) -> None:
        self.epoch = epoch
        self.release()

    def hold(self) -> None:
        self._holds += 1

    def release(self) -> None:
        self._holds -= 1
        if self._holds:
            return
        held, self._held = self._held, []
        for peer, request in held:
            self.on_request(peer, request)

    def refuse_all(self) -> None:
        """The tenure is over: those who wait are sent elsewhere, with the same operation number."""
        for peer, request in self._held + self._parked:
            self._send(peer, Refused(request.number, self.epoch, "no longer active", ""))
        self._held.clear()
        self._parked.clear()

    # --- requests --------------------------------------------------------------------------------------------------

    def on_request(self, peer: str, request: Request) -> None:
        if self._holds:
            if len(self._held) < HELD_MAX:
                self._held.append((peer, request))
            return
        if type(request.operation) in WRITES:
            if self.writer is not None and self.writer.parked:
                self._park(peer, request)
            else:
                self._on_write(peer, request)
        else:
            self._on_read(peer, request.number, request.operation)  # type: ignore[arg-type]

    def _park(self, peer: str, request: Request) -> None:
        """A write waits until enough replicas are there again."""
        if len(self._parked) < HELD_MAX:
            self._parked.append((peer, request))

    def on_unparked(self) -> None:
        parked, self._parked = self._parked, []
        for peer, request in parked:
            self.on_request(peer, request)

    def _on_read(self, peer: str, number: int, operation: Read) -> None:
        try:
            answer = self._answer(number, self._replica.state.namespace.read(operation), "")
        except FsError as error:
            answer = self._answer(number, None, str(error))
        self._when_safe(peer, answer)

    def _on_write(self, peer: str, request: Request) -> None:
        state, writer = self._replica.state, self.writer
        assert writer is not None
        namespace, op_id = state.namespace, OpId(request.session, request.number)
        try:
            recorded = namespace.sessions.recorded(op_id)
            if recorded is not None:
                self._when_safe(peer, self._answer(request.number, recorded, ""))
                return
            record = namespace.plan(
                request.operation,  # type: ignore[arg-type]
                op_id,
                request.lowest_open,
                self._replica.world.clock.wall_ns(),
            )
        except FsError as error:
            self._when_safe(peer, self._answer(request.number, None, str(error)))
            return
        undo: list[object] = []
        namespace.apply(record, undo)
        sn, place = writer.record(record, undo)
        answer = Answer(request.number, self.epoch, sn, place, record.result, "")
        writer.after_commit(lambda: self._tell(peer, answer))

    def _answer(self, number: int, result: object, error: str) -> Answer:
        writer = self.writer
        assert writer is not None
        return Answer(number, self.epoch, writer.open_sn, writer.open_place, result, error)  # type: ignore[arg-type]

    def _when_safe(self, peer: str, answer: Answer) -> None:
        assert self.writer is not None
        if self._early or self.writer.idle or self.writer.parked:
            self._tell(peer, answer)
        else:
            self.writer.after_commit(lambda: self._tell(peer, answer))

    def _tell(self, peer: str, answer: Answer) -> None:
        if self._lease.holds:
            if self._fenced:
                self._fenced = False
                self._lease_back()
            self._send(peer, answer)
        elif not self._fenced:
            self._fenced = True
            self._lease_lost()

    # --- Check -----------------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        """CFS §4.4 step 2: has this operation been executed? It only saves a round trip."""
        if self._holds or not self._lease.holds:
            return
        recorded = self._replica.state.namespace.sessions.recorded(OpId(message.session, message.number))
        self._send(peer, Checked(message.number, self.epoch, "absent" if recorded is None else "recorded"))
        if recorded is not None:
            self._when_safe(peer, self._answer(message.number, recorded, ""))
