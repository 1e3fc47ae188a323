"""What waits for the answer of another group, and when it is said again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from nodes.config import MILLISECOND

RESEND_NS = 100 * MILLISECOND
"""One round."""
ROUNDS_MAX = 8
"""The longest that anything waits before it is said again, in rounds."""
AGAIN_AT_ONCE = 256
"""Messages that are said again in one round; with more that wait, each waits for so many more rounds."""
T = TypeVar("T")


class Unanswered(Generic[T]):
    """Counts for each the rounds since it was first seen open."""

    def __init__(self) -> None:
        self._waited: dict[T, int] = {}

    def due(self, still_open: Iterable[T]) -> list[T]:
        """Called once in a round with all that is open: what is said again now, after 2, 4 and 8 rounds and then every 8."""
        self._waited = {each: self._waited.get(each, 0) + 1 for each in still_open}
        every = 1 + len(self._waited) // AGAIN_AT_ONCE
        return [each for each, rounds in self._waited.items() if is_due(rounds, every)]


def is_due(rounds: int, every: int) -> bool:
    """Of what has waited for so many rounds; thousands are said again no faster than they can be answered: each `every` times as late."""
    turns, rest = divmod(rounds, every)
    backs_off = turns > 1 and turns & (turns - 1) == 0 and turns <= ROUNDS_MAX
    return not rest and (backs_off or (turns > 0 and turns % ROUNDS_MAX == 0))
