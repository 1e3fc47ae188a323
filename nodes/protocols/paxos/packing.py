"""Messages for records (DCFS3, Packed Multi-Paxos): all available records in one message, or one message per record.

The packer runs when the server has processed all ready events, like DCFS3's packing thread. Under load several records are available by then,
otherwise one. No record waits for a timer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from nodes.protocols.paxos.messages import Accept, Success
from nodes.wire.messages import Message

MESSAGE_BYTES = 1 << 20


class Packing(Protocol):
    """Strategy that puts records and decisions for another member into messages."""

    packs: bool
    """Whether acknowledgements are combined too."""

    def messages(
        self, ballot: int, reported: int, success: int, first: int, records: list[bytes]
    ) -> Iterator[Message]:
        """Messages with the records from slot `first` on and the decision up to `success`. The member knows the decision up to `reported`."""


class Packed:
    """DCFS3: all available records go into one message, which also carries the decision."""

    packs = True

    def messages(
        self, ballot: int, reported: int, success: int, first: int, records: list[bytes]
    ) -> Iterator[Message]:
        if not records and success > reported:
            yield Success(ballot, success)
        while records:
            count = fitting(records, MESSAGE_BYTES)
            yield Accept(ballot, success, first, records[:count])
            first, records = first + count, records[count:]


class OnePerMessage:
    """Plain Multi-Paxos: two messages for each record."""

    packs = False

    def messages(
        self, ballot: int, reported: int, success: int, first: int, records: list[bytes]
    ) -> Iterator[Message]:
        for slot in range(reported + 1, success + 1):
            yield Success(ballot, slot)
        for place, data in enumerate(records):
            yield Accept(ballot, 0, first + place, [data])


def fitting(records: list[bytes], limit: int) -> int:
    """How many of the first records fit into the limit in bytes; at least one."""
    for index, data in enumerate(records):
        limit -= len(data)
        if limit < 0 and index:
            return index
    return len(records)


PACKINGS: dict[str, type[Packed] | type[OnePerMessage]] = {
    "packed-paxos": Packed,
    "multi-paxos": OnePerMessage,
}
"""Packing by protocol family."""
