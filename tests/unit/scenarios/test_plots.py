"""Drawings of a report."""

from backend.scenarios.plots import apart


def test_numbers_of_steps_that_are_close_do_not_cover_each_other() -> None:
    assert apart([10.0, 200.0, 205.0, 206.0, 400.0]) == [10.0, 200.0, 216.0, 232.0, 400.0]
