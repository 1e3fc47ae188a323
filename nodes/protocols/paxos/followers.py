"""The primary's record of one other member: the slots it was sent and the slots it acknowledged."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.paxos.log import SlotLog
from nodes.protocols.paxos.messages import Accepted, LogBegins, Success
from nodes.protocols.paxos.packing import MESSAGE_BYTES, Packing
from nodes.world import World

RESEND_NS = 100 * MILLISECOND
GAP_NS = 10 * MILLISECOND
"""Time that reordered messages have to fill a gap before the primary resends."""


class Follower:
    """A member of the view, or one about to join, that receives records in slot order and decisions."""

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
        window: int,
    ):
        """`window`: most slots sent beyond the last acknowledged one."""
        self.name = name
        self._ballot = ballot
        self._packing = packing
        self._log = log
        self._clock = world.clock
        self._send = world.network.send
        self.accepted = success
        """Last slot of the prefix that is decided or durably accepted at this member."""
        self.disk = disk
        """Instance of the member's disk. Acknowledgements of another disk do not count."""
        self._needs = needs
        self._window = window
        self._acknowledged = -1
        self._admitted_with = success
        self.executed = success
        self.sent = success
        self._ever_sent = success
        self.reported = success
        """Last decided slot that was sent."""
        self._waiting_since_ns = 0
        """Start of the wait for an acknowledgement; 0 when none is expected."""
        self._sent_at_ns = 0
        self._received_ns = world.clock.monotonic_ns()

    def silent(self, timeout_ns: int) -> bool:
        """Whether an acknowledgement is overdue, or no message at all arrived for twice the timeout."""
        now = self._clock.monotonic_ns()
        waits = bool(self._waiting_since_ns) and now - self._waiting_since_ns > timeout_ns
        return waits or now - self._received_ns > 2 * timeout_ns

    def received(self) -> None:
        """Notes a message, which shows that the member is alive."""
        self._received_ns = self._clock.monotonic_ns()

    def forgive(self) -> None:
        """Restarts the timeouts, because the primary itself was frozen."""
        self.received()
        if self._waiting_since_ns:
            self._waiting_since_ns = self._received_ns

    @property
    def lacks(self) -> bool:
        """Whether the log no longer has the next record of this member, so that it has to read an image first."""
        return min(self.accepted, self.sent) < self._log.base.sn

    def _refer_to_images(self) -> None:
        """Sends LogBegins repeatedly. The answers show that the member is alive."""
        now = self._clock.monotonic_ns()
        if now - self._sent_at_ns > RESEND_NS or not self._sent_at_ns:
            self._sent_at_ns = now
            self._send(self.name, LogBegins(self._ballot, self._log.base.sn))

    def send(self, last: int, success: int) -> None:
        """Sends the unsent records up to slot `last` and the newest decision."""
        if self.lacks:
            self._refer_to_images()
            return
        last = min(last, self.accepted + self._window)
        while True:
            records = self._log.encoded(self.sent + 1, last, MESSAGE_BYTES)
            messages = list(
                self._packing.messages(self._ballot, self.reported, success, self.sent + 1, records)
            )
            for message in messages:
                self._send(self.name, message)
            self.sent += len(records)
            self._ever_sent = max(self._ever_sent, self.sent)
            self.reported = max(self.reported, success)
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
        """Whether its disk has every slot that was open at its admission, so all that an earlier disk may have accepted."""
        return self._acknowledged >= self._needs

    def is_near(self, last: int, most: int) -> bool:
        """Whether it lacks at most so many slots up to `last`, and has made one durable since its admission, if it lacked any. Otherwise it may
        receive nothing from here, or its disk stands still."""
        return (
            (self.whole or self._acknowledged > self._admitted_with)
            and not self.lacks
            and last - self.accepted <= most
        )

    def on_accepted(self, message: Accepted, decided: int) -> None:
        """Takes an acknowledgement, at most of slots that were sent; after an image, of slots up to `decided`, the primary's decided slot."""
        self.received()
        if self.lacks:
            self._ever_sent = max(self._ever_sent, decided)
        self._acknowledged = max(self._acknowledged, message.accepted)
        before, executed = self.accepted, self.executed
        self.accepted = max(self.accepted, min(message.accepted, self._ever_sent))
        self.executed = max(self.executed, min(message.executed, self._ever_sent))
        self.sent, self.reported = max(self.sent, self.accepted), max(self.reported, self.executed)
        if self.accepted >= self.sent and self.executed >= self.reported:
            self._waiting_since_ns = 0
        elif self.accepted > before or (self.accepted >= self.sent and self.executed > executed):
            # While its disk stands still, it executes what others decide.
            self._waiting_since_ns = self._clock.monotonic_ns()
        if message.gap and self._clock.monotonic_ns() - self._sent_at_ns > GAP_NS:
            self.sent = min(self.accepted, message.accepted)

    def remind(self, executed: int) -> None:
        """Sends the decision again to a member that has executed less, perhaps after a restart, or that is not whole yet."""
        self.received()
        if executed < self.reported or not self.whole:
            self._send(self.name, Success(self._ballot, self.reported))

    def on_tick(self, timeout_ns: int) -> None:
        """Overdue records and decisions count as unsent, so that they are sent again before the member counts as silent."""
        overdue_ns = min(RESEND_NS, timeout_ns // 3)
        if self._waiting_since_ns and self._clock.monotonic_ns() - self._sent_at_ns > overdue_ns:
            self.sent = self.accepted
            self.reported = min(self.reported, self.executed)
