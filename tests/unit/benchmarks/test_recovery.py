import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks._journals import Book
from benchmarks.recovery import TABLE4_S, TABLE5_S, fill, shapes
from nodes.protocols.dcfs2.s2pc import AGAIN_AT_ONCE, due
from nodes.real.turn import Turn


async def written(directory: Path, mb: float, undecided: int) -> None:
    turn = Turn(asyncio.get_running_loop())
    mine, other = Book(directory / "1", 1, turn), Book(directory / "2", 2, turn)
    first = fill(mine, other, mb, undecided)
    await mine.close()
    await other.close()
    again = Book(directory / "1", 1, turn).namespace, Book(directory / "2", 2, turn).namespace
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


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 10_000), st.integers(1, 100), max_size=600))
def test_thousands_are_said_again_less_often(waited: dict[int, int]) -> None:
    now = due(waited)
    assert all(waited[key] > 1 for key in now)
    if len(waited) < AGAIN_AT_ONCE:
        assert now == [key for key, rounds in waited.items() if rounds > 1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_500))
def test_whatever_waits_is_said_again_in_the_end(count: int) -> None:
    every = 1 + count // AGAIN_AT_ONCE
    said = [key for rounds in range(2, 2 + every) for key in due(dict.fromkeys(range(count), rounds))]
    assert sorted(said) == list(range(count))
