"""Link rules of one process: what its transport does to messages, by peer and direction."""

from __future__ import annotations

import random

import msgspec

from nodes.trace.present import Caused
from nodes.wire.damage import damaged

EVERYBODY = "*"
MILLISECOND = 1_000_000


REORDER_NS = 5 * MILLISECOND
"""Largest time by which a message arrives late, as in the simulator."""


def either(one: float, other: float) -> float:
    """The share of what meets at least one of two independent faults."""
    return 1 - (1 - one) * (1 - other)


class LinkRule(msgspec.Struct, forbid_unknown_fields=True):
    """`to` is the direction from this process to the peer."""

    peer: str
    direction: str
    drop: bool = False
    delay_ms: float = 0
    loss: float = 0.0
    damage: float = 0.0
    jitter_ms: float = 0
    duplicate: float = 0.0
    reorder: float = 0.0


class DirectionFaults:
    """The faults of one direction of one link."""

    __slots__ = ("damage", "delay_ns", "drop", "duplicate", "jitter_ns", "loss", "reorder")

    def __init__(self) -> None:
        self.drop = False
        self.delay_ns = 0
        self.loss = 0.0
        self.damage = 0.0
        self.jitter_ns = 0
        self.duplicate = 0.0
        self.reorder = 0.0

    def add(self, rule: LinkRule) -> None:
        self.drop = self.drop or rule.drop
        self.delay_ns += int(rule.delay_ms * MILLISECOND)
        self.jitter_ns += int(rule.jitter_ms * MILLISECOND)
        self.loss = either(self.loss, rule.loss)
        self.damage = either(self.damage, rule.damage)
        self.duplicate = either(self.duplicate, rule.duplicate)
        self.reorder = either(self.reorder, rule.reorder)

    def loses(self, rng: random.Random) -> bool:
        return self.drop or (self.loss > 0 and rng.random() < self.loss)

    def passed(self, caused: Caused, rng: random.Random) -> Caused:
        """The messages that pass, some of them damaged or twice."""
        passed: Caused = ([], [])
        for message, cause in zip(*caused, strict=True):
            if self.loses(rng):
                continue
            if self.damage and rng.random() < self.damage:
                message = damaged(message, rng)
            for _ in range(2 if self.duplicate and rng.random() < self.duplicate else 1):
                passed[0].append(message)
                passed[1].append(cause)
        return passed

    def late_ns(self, rng: random.Random) -> int:
        """Additional time of one message that arrives behind later ones; 0 for a message in order."""
        return 1 + int(rng.random() * REORDER_NS) if self.reorder and rng.random() < self.reorder else 0

    def takes_ns(self, rng: random.Random) -> int:
        """Time of the messages in order."""
        return self.delay_ns + (int(rng.random() * self.jitter_ns) if self.jitter_ns else 0)


class LinkRules:
    """All rules in force; replaced as a whole."""

    def __init__(self) -> None:
        self._rules: list[LinkRule] = []
        self._ways: dict[tuple[str, str], DirectionFaults | None] = {}

    def replace(self, rules: list[LinkRule]) -> None:
        self._rules = rules
        self._ways.clear()

    def way(self, peer: str, direction: str) -> DirectionFaults | None:
        """The faults of a direction; None when there are none."""
        key = (peer, direction)
        if key not in self._ways:
            self._ways[key] = self._made(peer, direction)
        return self._ways[key]

    def _made(self, peer: str, direction: str) -> DirectionFaults | None:
        way = None
        for rule in self._rules:
            if rule.peer in (peer, EVERYBODY) and rule.direction in (direction, "both"):
                way = way or DirectionFaults()
                way.add(rule)
        return way
