"""The copies of replicas that the active has ordered, and the source of the next one. Pure."""

from __future__ import annotations

from nodes.config import SECOND

COPY_NS = 10 * SECOND
"""Time for which a commanded copy counts as made."""
COPIES_MAX = 64
"""Largest number of copies under way."""


class CopyOrders:
    def __init__(self) -> None:
        self._under_way: dict[int, dict[str, int]] = {}
        """The targets by block, each with the time when the copy is given up."""
        self._turns: dict[int, int] = {}
        """By block that lacks replicas: the number that selects the source of the next copy, so that one that fails is followed by another."""

    def clear(self) -> None:
        self._under_way.clear()
        self._turns.clear()

    def end(self, block: int) -> None:
        """The block needs no copies any more."""
        self._under_way.pop(block, None)
        self._turns.pop(block, None)

    def give_up(self, now: int) -> list[int]:
        """Ends copies that should have been made by now. Returns their blocks."""
        found: list[int] = []
        for block, copies in list(self._under_way.items()):
            late = [target for target, until_ns in copies.items() if until_ns <= now]
            self._drop(block, late)
            found += [block] if late else []
        return found

    def _drop(self, block: int, names: list[str]) -> None:
        copies = self._under_way.get(block, {})
        for name in names:
            copies.pop(name, None)
        if not copies:
            self._under_way.pop(block, None)

    def lacking(self, block: int, replication: int, good: list[str]) -> int:
        """Number of copies to order now. Those that have arrived at `good` nodes are no longer under way."""
        self._drop(block, good)
        room = COPIES_MAX - sum(map(len, self._under_way.values()))
        return max(0, min(replication - len(good) - len(self.targets(block)), room))

    def targets(self, block: int) -> list[str]:
        """The nodes to which copies of the block are under way."""
        return list(self._under_way.get(block, {}))

    def begin(self, block: int, target: str, good: list[str], now: int) -> str:
        """Notes an order. Returns the node that is to send the copy, each time another one of the good ones."""
        self._under_way.setdefault(block, {})[target] = now + COPY_NS
        turn = self._turns[block] = self._turns.get(block, block - 1) + 1
        return good[turn % len(good)]
