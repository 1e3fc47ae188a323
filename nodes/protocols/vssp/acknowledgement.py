"""Replication of a packet: VSSP's Algorithm 2, and the pipeline of HDFS as its baseline (VSSP §III.D).

A chain is the writer, which is also a pool node and has place 0, and the other replicas in their order.
"""

from __future__ import annotations

from typing import Protocol


class Acknowledging(Protocol):
    name: str

    def early(self, place: int, replicas: int) -> bool:
        """Whether the node at this place acknowledges to the writer directly and at once."""

    def needed(self, replicas: int, chain: int) -> int:
        """Number of the `replicas` that must have a packet; `chain` of them still receive packets."""


class MajorityEarly:
    """Algorithm 2: the first half of the list acknowledges in advance, and more than half of the replicas suffice."""

    name = "vssp"

    def early(self, place: int, replicas: int) -> bool:
        return place < (replicas + 1) // 2

    def needed(self, replicas: int, chain: int) -> int:
        return replicas // 2 + 1


class TailLast:
    """HDFS: the acknowledgement returns from the tail along the whole chain, and every node that is left must have the packet."""

    name = "hdfs_pipeline"

    def early(self, place: int, replicas: int) -> bool:
        return False

    def needed(self, replicas: int, chain: int) -> int:
        return chain


STRATEGIES: dict[str, Acknowledging] = {each.name: each for each in (MajorityEarly(), TailLast())}


def held_by(offsets: list[int], needed: int) -> int:
    """The largest offset up to which at least `needed` of the nodes have a stream, each node's own offset counted once; 0 when there are too few
    nodes."""
    return sorted(offsets, reverse=True)[needed - 1] if needed <= len(offsets) else 0
