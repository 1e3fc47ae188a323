"""The links between the simulated servers, each direction separately, and their faults."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec.structs import replace

from nodes.sim.conditions import CALM, MICROSECOND, Conditions

COORDINATION = "coordination"
"""Links of names with this prefix are TCP connections."""
RETRANSMIT_NS = 200_000_000
RETRANSMITS = 6
"""Number of retransmissions. After so many losses in a row TCP has waited 12 s, and every caller has given up."""


class SimLink:
    """One direction. All durations in nanoseconds, shares between 0 and 1.

    Each link draws latencies and losses from two random streams of its own: a fault on one link does not affect another, and a loss does not
    shift later latencies.
    """

    __slots__ = (
        "_base_ns",
        "_chance",
        "_conditions",
        "_draw",
        "_spread_ns",
        "_stream",
        "_tail_from",
        "_tail_ns",
        "cut",
        "damage",
        "delay_ns",
        "duplicate",
        "jitter_ns",
        "last_ns",
        "lose",
        "piled",
        "reorder",
        "tcp",
    )

    def __init__(self, conditions: Conditions = CALM, stream: str = "", tcp: bool = False):
        latency = conditions.coordination if tcp else conditions.network
        self._conditions = conditions
        self.tcp = tcp
        self._base_ns = latency.base_us * MICROSECOND
        self._spread_ns = latency.spread_us * MICROSECOND
        self._tail_from = 1 - latency.tail_share
        self._tail_ns = latency.tail_us * MICROSECOND
        self._draw = random.Random(stream).random
        """Random numbers for latencies."""
        self._stream = stream
        self._chance: random.Random | None = None
        self.piled: list[Callable[[], None]] | None = None
        """Arrivals that wait while the link is clogged; None while it is open."""
        self.last_ns = 0
        """Time when the latest frame arrives: frames keep their order except for `reorder`."""
        self.mend()

    @property
    def chance(self) -> random.Random:
        """Random numbers for events that happen to some messages only."""
        if self._chance is None:
            self._chance = random.Random(f"{self._stream}/chance")
        return self._chance

    def mend(self) -> None:
        """Ends every fault but a clog, which is opened separately: its messages arrive then."""
        self.cut = self.tcp and self.piled is not None
        self.delay_ns = self.jitter_ns = 0
        self.damage = 0.0
        self.lose = self._conditions.lose
        self.duplicate = self._conditions.duplicate
        self.reorder = self._conditions.reorder

    def clear_up(self, conditions: Conditions) -> None:
        """Sets the shares of lost, doubled and late messages to these conditions, from now on."""
        self._conditions = conditions
        self.lose, self.duplicate, self.reorder = conditions.lose, conditions.duplicate, conditions.reorder

    def clog(self) -> None:
        """Arriving messages accumulate. A TCP connection stalls, as if it were cut: its ends hold back their messages."""
        if self.piled is None:
            self.piled = []
            self.cut = self.cut or self.tcp

    def unclog(self, cut: bool) -> None:
        """Delivers the accumulated messages now, in order; `cut` when the link is also cut."""
        piled, self.piled = self.piled, None
        self.cut = cut
        for arrive in piled or ():
            arrive()

    def arrival_ns(self, now_ns: int, ordered: bool = False) -> int:
        """Arrival time of a message that leaves now; `ordered` for a TCP connection, which keeps the order and is late, never out of order."""
        share = self._draw()
        at_ns = now_ns + self.delay_ns + self._base_ns + int(share * self._spread_ns)
        if share > self._tail_from:
            at_ns += int(self._draw() * self._tail_ns)
        if self.jitter_ns:
            at_ns += int(self.chance.random() * self.jitter_ns)
        if ordered:
            return at_ns + (self.retransmitted_ns() if self.lose else 0)
        if self.reorder and self.chance.random() < self.reorder:
            return at_ns + int(self.chance.random() * self._conditions.reorder_us) * MICROSECOND
        if at_ns <= self.last_ns:
            at_ns = self.last_ns + 1
        self.last_ns = at_ns
        return at_ns

    def retransmitted_ns(self) -> int:
        """Time that TCP needs to deliver a segment through the losses."""
        losses = 0
        while losses < RETRANSMITS and self.chance.random() < self.lose:
            losses += 1
        return ((1 << losses) - 1) * RETRANSMIT_NS


class Links:
    """Every directed link by (sender, receiver), created on first use."""

    def __init__(self, rng: random.Random, conditions: Conditions = CALM):
        self.rng = rng
        """Random numbers for the coordination service's own choices."""
        self._conditions = conditions
        self._seed = rng.getrandbits(64)
        self.made: dict[tuple[str, str], SimLink] = {}

    def of(self, sender: str, receiver: str) -> SimLink:
        link = self.made.get((sender, receiver))
        if link is None:
            link = self.made[sender, receiver] = self._made(sender, receiver)
        return link

    def clear_up(self) -> None:
        """Ends background loss, doubling and reordering; later faults still apply."""
        self._conditions = replace(self._conditions, lose=0.0, duplicate=0.0, reorder=0.0)
        for link in self.made.values():
            link.clear_up(self._conditions)

    def _made(self, sender: str, receiver: str) -> SimLink:
        tcp = sender.startswith(COORDINATION) or receiver.startswith(COORDINATION)
        return SimLink(self._conditions, f"{self._seed}/{sender}>{receiver}", tcp)
