"""The pure parts of checkpoints: times, names, outcomes, the file of the incarnation, numbers that are never reused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.format_number import stored
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Made, Mkdir, OpenSession
from nodes.metadata.records import IncarnationRecord
from nodes.metadata_server.checkpoints import ledger
from nodes.metadata_server.checkpoints.incarnation import (
    FORMAT,
    JournalOrigin,
    decode,
    encode,
)
from nodes.metadata_server.checkpoints.ledger import Checkpoint, LedgerRefused, checked_name, recoverable
from nodes.metadata_server.checkpoints.time_server import average
from nodes.storage.sealed_file import SealBroken
from nodes.units import INCARNATION_SHIFT, OpId
from nodes.wire.messages import Mark

NUMBERS = st.integers(0, 1 << 40)
MARKS = st.builds(Mark, NUMBERS, NUMBERS, NUMBERS, st.integers(0, (1 << 32) - 1))
ORIGINS = st.builds(JournalOrigin, NUMBERS, st.text(max_size=63), MARKS, NUMBERS, NUMBERS)


@given(st.lists(st.integers(0, 1 << 62), min_size=1, max_size=8))
def test_the_average_lies_between_the_clocks(times: list[int]) -> None:
    assert min(times) <= average(times) <= max(times)


def test_what_was_numbered_behind_the_barrier_is_void_in_the_next_incarnation() -> None:
    first = 3 << 48
    once = ledger.void_ranges([], first + 5, 1)
    assert once == [(first + 5, first + (1 << 32))]
    behind = first + (1 << 32) + 7
    assert ledger.void_ranges(once, behind, 2) == [*once, (behind, first + (2 << 32))]
    assert ledger.void_ranges(once, first + 3, 2) == [(first + 3, first + (2 << 32))]
    assert ledger.void_ranges(once, first + 5, 2) == [(first + 5, first + (2 << 32))]


@given(ORIGINS)
def test_the_file_of_the_incarnation_is_read_back(origin: JournalOrigin) -> None:
    assert decode(encode(origin)) == origin


@given(ORIGINS, st.data())
def test_a_damaged_file_is_reported_in_one_line(origin: JournalOrigin, data: st.DataObject) -> None:
    content = bytearray(encode(origin))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    for damaged in (bytes(content), bytes(content[:place])):
        with pytest.raises(SealBroken) as reported:
            decode(damaged)
        assert "\n" not in str(reported.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_without_a_traceback(data: bytes) -> None:
    with pytest.raises(SealBroken):
        decode(data)


def test_another_format_is_named_with_both_numbers() -> None:
    data = bytearray(encode(JournalOrigin()))
    data[8:10] = stored(FORMAT + 1).to_bytes(2, "little")
    with pytest.raises(SealBroken, match=f"format {FORMAT + 1}.*format {FORMAT}"):
        decode(bytes(data))


@pytest.mark.parametrize("name", ["a", "Monday", "2026-11-21_v1.0", "n" * 63])
def test_names(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "-x", "a/b", "a b", "ä", "a\n", "n" * 64])
def test_no_names(name: str) -> None:
    with pytest.raises(LedgerRefused):
        checked_name(name)


STATES = (ledger.PENDING, ledger.COMPLETE, ledger.VOID, ledger.ASIDE)


@given(st.lists(st.sampled_from(STATES), max_size=6), st.integers(0, 6))
def test_only_a_complete_checkpoint_can_be_recovered_to(states: list[str], place: int) -> None:
    known = [Checkpoint(f"c{n}", n + 1, state, 0, "mds1", {}) for n, state in enumerate(states)]
    allowed = ledger.PENDING not in states and place < len(states) and states[place] == ledger.COMPLETE
    try:
        assert recoverable(f"c{place}", known) is known[place] and allowed
    except LedgerRefused as refused:
        assert not allowed and "\n" not in str(refused)


def made(namespace: Namespace, number: int, name: str) -> int:
    record: Any = namespace.plan(Mkdir(name), OpId("c", number), number, namespace.newest_ns + 1)
    namespace.apply(record)
    assert isinstance(record.result, Made)
    return record.result.inode


@given(st.integers(1, 9), st.integers(1, 9))
def test_a_new_incarnation_gives_no_number_again_and_is_undone_exactly(first: int, further: int) -> None:
    namespace = Namespace()
    namespace.apply(namespace.plan(OpenSession(), OpId("c", 1), 1, 1))  # type: ignore[arg-type]
    old = made(namespace, 2, "/a")
    before = (namespace.digest, namespace.tree.next_number, namespace.tree.moves, namespace.crossing.next_seq)
    undo: list[Any] = []
    for number in (first, first + further):
        namespace.apply(IncarnationRecord(namespace.newest_ns + 1, number), undo)
        assert namespace.digest == namespace.recompute_digest()
        assert namespace.crossing.is_over((2, (number << INCARNATION_SHIFT) - 1))
        assert not namespace.crossing.is_over((2, number << INCARNATION_SHIFT))
    while undo:
        namespace.undo(undo.pop())
    tree = namespace.tree
    assert before == (namespace.digest, tree.next_number, tree.moves, namespace.crossing.next_seq)
    namespace.apply(IncarnationRecord(namespace.newest_ns + 1, first))
    assert made(namespace, 3, "/b") > old
