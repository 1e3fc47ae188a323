"""The end of a journal on journal nodes: a group on a majority must be kept, whichever majority answers."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.protocols.baselines.quorum_journal import end_of_journal
from nodes.wire.journal_messages import EpochPromised
from nodes.wire.messages import Mark

FINISHED = Mark(0, 1, 10, 1010)


def mark(writer: int, sn: int) -> Mark:
    return FINISHED if sn == 10 else Mark(0, writer, sn, 1000 * writer + sn)


def reported(writer: int, length: int, accepted: int = 0, finished: int = 10) -> EpochPromised:
    return EpochPromised(9, mark(writer, finished), mark(writer, 10 + length), writer, accepted)


def majorities(nodes: dict[str, EpochPromised]) -> list[dict[str, EpochPromised]]:
    size = len(nodes) // 2 + 1
    return [{name: nodes[name] for name in names} for names in combinations(nodes, size)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 20), min_size=3, max_size=5).filter(lambda lengths: len(lengths) % 2))
def test_what_a_majority_acknowledged_is_kept(lengths: list[int]) -> None:
    nodes = {f"jn{place}": reported(2, length) for place, length in enumerate(lengths)}
    acknowledged = sorted(lengths, reverse=True)[len(lengths) // 2]
    for answered in majorities(nodes):
        last, source = end_of_journal(answered)
        assert last.sn >= 10 + acknowledged
        assert answered[source].last == last


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(3, 8))
def test_the_later_writer_counts_not_the_longer_journal(old: int, new: int, epoch: int) -> None:
    last, source = end_of_journal({"jn1": reported(2, old), "jn2": reported(epoch, new)})
    assert (last, source) == (mark(epoch, 10 + new), "jn2")


def test_what_a_recovery_accepted_counts_like_its_epoch() -> None:
    answers = {"jn1": reported(2, 5, accepted=7), "jn2": reported(3, 9)}
    assert end_of_journal(answers) == (mark(2, 15), "jn1")


def test_what_a_later_epoch_finished_ends_the_open_segment_of_others() -> None:
    whole = EpochPromised(9, mark(2, 14), mark(2, 14), 2, 7)
    assert end_of_journal({"jn1": reported(2, 6), "jn2": whole}) == (mark(2, 14), "jn2")


def test_who_missed_the_end_of_a_segment_goes_on_with_its_writer() -> None:
    whole = EpochPromised(9, mark(2, 14), mark(2, 14), 2, 2)
    assert end_of_journal({"jn1": reported(2, 6), "jn2": whole}) == (mark(2, 16), "jn1")
