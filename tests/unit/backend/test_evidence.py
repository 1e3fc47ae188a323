"""The evidence of a takeover: acknowledged writes found again, calls that waited."""

from __future__ import annotations

from backend.evidence import CallHistory, Evidence, TakeoverEvidence, evidence
from nodes.trace import events as e
from nodes.trace.base import Event
from tests.unit.backend.story import MS, Story, called, committed, durable

SERVERS = ("mds1", "mds2", "mds3")
TAKEOVER = TakeoverEvidence("g1", 2, "mds1", "mds2", 100 * MS, 5_150 * MS)
"""A crash at 100 ms, with service again at 5,150 ms."""
BEFORE = (called(1, 50), called(2, 60), called(3, 90))


def kept_of(*after: e.Called, before: tuple[e.Called, ...] = BEFORE) -> CallHistory:
    calls = CallHistory(lambda server: "g1" if server in SERVERS else "")
    for call in before:
        calls.add(call)
    calls.keep(TAKEOVER)
    for call in after:
        calls.add(call)
    return calls


def found_in(calls: CallHistory, *journals: tuple[str, Event]) -> Evidence:
    story, kept = Story(), calls.of("g1", 2)
    assert kept is not None
    return evidence(kept, SERVERS, [story(1, server, event) for server, event in journals])


def written(sn: int, *holders: str) -> list[tuple[str, Event]]:
    return [*((server, durable(sn)) for server in holders), ("mds1", committed(sn))]


def test_acknowledged_writes_are_found_by_their_content() -> None:
    journals = [*written(1, *SERVERS), *written(2, "mds1", "mds2"), *written(3, "mds1", "mds2")]
    shown = found_in(kept_of(), *journals)
    assert (shown.last_sn, shown.last_epoch, shown.holders) == (3, 1, ["mds1", "mds2"])
    assert (shown.acknowledged, shown.found, shown.from_sn) == (3, 3, 1)


def test_a_write_that_the_new_active_lacks_or_has_replaced_is_not_found() -> None:
    cut: tuple[str, Event] = ("mds2", e.Cut(2, "not in the last journal"))
    journals = [*written(1, *SERVERS), *written(2, *SERVERS), *written(3, *SERVERS)]
    assert found_in(kept_of(), *journals, cut).found == 2
    other: tuple[str, Event] = ("mds2", durable(3, epoch=2))
    replaced = found_in(kept_of(), *journals, cut, other, ("mds2", committed(3, epoch=2)))
    assert (replaced.acknowledged, replaced.found, replaced.holders) == (3, 2, ["mds1", "mds3"])


def test_a_write_below_one_that_is_found_is_found_though_its_event_was_lost() -> None:
    journals = [*written(1, *SERVERS), *written(2, "mds1"), *written(3, *SERVERS)]
    assert found_in(kept_of(), *journals).found == 3


def test_reads_and_refused_calls_are_no_acknowledged_writes() -> None:
    refused = called(4, 95, error="EEXIST")
    shown = found_in(kept_of(before=(*BEFORE, refused)), *written(1, *SERVERS), *written(4, *SERVERS))
    assert (shown.acknowledged, shown.last_sn) == (1, 1)


def test_calls_that_waited_are_answered_or_given_up() -> None:
    answered = called(5, 5_160, "mds2", 2, took_ms=5_050)
    refused = called(6, 5_170, "mds2", 2, error="EEXIST", took_ms=5_000)
    given_up = called(7, 5_200, "", 0, error="ETIMEDOUT", took_ms=5_000)
    later, elsewhere = called(8, 5_300, "mds2", 2), called(9, 5_160, "mds9", 2, took_ms=5_050)
    shown = found_in(kept_of(answered, refused, given_up, later, elsewhere))
    assert (shown.waited, shown.answered, shown.given_up, shown.longest_ms) == (3, 2, 1, 5_050)


def test_only_the_last_takeovers_are_kept() -> None:
    calls = kept_of()
    assert calls.of("g1", 3) is None and calls.of("g2", 2) is None
