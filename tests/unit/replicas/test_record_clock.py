"""The clock that stamps records follows the wall clock, and does not jump with it."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.metadata_server.record_clock import RecordClock

HOUR = 3_600 * SECOND


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.wall = 1_000 * HOUR
        self.monotonic = 0

    def wall_ns(self) -> int:
        return self.wall

    def monotonic_ns(self) -> int:
        return self.monotonic

    def passes(self, ns: int) -> None:
        self.wall += ns
        self.monotonic += ns


def made() -> tuple[Hands, RecordClock]:
    hands = Hands()
    return hands, RecordClock(hands)  # type: ignore[arg-type]


def test_it_is_the_wall_clock_as_long_as_that_does_not_jump() -> None:
    hands, clock = made()
    for _ in range(5):
        hands.passes(7 * SECOND)
        assert clock.read_ns() == hands.wall


def test_a_jump_ahead_is_followed_by_an_eighth_of_the_time_that_passes() -> None:
    hands, clock = made()
    before = clock.next_ns(0)
    hands.wall += HOUR
    hands.passes(8 * SECOND)
    assert clock.next_ns(0) <= before + 9 * SECOND
    hands.passes(8 * HOUR)
    assert clock.next_ns(0) == hands.wall


def test_a_jump_back_does_not_stop_it() -> None:
    hands, clock = made()
    before = clock.next_ns(0)
    hands.wall -= HOUR
    hands.passes(8 * SECOND)
    assert clock.next_ns(0) == before + 7 * SECOND


def test_it_is_later_than_every_record_and_everything_received_that_is_credible() -> None:
    hands, clock = made()
    ahead = hands.wall + 60 * SECOND
    assert clock.next_ns(ahead) == ahead + 1
    clock.received(ahead + SECOND)
    assert clock.next_ns(0) == ahead + SECOND + 1
    clock.received(hands.wall + 2 * HOUR)
    assert clock.next_ns(0) == ahead + SECOND + 2


def test_the_known_bug_jumps() -> None:
    hands = Hands()
    clock = RecordClock(hands, jumps=True)  # type: ignore[arg-type]
    hands.wall += HOUR
    assert clock.read_ns() == hands.wall
