"""On the page no hint names a command line."""

from __future__ import annotations

import pytest

from backend.attempts.words import on_page
from backend.labs.reader import lab_of, names


def test_a_command_becomes_an_act_in_the_picture() -> None:
    hint = "./cloverlab lab do why-wait pause 'active of g1' --at 10s --for 2s"
    where = "In the picture or the command palette: "
    assert on_page(hint) == f"{where}pause “active of g1” at 10s of the run and end it after 2s"
    assert on_page("What must an active prove?") == "What must an active prove?"


@pytest.mark.parametrize("name", names())
def test_no_hint_of_a_lab_names_an_option(name: str) -> None:
    for step in lab_of(name, "ada").file.steps:
        for hint in step.hints:
            assert "--" not in on_page(hint) and "lab do" not in on_page(hint), hint
