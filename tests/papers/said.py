"""The messages between servers."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from nodes.sim.cluster import SimCluster
from nodes.trace.events import Stamped
from nodes.wire.messages import Message


class Sent(NamedTuple):
    sender: str
    receiver: str
    message: Message
    after: int
    """Number of events that were emitted before the message left."""


class Said:
    """Every message that leaves a server, and every event, from here on."""

    def __init__(self, cluster: SimCluster):
        self.sent: list[Sent] = []
        self._cluster = cluster
        self._begin = len(cluster.events)
        cluster.net.on_sent.subscribe(self._on_sent)

    def _on_sent(self, sender: str, receiver: str, message: Message) -> None:
        self.sent.append(Sent(sender, receiver, message, len(self._cluster.events)))

    def of(self, *kinds: type[Message]) -> list[Sent]:
        return [sent for sent in self.sent if isinstance(sent.message, kinds)]

    def count(self) -> Counter[str]:
        return Counter(type(sent.message).__name__ for sent in self.sent)

    def reported(self, kind: type, server: str = "") -> list[Stamped]:
        events = self._cluster.events[self._begin :]
        return [each for each in events if type(each.event) is kind and server in ("", each.server)]

    def place(self, stamped: Stamped) -> int:
        """Position of an event among all events of the cluster."""
        return self._cluster.events.index(stamped)
