"""What a server of the group has sent and written: messages and octets by kind, records per message, writes of the log."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from nodes.protocols.paxos.messages import Accept
from nodes.wire.messages import Message
from nodes.world import World

REPLICATING = ("Accept", "Success")
"""Kinds that carry records and decisions from the primary to the others; DCFS3 counts these."""


class Counters:
    """Of one life of a server."""

    def __init__(self, world: World):
        self._send = world.network.send
        self._encode = msgspec.msgpack.Encoder().encode
        self.messages: Counter[str] = Counter()
        self.octets: Counter[str] = Counter()
        self.records_per_message: Counter[int] = Counter()
        """Of Accept and Success."""
        self.log_writes = 0
        self.operations = 0
        """Clients' writes that this server has answered as the primary."""

    def send(self, to: str, message: Message) -> None:
        """Sends a message of the group and counts it."""
        kind = type(message).__name__
        self.messages[kind] += 1
        self.octets[kind] += len(self._encode(message))
        if kind in REPLICATING:
            self.records_per_message[len(message.records) if isinstance(message, Accept) else 0] += 1
        self._send(to, message)

    def told(self) -> dict[str, Any]:
        """For whoever asks: totals, and by operation."""
        replicating = sum(self.messages[kind] for kind in REPLICATING)
        return {
            "messages": dict(sorted(self.messages.items())),
            "octets": dict(sorted(self.octets.items())),
            "records_per_message": {str(n): count for n, count in sorted(self.records_per_message.items())},
            "log_writes": self.log_writes,
            "operations": self.operations,
            "messages_per_operation": replicating / self.operations if self.operations else 0.0,
        }
