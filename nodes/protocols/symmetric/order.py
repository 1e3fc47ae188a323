"""Total order on top of causal broadcast (SAA §5): pure.

Safe (safety rule 5): members deliver messages in the order of (Lamport stamp, sender), each after a later message of every member has arrived.
Silent members delay the others. An idle member sends an acknowledgement at once in the `fast` protocol, and with its next heartbeat in the `plain`
one (communication history).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Protocol

from nodes.protocols.symmetric.messages import Numbered

Key = tuple[int, int]
"""(stamp, sender)."""


class Order(Protocol):
    """The strategy that chooses the next accepted messages in the total order."""

    def next_stamp(self) -> int: ...

    def accept(self, message: Numbered) -> None:
        """Takes a message, in causal order; this member's own too."""

    def deliverable(self) -> list[Numbered]:
        """Removes and returns the messages whose place in the order is certain now."""

    def owes(self) -> bool:
        """Whether others wait for a message of this member, which has nothing to broadcast (the acknowledgement criterion)."""

    def undelivered(self) -> list[Numbered]:
        """The accepted messages that are not delivered, in the total order."""

    @property
    def own_candidates(self) -> int:
        """Number of this member's messages that are not delivered."""

    @property
    def frontier(self) -> Key:
        """Key of the last delivered message."""


def key_of(message: Numbered) -> Key:
    return message.stamp, message.sender


class LamportOrder:
    """The safe total order of one member in a view of `size` members."""

    def __init__(self, own: int, size: int):
        self._own = own
        self._clock = 0
        self._received = [0] * size
        """Newest stamp of each member."""
        self._pending: list[tuple[Key, Numbered]] = []
        self._owed: Key = (0, 0)
        """Key of the last message of others that is to be delivered."""
        self.own_candidates = 0
        self.frontier: Key = (0, 0)

    def next_stamp(self) -> int:
        return self._clock + 1

    def accept(self, message: Numbered) -> None:
        self._received[message.sender] = message.stamp
        self._clock = max(self._clock, message.stamp)
        if not message.records:
            return
        heapq.heappush(self._pending, (key_of(message), message))
        if message.sender == self._own:
            self.own_candidates += 1
        else:
            self._owed = max(self._owed, key_of(message))

    def deliverable(self) -> list[Numbered]:
        delivered: list[Numbered] = []
        while self._pending and self._certain(self._pending[0][1]):
            self.frontier, message = heapq.heappop(self._pending)
            self.own_candidates -= message.sender == self._own
            delivered.append(message)
        return delivered

    def _certain(self, message: Numbered) -> bool:
        """Whether no member can send an earlier message any more. This member's own clock has passed it."""
        place = key_of(message)
        return all(
            (stamp, member) > place
            for member, stamp in enumerate(self._received)
            if member not in (self._own, message.sender)
        )

    def owes(self) -> bool:
        """Checks the conditions of §5.2, except that the caller checks for waiting calls.

        A member with a candidate owes nothing: for the first undelivered message, the candidate comes later and acknowledges it.
        """
        return not self.own_candidates and self._owed > (self._received[self._own], self._own)

    def undelivered(self) -> list[Numbered]:
        return [message for _, message in sorted(self._pending, key=lambda entry: entry[0])]


class PlainOrder(LamportOrder):
    """The communication history algorithm: an idle member sends only heartbeats (SAA §5)."""

    def owes(self) -> bool:
        return False


class LiteralOrder:
    """Fig. 3 taken literally: a member waits only for members of smaller id, and members diverge (safety rule 5)."""

    def __init__(self, own: int, size: int):
        self._own = own
        self._clock = 0
        self._pending: list[list[Numbered]] = [[] for _ in range(size)]
        self._spoken: list[Numbered | None] = [None] * size
        """Newest message of each member, acknowledgements included."""
        self._acknowledge = False
        self.frontier: Key = (0, 0)

    def next_stamp(self) -> int:
        return self._clock + 1

    def accept(self, message: Numbered) -> None:
        self._clock = max(self._clock, message.stamp)
        self._spoken[message.sender] = message
        if not message.records:
            return
        self._pending[message.sender].append(message)
        own = message.sender == self._own
        self._acknowledge = not own and (self._acknowledge or message.sender > self._own)

    def _candidates(self) -> list[Numbered]:
        """The messages that follow only delivered ones."""
        heads = [queue[0] for queue in self._pending if queue]
        return [
            head
            for head in heads
            if not any(other.counter <= head.received[other.sender] for other in heads if other is not head)
        ]

    def deliverable(self) -> list[Numbered]:
        delivered: list[Numbered] = []
        while ready := self._ready():
            for message in ready:
                self._pending[message.sender].pop(0)
                self.frontier = key_of(message)
            delivered += ready
        return delivered

    def _ready(self) -> list[Numbered]:
        """The delivery set, in the order of ids."""
        candidates = self._candidates()
        senders = {message.sender for message in candidates}
        return [
            message
            for message in candidates
            if all(prior in senders or self._follows(prior, message) for prior in range(message.sender))
        ]

    def _follows(self, member: int, message: Numbered) -> bool:
        """Whether that member has sent a message after receiving this one."""
        spoken = self._spoken[member]
        return spoken is not None and spoken.received[message.sender] >= message.counter

    def owes(self) -> bool:
        """Checks the conditions of §5.2, except that the caller checks for waiting calls."""
        owes = self._acknowledge and not self._pending[self._own]
        self._acknowledge = False
        return owes

    @property
    def own_candidates(self) -> int:
        return len(self._pending[self._own])

    def undelivered(self) -> list[Numbered]:
        return sorted((message for queue in self._pending for message in queue), key=key_of)


MakeOrder = Callable[[str, bool, int, int], Order]
"""(`fast` or `plain`, whether the paper's rule is taken literally, own id, members of the view)."""


def order_of(name: str, literal: bool, own: int, size: int) -> Order:
    """The order of the `fast` or `plain` protocol. `literal` opens the hole fast_literal_order."""
    if literal:
        return LiteralOrder(own, size)
    return PlainOrder(own, size) if name == "plain" else LamportOrder(own, size)
