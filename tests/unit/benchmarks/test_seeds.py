import pytest

from backend.errors import Malformed
from benchmarks import seeds
from nodes.families import FAMILIES


def test_every_family_that_must_lose_nothing_is_played() -> None:
    assert {*FAMILIES, "mams/s2pc_mp", "mams/two_phase"} - {*seeds.names()} == {*seeds.LOSES}


@pytest.mark.parametrize("asked", [("many",), ("5..",), ("0",), ("9..3",), ("3", "mams,raft")])
def test_what_is_asked_wrongly_is_refused_in_one_line(asked: tuple[str, ...]) -> None:
    with pytest.raises(Malformed, match=r"1000 or 1\.\.1000"):
        seeds.main(*asked)


def test_a_family_that_loses_is_found() -> None:
    """The check of the count itself: with an unsafe family not every seed is clean."""
    assert any(seeds.play("backupnode", seed) for seed in range(40))
