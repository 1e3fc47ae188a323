"""The primary's side of one other member: what was sent there, what came back."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.paxos.log import SlotLog
from nodes.protocols.paxos.messages import Accepted, LogBegins, Success
from nodes.protocols.paxos.packing import MESSAGE_OCTETS, Packing
from nodes.world import World

RESEND_NS = 100 * MILLISECOND
GAP_NS = 10 * MILLISECOND
"""What came out of order has so much time to be whole again."""
UNACKNOWLEDGED_MAX = 4_096
"""Slots that are sent ahead of what is acknowledged."""


class Follower:
    """A member that is sent records in the order of their slots, and decisions; inside the view or about to join."""

    def __init__(
        self,
        name: str,
        ballot: int,
        success: int,
        packing: Packing,
        log: SlotLog,
        world: World,
        disk: int,
        needs: int,
    ):
        self.name = name
        self._ballot = ballot
        self._packing = packing
        self._log = log
        self._clock = world.clock
        self._send = world.network.send
        self.accepted = success
        """Everything up to here is decided or accepted there, durably."""
        self.disk = disk
        """The instance of the disk that it has; what another one accepted does not count."""
        self._needs = needs
        self._acknowledged = -1
        self.executed = success
        self.sent = success
        self._ever_sent = success
        self.told = success
        """The decision that was sent last."""
        self._waiting_since_ns = 0
        """Since when something is to come back; 0 when nothing is."""
        self._sent_at_ns = 0
        self._heard_ns = world.clock.monotonic_ns()

    def silent(self, timeout_ns: int) -> bool:
        """Whether what is to come back is overdue, or nothing at all was heard for twice that time."""
        now = self._clock.monotonic_ns()
        waits = bool(self._waiting_since_ns) and now - self._waiting_since_ns > timeout_ns
        return waits or now - self._heard_ns > 2 * timeout_ns

    def heard(self) -> None:
        """It lives."""
        self._heard_ns = self._clock.monotonic_ns()

    def forgive(self) -> None:
        """The primary itself stood still: nobody is to blame for the time."""
        self.heard()
        if self._waiting_since_ns:
            self._waiting_since_ns = self._heard_ns

    @property
    def lacks(self) -> bool:
        """Whether what comes next there is in no log any more: it has to read an image first."""
        return min(self.accepted, self.sent) < self._log.base.sn

    def _refer_to_images(self) -> None:
        """Again and again: what it answers says that it lives."""
        now = self._clock.monotonic_ns()
        if now - self._sent_at_ns > RESEND_NS or not self._sent_at_ns:
            self._sent_at_ns = now
            self._send(self.name, LogBegins(self._ballot, self._log.base.sn))

    def send(self, last: int, success: int) -> None:
        """Everything up to slot `last` that was not sent, and the newest decision."""
        if self.lacks:
            self._refer_to_images()
            return
        last = min(last, self.accepted + UNACKNOWLEDGED_MAX)
        while True:
            records = self._log.octets(self.sent + 1, last, MESSAGE_OCTETS)
            messages = list(self._packing.messages(self._ballot, self.told, success, self.sent + 1, records))
            for message in messages:
                self._send(self.name, message)
            self.sent += len(records)
            self._ever_sent = max(self._ever_sent, self.sent)
            self.told = max(self.told, success)
            if messages:
                self._sent()
            if not records or self.sent >= last:
                return

    def _sent(self) -> None:
        self._sent_at_ns = self._clock.monotonic_ns()
        if not self._waiting_since_ns:
            self._waiting_since_ns = self._sent_at_ns

    @property
    def whole(self) -> bool:
        """Whether its disk has every slot that was open when it was admitted: all that a disk before may have accepted."""
        return self._acknowledged >= self._needs

    def on_accepted(self, message: Accepted, decided: int) -> None:
        """`decided`: by the primary. Nobody has what was not sent, but whoever has read an image may have what is decided."""
        self.heard()
        if self.lacks:
            self._ever_sent = max(self._ever_sent, decided)
        self._acknowledged = max(self._acknowledged, message.accepted)
        before = self.accepted, self.executed
        self.accepted = max(self.accepted, min(message.accepted, self._ever_sent))
        self.executed = max(self.executed, min(message.executed, self._ever_sent))
        self.sent, self.told = max(self.sent, self.accepted), max(self.told, self.executed)
        if self.accepted >= self.sent and self.executed >= self.told:
            self._waiting_since_ns = 0
        elif (self.accepted, self.executed) != before:
            self._waiting_since_ns = self._clock.monotonic_ns()
        if message.gap and self._clock.monotonic_ns() - self._sent_at_ns > GAP_NS:
            self.sent = min(self.accepted, message.accepted)

    def remind(self, executed: int) -> None:
        """It says that it has executed no more than this: perhaps it was started anew."""
        self.heard()
        if executed < self.told:
            self._send(self.name, Success(self._ballot, self.told))

    def on_tick(self) -> None:
        """What is overdue counts as never sent."""
        if self._waiting_since_ns and self._clock.monotonic_ns() - self._sent_at_ns > RESEND_NS:
            self.sent = self.accepted
            self.told = min(self.told, self.executed)
