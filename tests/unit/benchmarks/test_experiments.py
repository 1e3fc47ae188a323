"""`reproduce` without the work of an experiment: names, the plot, printed output and files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from backend.cli import entry
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from benchmarks.experiments import command
from benchmarks.experiments.charts import svg
from benchmarks.experiments.registry import MODULES, experiment_named

CURVES = Chart(
    "Curves", "members", "ms", {"fast": [(2, 0.25), (4, 0.3)], "plain": [(2, 250.0)]}, "curves", True
)
BARS = Chart("Bars", "records", "share", {"ours": [(0, 0.25), (1, 0.75)], "the paper's": [(1, 1.0)]}, "bars")


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))


def drawn(chart: Chart) -> str:
    ElementTree.fromstring(svg("x", chart))
    return svg("x", chart)


def test_every_experiment_has_its_name_and_a_line_in_the_docs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reproduce.md").read_text()
    for name in MODULES:
        experiment = experiment_named(name)
        assert experiment.name == name and f"`{name}`" in page


def test_a_plot_is_the_same_for_the_same_figures_and_fetches_nothing() -> None:
    for chart in (CURVES, BARS):
        assert drawn(chart) == drawn(chart)
        assert chart.title in drawn(chart) and all(
            label in drawn(chart).replace("&#39;", "'") for label in chart.series
        )
        assert not re.search(r"(href|src)=.https?:", drawn(chart))


def test_the_whole_legend_of_a_plot_is_in_the_picture() -> None:
    many = msgspec.structs.replace(CURVES, series={f"series {number}": [(1, 2.0)] for number in range(9)})
    for chart in (CURVES, BARS, many):
        drawing = drawn(chart)
        [height] = re.findall(r'viewBox="0 0 \d+ (\d+)"', drawing)
        [top] = re.findall(r'translate\([\d.]+, ([\d.]+)\)" class="legends"', drawing)
        legend = drawing[drawing.index('class="legends"') :]
        last = max(float(y) for y in re.findall(r'<rect x="[\d.]+" y="([\d.]+)" width="12"', legend))
        assert float(top) + last + 12 <= float(height), chart.title


def test_figures_stand_beside_the_papers_and_are_kept_with_the_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = ExperimentOutcome({"servers": 3}, {"gap_ms": 7.5}, {"gap_ms": 9.0}, CURVES, ["Said."])
    made = Experiment("toy", "a paper of nobody", "nothing", lambda quick: outcome)
    monkeypatch.setattr(command, "experiment_named", lambda name: made)
    into = tmp_path / "made" / "here"
    assert entry(["reproduce", "toy", "--to", str(into), "--quick"]) == 0
    out, err = capsys.readouterr()
    reported = json.loads(out)
    assert (reported["figures"], reported["paper"]) == ({"gap_ms": 7.5}, {"gap_ms": 9.0})
    assert reported["config"] == {"servers": 3, "quick": True} and set(reported["machine"]) == {
        "cores",
        "memory_gib",
        "python",
    }
    assert re.search(r"gap_ms.*7\.5.*9", err) and "Said." in err
    kept = json.loads((into / "toy.json").read_text())
    assert kept["figures"] == reported["figures"] and kept["curves"]["fast"] == [[2, 0.25], [4, 0.3]]
    assert (into / "toy.svg").read_text() == svg("toy", CURVES)
