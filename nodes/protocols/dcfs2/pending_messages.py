"""Messages that wait for another group's answer, and the times when they are sent again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from nodes.config import MILLISECOND

RESEND_NS = 100 * MILLISECOND
"""Duration of a round."""
ROUNDS_MAX = 8
"""Longest wait before a message is sent again, in rounds."""
AGAIN_AT_ONCE = 256
"""Messages sent again in one round. When more wait, each waits for proportionally more rounds."""
T = TypeVar("T")


class Unanswered(Generic[T]):
    """Counts the rounds since each was first seen open."""

    def __init__(self) -> None:
        self._waited: dict[T, int] = {}

    def due(self, still_open: Iterable[T]) -> list[T]:
        """The messages to send again now: after 2, 4 and 8 rounds and then every 8. Called once in a round with all that is open."""
        self._waited = {each: self._waited.get(each, 0) + 1 for each in still_open}
        every = 1 + len(self._waited) // AGAIN_AT_ONCE
        return [each for each, rounds in self._waited.items() if is_due(rounds, every)]


def is_due(rounds: int, every: int) -> bool:
    """Whether a message is due after so many rounds. Thousands must be sent no faster than they can be answered: each is `every` times as late."""
    turns, rest = divmod(rounds, every)
    backs_off = turns > 1 and turns & (turns - 1) == 0 and turns <= ROUNDS_MAX
    return not rest and (backs_off or (turns > 0 and turns % ROUNDS_MAX == 0))
