"""How records travel (DCFS3, Packed Multi-Paxos): all that are there in one message, or each in one of its own.

The packer is what runs when everything that was ready has been served, as DCFS3's packing thread does: under load several records are there by
then, else one. Nothing waits for a timer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from nodes.protocols.paxos.messages import Accept, Success
from nodes.wire.messages import Message

MESSAGE_OCTETS = 1 << 20


class Packing(Protocol):
    """Strategy: which messages take records and decisions to another member."""

    packs: bool
    """Whether acknowledgements are put together too."""

    def messages(
        self, ballot: int, told: int, success: int, first: int, records: list[bytes]
    ) -> Iterator[Message]:
        """Records of the slots from `first` on, and the news that everything up to `success` is decided; up to `told` that is known there."""


class Packed:
    """DCFS3: whatever is there goes in one message, and decisions ride along."""

    packs = True

    def messages(
        self, ballot: int, told: int, success: int, first: int, records: list[bytes]
    ) -> Iterator[Message]:
        if not records and success > told:
            yield Success(ballot, success)
        while records:
            count = fitting(records, MESSAGE_OCTETS)
            yield Accept(ballot, success, first, records[:count])
            first, records = first + count, records[count:]


class OnePerMessage:
    """Plain Multi-Paxos: two messages for each record."""

    packs = False

    def messages(
        self, ballot: int, told: int, success: int, first: int, records: list[bytes]
    ) -> Iterator[Message]:
        for slot in range(told + 1, success + 1):
            yield Success(ballot, slot)
        for place, octets in enumerate(records):
            yield Accept(ballot, 0, first + place, [octets])


def fitting(records: list[bytes], limit: int) -> int:
    """How many of the first records fit into so many octets; one at least."""
    for index, octets in enumerate(records):
        limit -= len(octets)
        if limit < 0 and index:
            return index
    return len(records)


PACKINGS: dict[str, type[Packed] | type[OnePerMessage]] = {
    "packed-paxos": Packed,
    "multi-paxos": OnePerMessage,
}
"""By family."""
