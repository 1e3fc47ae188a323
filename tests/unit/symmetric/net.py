"""A few members on links that deliver in any order, lose and repeat: the pure parts without a world."""

from __future__ import annotations

import random
from collections.abc import Callable

from nodes.metadata.records import AtimeRecord
from nodes.protocols.symmetric.causal_broadcast import CausalBroadcast
from nodes.protocols.symmetric.messages import Numbered
from nodes.protocols.symmetric.order import Order

MakeOrder = Callable[[int, int], Order]


class End:
    """One member, with its accepted and delivered messages."""

    def __init__(self, own: int, size: int, make_order: MakeOrder):
        self.causal = CausalBroadcast(own, size)
        self.order = make_order(own, size)
        self.accepted: list[Numbered] = []
        self.delivered: list[tuple[int, int]] = []

    def broadcast(self, total: bool) -> Numbered:
        records = [AtimeRecord(0, 1)] if total else []
        message = self.causal.send(self.order.next_stamp(), 0, list(records))
        self._take(message)
        return message

    def receive(self, message: Numbered) -> None:
        for accepted in self.causal.accept(message):
            self._take(accepted)

    def _take(self, message: Numbered) -> None:
        self.accepted.append(message)
        self.order.accept(message)
        self.delivered += [(each.sender, each.counter) for each in self.order.deliverable()]


class Group:
    """All members, and the messages between them that have not arrived."""

    def __init__(self, size: int, make_order: MakeOrder, rng: random.Random):
        self.ends = [End(own, size, make_order) for own in range(size)]
        self.rng = rng
        self.under_way: list[tuple[int, Numbered]] = []
        self.acknowledgements = 0

    def broadcast(self, sender: int, total: bool = True) -> None:
        message = self.ends[sender].broadcast(total)
        self.acknowledgements += not total
        self.under_way += [(to, message) for to in range(len(self.ends)) if to != sender]

    def arrive(self, share_lost: float = 0.0) -> None:
        """Delivers a random message under way; it may be lost or arrive twice."""
        to, message = self.under_way.pop(self.rng.randrange(len(self.under_way)))
        if self.rng.random() < share_lost:
            return
        self.ends[to].receive(message)
        if self.rng.random() < share_lost:
            self.ends[to].receive(message)

    def repair(self) -> None:
        """Every member requests its missing messages, as after Alive messages."""
        for to, end in enumerate(self.ends):
            for sender, other in enumerate(self.ends):
                if sender != to:
                    other.causal.acknowledged(to, end.causal.received[sender])
                    lacking = end.causal.lacks(sender, other.causal.received[sender])
                    if lacking:
                        self.under_way += [(to, message) for message in other.causal.again(lacking)]

    def acknowledge(self) -> None:
        for sender, end in enumerate(self.ends):
            if end.order.owes():
                self.broadcast(sender, total=False)

    def settle(self) -> None:
        """Runs until no member has a message to send or to request."""
        for _ in range(1000):
            while self.under_way:
                self.arrive()
            self.acknowledge()
            self.repair()
            if not self.under_way:
                return
        raise AssertionError("the members never fall silent")
