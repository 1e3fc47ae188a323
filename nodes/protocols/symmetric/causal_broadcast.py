"""Causal broadcast over links that lose, repeat and disorder messages (SAA §4.1): pure.

Each member numbers its broadcasts. A member accepts a message after all earlier ones of its sender and all that it follows. It requests lost
messages again and drops duplicates.
"""

from __future__ import annotations

from collections import deque

from nodes.metadata.records import Record
from nodes.protocols.symmetric.messages import Numbered

STAMP_MAX = 1 << 62
EARLY_MAX = 256
"""Most messages of one sender that wait for earlier ones."""


class CausalBroadcast:
    """The causal broadcast of one member in one view of `size` members."""

    def __init__(self, own: int, size: int):
        self._own = own
        self._size = size
        self.received = [0] * size
        """Number of accepted broadcasts of each member; own ones count when sent."""
        self._early: list[dict[int, Numbered]] = [{} for _ in range(size)]
        self._sent: deque[Numbered] = deque()
        self._has_of_us = [0] * size
        """Number of own broadcasts that each member is known to have accepted."""

    def send(self, stamp: int, at_ns: int, records: list[Record]) -> Numbered:
        """Makes the next message of this member and keeps it until every member is known to have it."""
        message = Numbered(
            self._own, self.received[self._own] + 1, stamp, list(self.received), at_ns, records
        )
        self.received[self._own] += 1
        if self._size > 1:
            self._sent.append(message)
        return message

    def well_formed(self, sender: int, message: Numbered) -> bool:
        """Whether the sender's message has a valid stamp and counts that fit its counter and this member's broadcasts."""
        return (
            message.sender == sender != self._own
            and 0 < message.stamp < STAMP_MAX
            and len(message.received) == self._size
            and message.received[sender] == message.counter - 1
            and message.received[self._own] <= self.received[self._own]
        )

    def accept(self, message: Numbered) -> list[Numbered]:
        """Takes a message from a link. Returns the messages that can be accepted now, in causal order."""
        early = self._early[message.sender]
        if self.received[message.sender] < message.counter <= self.received[message.sender] + EARLY_MAX:
            early.setdefault(message.counter, message)
        accepted: list[Numbered] = []
        while (following := self._next()) is not None:
            self.received[following.sender] += 1
            accepted.append(following)
        return accepted

    def _next(self) -> Numbered | None:
        for sender, early in enumerate(self._early):
            message = early.get(self.received[sender] + 1)
            if message is not None and all(
                needed <= has for needed, has in zip(message.received, self.received, strict=True)
            ):
                return early.pop(message.counter)
        return None

    def lacks(self, sender: int, reported: int) -> int:
        """The first missing broadcast of a sender that has made `reported`; 0 when none is missing."""
        first = self.received[sender] + 1
        early = self._early[sender]
        while first in early:
            first += 1
        return first if first <= reported else 0

    def acknowledged(self, member: int, count: int) -> None:
        """That member has accepted `count` of this member's broadcasts."""
        self._has_of_us[member] = max(self._has_of_us[member], min(count, self.received[self._own]))
        everybody = min(has for other, has in enumerate(self._has_of_us) if other != self._own)
        while self._sent and self._sent[0].counter <= everybody:
            self._sent.popleft()

    def again(self, first: int) -> list[Numbered]:
        """This member's messages from this number on that some member may lack."""
        return [message for message in self._sent if message.counter >= first]
