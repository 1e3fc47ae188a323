"""The holdings that members report, and the ones that count."""

from __future__ import annotations

from dataclasses import dataclass, field

from nodes.config import Holes
from nodes.protocols.symmetric.holdings import EARLY_MAX, Holdings, holdings_of
from nodes.protocols.symmetric.stability import Stability
from nodes.replicas.log import NOTHING
from nodes.wire.messages import Mark


@dataclass
class Log:
    """The part of a journal that these tests use."""

    marks: list[Mark] = field(default_factory=lambda: [NOTHING])

    @property
    def last(self) -> Mark:
        return self.marks[-1]

    def mark_at(self, sn: int) -> Mark | None:
        return self.marks[sn] if sn < len(self.marks) else None

    def holds(self, mark: Mark) -> bool:
        return self.mark_at(mark.sn) == mark

    def grow(self, epoch: int, upto: int) -> None:
        self.marks += [group(sn, epoch) for sn in range(len(self.marks), upto + 1)]


def group(sn: int, epoch: int) -> Mark:
    return Mark(0, epoch, sn, 1_000 * epoch + sn)


def holdings(by_sn: bool = False) -> tuple[Log, Stability, Holdings]:
    log, stability = Log(), Stability(0, 2, 0, Holes())
    return log, stability, holdings_of(by_sn, log, stability, 0, 2, NOTHING)  # type: ignore[arg-type]


def test_another_group_of_the_same_number_does_not_count() -> None:
    log, stability, held = holdings()
    log.grow(1, 3)
    assert held.synced(3)
    assert held.reported(1, group(3, 2)) is None and stability.shown_sn == 0
    assert held.reported(1, group(2, 1)) is True and stability.shown_sn == 2


def test_an_early_report_counts_when_the_journal_has_come_so_far() -> None:
    log, stability, held = holdings()
    assert held.reported(1, group(2, 1)) is False and held.reported(1, group(3, 2)) is False
    log.grow(1, 3)
    assert held.grown() == [1] and stability.held_by(1) == 2


def test_reports_far_ahead_take_no_more_room_than_that() -> None:
    log, stability, held = holdings()
    for sn in range(1, 3 * EARLY_MAX):
        held.reported(1, group(sn, 1))
    log.grow(1, 3 * EARLY_MAX)
    held.grown()
    assert stability.held_by(1) == 3 * EARLY_MAX - 1


def test_a_fenced_member_counts_what_it_delivered_before() -> None:
    for by_sn, expected in ((False, 2), (True, 4)):
        log, stability, held = holdings(by_sn)
        log.grow(1, 2)
        held.set_fence()
        log.grow(2, 4)
        held.synced(4)
        assert stability.own_sn == expected and held.own.sn == expected


def test_a_fenced_member_counts_nothing_once_that_was_cut() -> None:
    log, stability, held = holdings()
    log.grow(1, 3)
    held.set_fence()
    del log.marks[2:]
    log.grow(2, 4)
    assert not held.synced(4) and stability.own_sn == 0
