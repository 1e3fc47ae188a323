"""The links between the simulated servers, each direction by itself, and what is wrong with them."""

from __future__ import annotations

import random

MICROSECOND = 1_000
TAIL = 0.01


class Link:
    """One direction. All durations in nanoseconds, shares between 0 and 1."""

    __slots__ = ("cut", "damage", "delay_ns", "duplicate", "last_ns", "lose", "reorder")

    def __init__(self) -> None:
        self.cut = False
        self.delay_ns = 0
        self.damage = 0.0
        self.lose = 0.0
        self.duplicate = 0.0
        self.reorder = 0.0
        self.last_ns = 0
        """When the latest frame arrives: frames keep their order but for `reorder`."""

    def mend(self) -> None:
        self.cut = False
        self.delay_ns = 0
        self.damage = self.lose = self.duplicate = self.reorder = 0.0

    def arrival_ns(self, now_ns: int, rng: random.Random, ordered: bool = False) -> int:
        """`ordered` for what travels in one TCP connection: it is late, never out of order."""
        share = rng.random()
        latency_ns = 40_000 + int(share * 120_000)
        if share > 1 - TAIL:
            latency_ns += int(rng.random() * 3_000_000)
        at_ns = now_ns + latency_ns + self.delay_ns
        if self.reorder and not ordered and rng.random() < self.reorder:
            return at_ns + int(rng.random() * 5_000) * MICROSECOND
        if at_ns <= self.last_ns:
            at_ns = self.last_ns + 1
        self.last_ns = at_ns
        return at_ns


class Links:
    """Every directed link by (sender, receiver); made when first used."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self._links: dict[tuple[str, str], Link] = {}

    def of(self, sender: str, receiver: str) -> Link:
        link = self._links.get((sender, receiver))
        if link is None:
            link = self._links[sender, receiver] = Link()
        return link
