"""The state of an image's pipeline at its writer (VSSP Algorithm 2): each node's progress in each partition, and the next bytes to send. Pure."""

from __future__ import annotations

from nodes.protocols.vssp.acknowledgement import Acknowledging, held_by
from nodes.protocols.vssp.packets import PACKET_BYTES

WINDOW_BYTES = 8 * PACKET_BYTES
"""Largest number of bytes of a partition that are sent and not yet successful."""
LAG_BYTES = 16 * PACKET_BYTES
"""Largest number of bytes of a partition that are sent and not yet at the slowest node of the chain."""


class PartitionStream:
    """One partition: `produced` bytes are on the writer's disk, `sent` bytes went down the chain."""

    def __init__(self) -> None:
        self.produced = 0
        self.ended = False
        self.sent = 0
        self.held: dict[str, int] = {}
        """The offset that each node behind the writer has acknowledged."""


class Outgoing:
    """All partitions of one image on one chain. Rounds count the chains: a silent node is left out of the next one."""

    def __init__(self, image: str, chain: list[str], partitions: int, acknowledging: Acknowledging):
        self.image = image
        self.chain = chain
        self.round = 1
        self.replicas = len(chain)
        self.acknowledging = acknowledging
        self.streams = [PartitionStream() for _ in range(partitions)]
        self.shelved = {chain[0]} if chain else set()

    @property
    def needed(self) -> int:
        return self.acknowledging.needed(self.replicas, len(self.chain))

    def successful(self, stream: PartitionStream) -> int:
        """The offset up to which enough replicas have a partition, each counted once."""
        others = [stream.held.get(node, 0) for node in self.chain[1:]]
        return held_by([stream.produced, *others], self.needed)

    def _slowest(self, stream: PartitionStream) -> int:
        return min((stream.held.get(node, 0) for node in self.chain[1:]), default=stream.sent)

    def next_length(self, stream: PartitionStream) -> int:
        """Length in bytes of the packet that may be sent now; 0 when none may."""
        if stream.sent - self.successful(stream) >= WINDOW_BYTES or len(self.chain) < 2:
            return 0
        if stream.sent - self._slowest(stream) >= LAG_BYTES:
            return 0
        there = stream.produced - stream.sent
        return min(PACKET_BYTES, there) if there > PACKET_BYTES or stream.ended else 0

    def on_acked(self, partition: int, offset: int, holders: list[str]) -> None:
        if not 0 <= partition < len(self.streams):
            return
        stream = self.streams[partition]
        for node in holders:
            if node in self.chain[1:] and 0 <= offset <= stream.produced:
                stream.held[node] = max(stream.held.get(node, 0), offset)

    def go_back(self, partition: int, have: int) -> None:
        """Sends the stream again from `have` on, because a node lacks it."""
        if 0 <= partition < len(self.streams) and have >= 0:
            self.streams[partition].sent = min(self.streams[partition].sent, have)

    def resend(self) -> None:
        """Sends again everything that a node of the chain has not acknowledged."""
        for stream in self.streams:
            stream.sent = min(stream.sent, self._slowest(stream))

    def leave_out(self, node: str) -> None:
        """The next round goes without this node."""
        self.chain = [each for each in self.chain if each != node]
        self.round += 1
        self.resend()

    def silent(self) -> str:
        """The node that delays the others: the first of the chain that lacks bytes it was sent, or else has no manifest yet."""
        for node in self.chain[1:]:
            if any(stream.held.get(node, 0) < stream.sent for stream in self.streams):
                return node
        return next(node for node in self.chain[1:] if node not in self.shelved)

    def has_all(self, node: str) -> bool:
        return all(stream.ended and stream.held.get(node, 0) >= stream.produced for stream in self.streams)

    @property
    def progress(self) -> tuple[int, ...]:
        """A value that grows with every acknowledgement, and with every node that is left out."""
        return (self.round, len(self.shelved), *(sum(stream.held.values()) for stream in self.streams))

    @property
    def replicated(self) -> bool:
        """Every packet of every partition is successful."""
        return all(stream.ended and self.successful(stream) >= stream.produced for stream in self.streams)
