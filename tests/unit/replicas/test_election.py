"""The conclusion of a draw: the journal's end first, the number among equals."""

from __future__ import annotations

import pytest

from nodes.replicas.election import decider, winner
from nodes.replicas.view import Draw


@pytest.mark.parametrize(
    ("draws", "chosen", "by"),
    [
        ({"a": Draw(1, 5, 1, 9), "b": Draw(1, 7, 1, 9)}, "b", "number"),
        ({"a": Draw(1, 5, 1, 9), "b": Draw(1, 7, 1, 8)}, "a", "journal"),
        ({"a": Draw(1, 5, 2, 1), "b": Draw(1, 7, 1, 8)}, "a", "journal"),
        ({"a": Draw(1, 5, 1, 9)}, "a", "alone"),
        ({}, "", "alone"),
    ],
)
def test_what_decides_a_draw(draws: dict[str, Draw], chosen: str, by: str) -> None:
    drawing = ["a", "b"]
    assert (winner(draws, drawing), decider(draws, drawing)) == (chosen, by)
