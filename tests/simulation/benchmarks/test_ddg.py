"""The benchmark of placements at a tiny scale."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks import ddg
from benchmarks._macrobenchmark import MacrobenchmarkRun, ServiceCosts, Setting
from benchmarks._namespaces import NamespaceShape
from nodes.errors import FsError
from nodes.metadata.placement import Granularity

COSTS = ServiceCosts(50_000, 7_700_000, 0)
TINY = NamespaceShape("tiny", [0, 0, 0, 1, 1, 2, 3], [2, 9, 7, 5, 0, 6, 12])
LARGER = NamespaceShape("larger", [0, 0, 0, 1, 1, 2, 3], [20, 90, 70, 50, 0, 60, 120])
"""A shape with several blocks of inodes on each server."""


def run(
    placement: str, cache: int = 1000, costs: ServiceCosts = COSTS, shape: NamespaceShape = TINY
) -> tuple[MacrobenchmarkRun, dict[str, float]]:
    setting = Setting(placement, Granularity(2, 4, 4), groups=3, clients=4, calls=2, cache=cache)
    made = MacrobenchmarkRun(shape, setting, costs, 7)
    return made, msgspec.to_builtins(made.run())


def test_everything_is_made_and_deleted_again() -> None:
    _, outcome = run("ddg")
    assert sum(outcome["objects"]) == TINY.objects + 1  # type: ignore[call-overload]
    assert outcome["reads"]["create"] == outcome["writes"]["delete"] == 0  # type: ignore[index]
    assert outcome["shared"]["create"] == outcome["shared"]["delete"] == outcome["branch_points"]  # type: ignore[index]
    assert outcome["shared"]["stat"] == 0  # type: ignore[index]


def test_placements_differ_as_they_should() -> None:
    points = {placement: run(placement)[1]["branch_points"] for placement in ("subtree", "ddg", "random")}
    assert points["subtree"] < points["ddg"] < points["random"]


def test_a_small_cache_and_slow_messages_cost_virtual_time() -> None:
    fast = run("subtree", shape=LARGER)[1]
    small = run("subtree", cache=32, shape=LARGER)[1]
    slow = run("subtree", costs=ServiceCosts(500_000, 0, 0), shape=LARGER)[1]
    assert small["reads"]["stat"] > 0  # type: ignore[index]
    assert small["per_s"]["stat"] < fast["per_s"]["stat"] / 2  # type: ignore[index]
    assert slow["per_s"]["stat"] < fast["per_s"]["stat"] / 2  # type: ignore[index]


def test_the_same_seed_gives_the_same_figures() -> None:
    assert run("ddg")[1] == run("ddg")[1]


def test_the_figures_of_a_namespace(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for name, few in (("FILES", (16, 2048)), ("DIRECTORIES", (16,)), ("DEPTHS", (1,)), ("SERVERS", (1, 16))):
        monkeypatch.setattr(ddg, name, few)
    reported = ddg.NamespaceRuns([TINY] * 3, ddg.Scale(1, 8), cached=0.5).figures()
    assert set(ddg.FIGURES_ABOVE) <= set(reported)
    assert [point["granularity"] for point in reported["fig6_fig9_file_wid"]] == ["2-16-16", "2-16-2048"]
    assert reported["fig12_servers"][0] == {"servers": 1, "create": 1.0, "stat": 1.0, "delete": 1.0}
    assert len(reported["ddg"]["objects_per_group"]) == 16


def test_a_call_that_fails_ends_the_run() -> None:
    made = MacrobenchmarkRun(TINY, Setting("ddg", groups=2, clients=2), COSTS, 7)
    made.parts[0].append(made.parts[0][-1])
    with pytest.raises(FsError, match="EEXIST"):
        made.run()
