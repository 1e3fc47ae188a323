"""What the writer of an image knows of its pipeline (VSSP Algorithm 2): who has how much of each partition, and what may be sent next. Pure."""

from __future__ import annotations

from nodes.protocols.vssp.acknowledging import Acknowledging, held_by
from nodes.protocols.vssp.packets import PACKET_OCTETS

WINDOW_OCTETS = 8 * PACKET_OCTETS
"""Of each partition, sent and not yet successful."""
LAG_OCTETS = 16 * PACKET_OCTETS
"""Of each partition, sent and not yet at the slowest node of the chain."""


class Stream:
    """One partition: `produced` octets of it are on the writer's disk, `sent` went down the chain."""

    def __init__(self) -> None:
        self.produced = 0
        self.ended = False
        self.sent = 0
        self.held: dict[str, int] = {}
        """Up to where each node behind the writer has it, as far as it has told."""


class Outgoing:
    """All partitions of one image on the way down one chain. Rounds count the chains: who falls silent is left out of the next."""

    def __init__(self, image: str, chain: list[str], partitions: int, acknowledging: Acknowledging):
        self.image = image
        self.chain = chain
        self.round = 1
        self.replicas = len(chain)
        self.acknowledging = acknowledging
        self.streams = [Stream() for _ in range(partitions)]
        self.shelved = {chain[0]} if chain else set()

    @property
    def needed(self) -> int:
        return self.acknowledging.needed(self.replicas, len(self.chain))

    def successful(self, stream: Stream) -> int:
        """Up to where enough replicas have a partition, each counted once."""
        others = [stream.held.get(node, 0) for node in self.chain[1:]]
        return held_by([stream.produced, *others], self.needed)

    def _slowest(self, stream: Stream) -> int:
        return min((stream.held.get(node, 0) for node in self.chain[1:]), default=stream.sent)

    def next_length(self, stream: Stream) -> int:
        """Octets of the packet that may leave now; 0 when none may."""
        if stream.sent - self.successful(stream) >= WINDOW_OCTETS or len(self.chain) < 2:
            return 0
        if stream.sent - self._slowest(stream) >= LAG_OCTETS:
            return 0
        there = stream.produced - stream.sent
        return min(PACKET_OCTETS, there) if there > PACKET_OCTETS or stream.ended else 0

    def on_acked(self, partition: int, offset: int, holders: list[str]) -> None:
        if not 0 <= partition < len(self.streams):
            return
        stream = self.streams[partition]
        for node in holders:
            if node in self.chain[1:] and 0 <= offset <= stream.produced:
                stream.held[node] = max(stream.held.get(node, 0), offset)

    def go_back(self, partition: int, have: int) -> None:
        """A node lacks what comes behind `have`: it is sent again."""
        if 0 <= partition < len(self.streams) and have >= 0:
            self.streams[partition].sent = min(self.streams[partition].sent, have)

    def resend(self) -> None:
        """Everything that somebody in the chain has not acknowledged goes again."""
        for stream in self.streams:
            stream.sent = min(stream.sent, self._slowest(stream))

    def leave_out(self, node: str) -> None:
        """The next round goes without this node."""
        self.chain = [each for each in self.chain if each != node]
        self.round += 1
        self.resend()

    def silent(self) -> str:
        """Whoever keeps the others waiting: the first of the chain that lacks something it was sent, or else has no manifest yet."""
        for node in self.chain[1:]:
            if any(stream.held.get(node, 0) < stream.sent for stream in self.streams):
                return node
        return next(node for node in self.chain[1:] if node not in self.shelved)

    def has_all(self, node: str) -> bool:
        return all(stream.ended and stream.held.get(node, 0) >= stream.produced for stream in self.streams)

    @property
    def progress(self) -> tuple[int, ...]:
        """Grows with everything that is acknowledged, and with everyone who is left out."""
        return (self.round, len(self.shelved), *(sum(stream.held.values()) for stream in self.streams))

    @property
    def replicated(self) -> bool:
        """Every packet of every partition is successful."""
        return all(stream.ended and self.successful(stream) >= stream.produced for stream in self.streams)
