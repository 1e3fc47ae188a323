"""Causal broadcast over links that lose, repeat and disorder messages (SAA §4.1): pure.

Each member's broadcasts are numbered. A message is accepted when all earlier ones of its sender and all that it follows have been; what was
lost is asked for again, what is doubled is dropped.
"""

from __future__ import annotations

from collections import deque

from nodes.metadata.records import Record
from nodes.protocols.symmetric.messages import Numbered

STAMP_MAX = 1 << 62
EARLY_MAX = 256
"""Messages of one sender that are kept until those before them come."""


class CausalBroadcast:
    """One member's end, in one view of `size` members."""

    def __init__(self, own: int, size: int):
        self._own = own
        self._size = size
        self.received = [0] * size
        """How many broadcasts of each member were accepted; our own count as soon as they are sent."""
        self._early: list[dict[int, Numbered]] = [{} for _ in range(size)]
        self._sent: deque[Numbered] = deque()
        self._has_of_us = [0] * size
        """How many of ours each member is known to have accepted."""

    def send(self, stamp: int, at_ns: int, records: list[Record]) -> Numbered:
        """The next message of this member, kept until everybody is known to have it."""
        message = Numbered(
            self._own, self.received[self._own] + 1, stamp, list(self.received), at_ns, records
        )
        self.received[self._own] += 1
        if self._size > 1:
            self._sent.append(message)
        return message

    def well_formed(self, sender: int, message: Numbered) -> bool:
        """Whether a message can be one of that member's."""
        return (
            message.sender == sender != self._own
            and 0 < message.stamp < STAMP_MAX
            and len(message.received) == self._size
            and message.received[sender] == message.counter - 1
            and message.received[self._own] <= self.received[self._own]
        )

    def accept(self, message: Numbered) -> list[Numbered]:
        """Takes a message that came over a link; what can be accepted now, in causal order."""
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

    def lacks(self, sender: int, told: int) -> int:
        """The first broadcast of the sender, which has made `told`, that never came; 0 when none lacks."""
        first = self.received[sender] + 1
        early = self._early[sender]
        while first in early:
            first += 1
        return first if first <= told else 0

    def acknowledged(self, member: int, count: int) -> None:
        """That member has accepted so many of ours."""
        self._has_of_us[member] = max(self._has_of_us[member], min(count, self.received[self._own]))
        everybody = min(has for other, has in enumerate(self._has_of_us) if other != self._own)
        while self._sent and self._sent[0].counter <= everybody:
            self._sent.popleft()

    def again(self, first: int) -> list[Numbered]:
        """Our messages from this number on, as far as somebody may lack them."""
        return [message for message in self._sent if message.counter >= first]

    @property
    def unacknowledged(self) -> int:
        """Messages of ours that somebody may lack."""
        return len(self._sent)
