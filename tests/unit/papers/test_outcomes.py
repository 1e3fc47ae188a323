"""What `reproduce` keeps is what the page shows; without a run no figure is ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.errors import Malformed, NotThere
from backend.papers.experiments import page_of
from backend.papers.outcomes import BYTES_MAX, outcome_of, plot_of
from backend.places import reproduced
from benchmarks.experiments.command import reproduce

NAME = "cfs-table1"
"""An experiment that takes no time."""


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def kept(text: str) -> None:
    reproduced().mkdir(parents=True)
    (reproduced() / f"{NAME}.json").write_text(text)


def test_without_a_run_the_page_has_the_papers_figures_alone() -> None:
    page = page_of("cfs-fig12")
    assert (page.ran_at_s, page.quick, page.notes) == (0.0, False, [])
    assert [(each.figure, each.theirs, each.ours) for each in page.figures] == [
        ("final_sync_10k_ms", 22.78, None)
    ]
    assert page.command == "./cloverlab reproduce cfs-fig12"
    with pytest.raises(NotThere, match="no plot yet"):
        plot_of("cfs-fig12")


def test_a_run_is_kept_for_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce(NAME, tmp_path / "here", quick=True) == 0
    assert "the page Papers shows it" in capsys.readouterr().err
    page = page_of(NAME)
    outcome = json.loads((tmp_path / "here" / f"{NAME}.json").read_text())
    ours = {each.figure: each.ours for each in page.figures if each.ours is not None}
    theirs = {each.figure: each.theirs for each in page.figures if each.theirs is not None}
    assert page.ran_at_s > 0 and page.quick
    assert ours == outcome["figures"] and theirs == outcome["paper"]
    assert plot_of(NAME) == (tmp_path / "here" / f"{NAME}.svg").read_bytes()


def test_figures_that_the_paper_gives_come_first() -> None:
    kept('{"figures": {"extra": 2, "equation_8": 135602}, "paper": {"equation_8": 135601}}')
    figures = page_of(NAME).figures
    assert figures[-1].figure == "extra" and figures[-1].theirs is None
    assert [each.ours for each in figures if each.figure == "equation_8"] == [135602]


@pytest.mark.parametrize("text", ["", "[]", '{"figures": {"a": "b"}}', "{" * 1000, "\x00"])
def test_a_damaged_outcome_is_reported(text: str) -> None:
    kept(text)
    with pytest.raises(Malformed, match="run it again"):
        outcome_of(NAME)


def test_a_huge_outcome_is_not_read() -> None:
    kept(" " * (BYTES_MAX + 1))
    with pytest.raises(Malformed, match="more than"):
        outcome_of(NAME)


def test_a_run_survives_a_data_directory_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "share").write_text("no directory")
    assert reproduce(NAME, tmp_path / "here", quick=True) == 0
    assert "the page does not show it" in capsys.readouterr().err.replace("\n", " ")
