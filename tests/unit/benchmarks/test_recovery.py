import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks._journals import JournalBook
from benchmarks.recovery import TABLE4_S, TABLE5_S, fill, shapes
from nodes.protocols.dcfs2.pending_messages import AGAIN_AT_ONCE, Unanswered
from nodes.real.turn import Turn


async def written(directory: Path, mb: float, undecided: int) -> None:
    turn = Turn(asyncio.get_running_loop())
    mine, other = JournalBook(directory / "1", 1, turn), JournalBook(directory / "2", 2, turn)
    first = fill(mine, other, mb, undecided)
    await mine.close()
    await other.close()
    again = JournalBook(directory / "1", 1, turn).namespace, JournalBook(directory / "2", 2, turn).namespace
    for before, after in zip((mine.namespace, other.namespace), again, strict=True):
        assert before.digest == after.digest == after.recompute_digest()
    assert list(again[0].crossing.begun) == list(range(first, first + undecided))
    assert {key[1] for key in again[1].crossing.voted} == set(again[0].crossing.begun)


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 0.05), st.integers(0, 200))
def test_a_log_is_read_back_as_it_was_written(mb: float, undecided: int) -> None:
    with TemporaryDirectory() as directory:
        asyncio.run(written(Path(directory), mb, undecided))


def test_the_shapes_of_the_paper_s_tables() -> None:
    assert shapes(TABLE4_S, TABLE5_S) == {
        "table4_straightness": 0.9996,
        "table4_50mb_over_10mb": 4.65,
        "table5_10pct_over_1pct": 2.24,
    }


def said(count: int, rounds: int) -> list[list[int]]:
    """Items sent again in each of `rounds` rounds, when `count` items wait."""
    unanswered: Unanswered[int] = Unanswered()
    return [unanswered.due(range(count)) for _ in range(rounds)]


def test_what_is_not_answered_is_said_again_with_a_bounded_back_off() -> None:
    assert [number for number, now in enumerate(said(1, 33), 1) if now] == [2, 4, 8, 16, 24, 32]


def test_what_was_answered_is_not_said_again_and_begins_anew() -> None:
    unanswered: Unanswered[str] = Unanswered()
    assert unanswered.due(["a"]) == []
    assert unanswered.due(["a", "b"]) == ["a"]
    assert unanswered.due(["b"]) == ["b"]
    assert unanswered.due(["a"]) == []


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 1_500))
def test_thousands_are_said_again_less_often_but_in_the_end(count: int) -> None:
    every = 1 + count // AGAIN_AT_ONCE
    now = [number for number, now in enumerate(said(count, 16 * every), 1) if now]
    assert now == [every * turn for turn in (2, 4, 8, 16)]
