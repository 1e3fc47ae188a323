"""`bench ddg`, `reproduce ddg-fig6` … `ddg-fig13`: DDG against random and subtree placement by Macrobenchmark1 in virtual time, on
scaled-down versions of the paper's two namespaces (DCFS2 §5.1, Figures 6 to 13)."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks import _macrobenchmark as macrobenchmark
from benchmarks._cluster import report
from benchmarks._macrobenchmark import MacrobenchmarkRun, ServiceCosts, Setting
from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._namespaces import NAMESPACE1, NAMESPACE2, NamespaceKind, NamespaceShape, read_tree, shape_of
from nodes.metadata.placement import Granularity

KINDS = (NAMESPACE1, NAMESPACE2)
DIRECTORIES_BY, SIZES_BY = 16, 8
"""Factors by which directories, and the files of each, are scaled down; `FileWid` is scaled with the latter."""
CACHED = 131_072
"""Inodes in a server's cache at the paper's namespace size (§5.1.3)."""
PAPER = ServiceCosts(message_ns=50_000, access_ns=7_700_000, sync_ns=3_000_000)
"""A disk of 10,000 turns a minute: half a turn for an append to the journal, 4.7 ms more for a seek to a block of inodes."""
FLASH = ServiceCosts(message_ns=50_000, access_ns=100_000, sync_ns=0)
GOOD = Granularity(2, 16, 2048)
"""The paper's choice for Fig. 12, and where the curves cross."""
FILES = (128, 512, 2048, 8192)
DIRECTORIES = (4, 16, 64)
DEPTHS = (1, 2, 4, 6)
SERVERS = (1, 2, 4, 8, 16)
CALLS = 4
SEEDS = (1, 2, 3)
"""Seeds of namespaces and clusters: chance decides which large subtrees share a server. Curves, `best` and `flash` use the first."""
FIGURES_ABOVE = {
    "create_vs_subtree": 1.4,
    "create_vs_random": 1.5,
    "stat_vs_subtree": 3.0,
    "stat_vs_random": 1.1,
}
"""Least figures that the paper reports for good granularities."""

OTHERS = ("subtree", "random")
MADE, LOOKED_AT = ("create", "delete"), ("stat",)
LEAST = {**FIGURES_ABOVE, "delete_vs_subtree": 1.4, "delete_vs_random": 1.5}
"""Lower bounds of what the paper reports for good granularities."""
PAPER_13 = {
    "create_vs_subtree": 1.66,
    "create_vs_random": 1.15,
    "delete_vs_subtree": 1.91,
    "delete_vs_random": 1.24,
    "mix_vs_subtree": 2.0,
    "mix_vs_random": 1.1,
}
VARIED: dict[str, tuple[str, Callable[[Granularity], int]]] = {
    "fig6_fig9_file_wid": ("FileWid", lambda granularity: granularity.files),
    "fig7_fig10_dir_wid": ("DirWid", lambda granularity: granularity.directories),
    "fig8_fig11_dir_dep": ("DirDep", lambda granularity: granularity.depth),
}


class Scale(msgspec.Struct, frozen=True):
    """Factors by which a namespace is smaller than the paper's; 1 for a real tree."""

    directories: int = DIRECTORIES_BY
    sizes: int = SIZES_BY


class NamespaceRuns:
    """All runs on one kind of namespace, each made once; `shapes` belong to the seeds, in order."""

    def __init__(self, shapes: list[NamespaceShape], scale: Scale, cached: float):
        """`cached`: inodes in a server's cache for each object of the namespace."""
        self._shapes = dict(zip(SEEDS, shapes, strict=True))
        self._first = shapes[0]
        self._scale = scale
        self._cache = max(1, round(shapes[0].objects * cached))
        self._made = cache(self._make)

    def run(
        self,
        placement: str,
        granularity: Granularity = GOOD,
        groups: int = 16,
        costs: ServiceCosts = PAPER,
        seed: int = SEEDS[0],
    ) -> macrobenchmark.MacrobenchmarkOutcome:
        """`granularity` in the paper's units."""
        return self._made(placement, granularity, groups, costs, seed)

    def _make(
        self, placement: str, granularity: Granularity, groups: int, costs: ServiceCosts, seed: int
    ) -> macrobenchmark.MacrobenchmarkOutcome:
        shape = self._shapes[seed]
        scaled = msgspec.structs.replace(granularity, files=max(1, granularity.files // self._scale.sizes))
        setting = Setting(placement, scaled, groups, calls=CALLS, cache=self._cache)
        outcome = MacrobenchmarkRun(shape, setting, costs, seed).run()
        gc.collect()
        return outcome

    def figures(self) -> dict[str, Any]:
        """The ratios at the good granularity, then the curves."""
        reported: dict[str, Any] = {
            "files": sum(self._first.files),
            "directories": len(self._first.parents) - 1,
            "largest_home": [round(largest_home(shape), 3) for shape in self._shapes.values()],
            "cached_inodes_per_server": self._cache,
            "granularity": name_of(GOOD),
            **self.medians(),
            "by_seed": [self.ratios(seed=seed) for seed in SEEDS],
            "best": self.best(),
            "flash": self.ratios(costs=FLASH),
            "subtree": reported_of(self.run("subtree")),
            "random": reported_of(self.run("random")),
            "ddg": reported_of(self.run("ddg")),
        }
        for key, granularities in curves().items():
            reported[key] = [self._point(granularity) for granularity in granularities]
        reported["fig12_servers"] = self.speed_ups()
        return reported

    def medians(self) -> dict[str, float]:
        """Medians of the ratios over all seeds."""
        each = [self.ratios(seed=seed) for seed in SEEDS]
        return {key: median(ratios[key] for ratios in each) for key in each[0]}

    def best(self) -> dict[str, Any]:
        """The granularity of the curves by which files and directories are made fastest."""
        tried = [granularity for granularities in curves().values() for granularity in granularities]
        found = max(tried, key=lambda granularity: self.run("ddg", granularity).per_s["create"])
        return {"granularity": name_of(found), **self.ratios(found)}

    def ratios(
        self, granularity: Granularity = GOOD, costs: ServiceCosts = PAPER, seed: int = SEEDS[0]
    ) -> dict[str, float]:
        """Ratios of DDG's throughput to that of the others."""
        good = self.run("ddg", granularity, costs=costs, seed=seed)
        others = {other: self.run(other, costs=costs, seed=seed) for other in ("subtree", "random")}
        return {
            f"{phase}_vs_{other}": round(good.per_s[phase] / outcome.per_s[phase], 2)
            for other, outcome in others.items()
            for phase in good.per_s
        }

    def _point(self, granularity: Granularity) -> dict[str, Any]:
        """Ratio of the throughput to that of subtree, as in the paper's figures."""
        outcome, base = self.run("ddg", granularity), self.run("subtree")
        return {
            "granularity": name_of(granularity),
            **{phase: round(rate / base.per_s[phase], 2) for phase, rate in outcome.per_s.items()},
            "per_s": {phase: round(rate) for phase, rate in outcome.per_s.items()},
            "branch_points": outcome.branch_points,
            "evenness": round(outcome.evenness, 3),
        }

    def speed_ups(self) -> list[dict[str, Any]]:
        """Speed-ups of the good granularity over one server."""
        alone = self.run("ddg", groups=SERVERS[0])
        points = []
        for servers in SERVERS:
            outcome = self.run("ddg", groups=servers)
            speed_up = {phase: round(outcome.per_s[phase] / alone.per_s[phase], 2) for phase in alone.per_s}
            points.append({"servers": servers, **speed_up})
        return points


def curves() -> dict[str, list[Granularity]]:
    """Curves in which one value of the good granularity varies (Figures 6 and 9, 7 and 10, 8 and 11)."""
    change = msgspec.structs.replace
    return {
        "fig6_fig9_file_wid": [change(GOOD, files=files) for files in FILES],
        "fig7_fig10_dir_wid": [change(GOOD, directories=directories) for directories in DIRECTORIES],
        "fig8_fig11_dir_dep": [change(GOOD, depth=depth) for depth in DEPTHS],
    }


def reported_of(outcome: macrobenchmark.MacrobenchmarkOutcome) -> dict[str, Any]:
    return {
        "per_s": {phase: round(rate) for phase, rate in outcome.per_s.items()},
        "objects_per_group": outcome.objects,
        "evenness": round(outcome.evenness, 3),
        "branch_points": outcome.branch_points,
        "operations_on_several_groups": outcome.shared,
        "inode_reads": outcome.reads,
        "inode_writes": outcome.writes,
    }


def objects_of(kind: NamespaceKind) -> int:
    return kind.directories + kind.files


def name_of(granularity: Granularity) -> str:
    return f"{granularity.depth}-{granularity.directories}-{granularity.files}"


def largest_home(shape: NamespaceShape) -> float:
    """Share of all objects in the largest subtree of the root, which no subtree placement can divide."""
    home = list(range(len(shape.parents)))
    objects: Counter[int] = Counter()
    for number, parent in enumerate(shape.parents):
        if number:
            home[number] = home[parent] if parent else number
            objects[home[number]] += 1 + shape.files[number]
    return max(objects.values(), default=0) / shape.objects


def comparisons(quick: bool) -> dict[str, NamespaceRuns]:
    """Comparisons by the name of the namespace, with the first seed only."""
    found = {}
    for kind in KINDS[:1] if quick else KINDS:
        shape = shape_of(kind, DIRECTORIES_BY, SIZES_BY, SEEDS[0])
        found[kind.name] = NamespaceRuns([shape] * len(SEEDS), Scale(), CACHED / objects_of(kind))
    return found


def config_of(scale: Scale) -> dict[str, Any]:
    return {
        "groups": 16,
        "clients": 32,
        "calls_at_once_per_client": CALLS,
        "directories_scaled_by": scale.directories,
        "files_per_directory_and_file_wid_scaled_by": scale.sizes,
        "costs_ns": msgspec.to_builtins(PAPER),
    }


def config() -> dict[str, Any]:
    return {"fabric": "simulated", **config_of(Scale()), "seed": SEEDS[0]}


def run_of(curve: str, phases: tuple[str, ...]) -> Callable[[bool], ExperimentOutcome]:
    """Varies one setting of DDG; the figures are those of the value with the fastest first phase."""

    def run(quick: bool) -> ExperimentOutcome:
        title, value_of = VARIED[curve]
        granularities = curves()[curve][1:3] if quick else curves()[curve]
        series: dict[str, list[Point]] = {}
        figures: dict[str, float] = {}
        for name, compared in comparisons(quick).items():
            by = {granularity: compared.run("ddg", granularity).per_s for granularity in granularities}
            others = {other: compared.run(other).per_s for other in OTHERS}
            best = max(granularities, key=lambda granularity: by[granularity][phases[0]])
            for phase in phases:
                base = others["subtree"][phase]
                series[f"{name}, {phase}, DDG"] = [
                    (float(value_of(g)), by[g][phase] / base) for g in granularities
                ]
                series[f"{name}, {phase}, random"] = [
                    (float(value_of(g)), others["random"][phase] / base) for g in granularities
                ]
                figures |= {
                    f"{phase}_vs_{other}_{name}": round(by[best][phase] / others[other][phase], 2)
                    for other in OTHERS
                }
            figures[f"best_{title.lower()}_{name}"] = float(value_of(best))
        paper = {key: LEAST[key.rpartition("_")[0]] for key in figures if not key.startswith("best")}
        chart = Chart(f"Throughput over {title}", title, "over subtree placement", series, logarithmic=True)
        return ExperimentOutcome(config(), figures, paper, chart, [NOTE])

    return run


def speed_up(quick: bool) -> ExperimentOutcome:
    """Speed-up of 2-16-2048 over one server."""
    series: dict[str, list[Point]] = {}
    figures: dict[str, float] = {}
    servers = SERVERS[:2] if quick else SERVERS
    for name, compared in comparisons(quick).items():
        alone = compared.run("ddg", groups=1).per_s
        for phase in (*MADE, *LOOKED_AT):
            points = [(float(n), compared.run("ddg", groups=n).per_s[phase] / alone[phase]) for n in servers]
            series[f"{name}, {phase}"] = points
            figures[f"{phase}_speed_up_{servers[-1]}_{name}"] = round(points[-1][1], 2)
    chart = Chart("ddg-2-16-2048", "servers", "speed-up", series)
    return ExperimentOutcome(config(), figures, {}, chart, [])


CALLS_13 = 16
"""Open calls of each of eight client nodes: in sum the client processes of Fig. 12."""
CACHED_13 = 163_840
"""Inodes in a server's cache; the paper gives 800 MB, at 5 KB for an inode and its dentries."""


def real_system(quick: bool) -> ExperimentOutcome:
    """Six servers with 4-8-128; the mix has as many calls as there are objects."""
    directories, sizes = (64, 16) if quick else (DIRECTORIES_BY, SIZES_BY)
    shape = shape_of(NAMESPACE1, directories, sizes, SEEDS[0])
    cache = round(shape.objects * CACHED_13 / objects_of(NAMESPACE1))
    rates: dict[str, dict[str, float]] = {}
    for policy in ("ddg", *OTHERS):
        setting = Setting(policy, Granularity(4, 8, 128 // sizes), 6, 8, CALLS_13, cache)
        made = MacrobenchmarkRun(shape, setting, PAPER, SEEDS[0]).run()
        mixed = MacrobenchmarkRun(shape, setting, PAPER, SEEDS[0]).mixed(shape.objects // 8, SEEDS[0])
        rates[policy] = {**{phase: made.per_s[phase] for phase in MADE}, "mix": mixed}
    phases = (*MADE, "mix")
    figures = {
        f"{phase}_vs_{other}": round(rates["ddg"][phase] / rates[other][phase], 2)
        for phase in phases
        for other in OTHERS
    }
    bars: dict[str, list[Point]] = {
        policy: [(float(place), by[phase] / rates["subtree"][phase]) for place, phase in enumerate(phases)]
        for policy, by in rates.items()
    }
    chart = Chart(
        "Six servers, namespace1", "macrobenchmark", "over subtree placement", bars, "bars", list(phases)
    )
    reported = {
        **config(),
        "groups": 6,
        "clients": 8,
        "calls_at_once_per_client": CALLS_13,
        "granularity": "4-8-128",
    }
    return ExperimentOutcome(reported, figures, PAPER_13, chart, [NOTE_13])


NOTE_13 = (
    "mix: Macrobenchmark2 without its reads and writes of data, which ask no metadata server; the paper's rates include them. "
    "Six caches hold the namespace if it is spread evenly, and one does not hold subtree's largest share. "
    "Were everything in every cache, subtree would make files 1.1 to 1.7 times as fast, for want of operations on two servers."
)
NOTE = (
    "Figures are of the best value on the curve; beside them the least that the paper says of good granularities: create and delete 1.4 to 7 times "
    "subtree and 1.5 to 63 times random, stat 3 to 24 and 1.1 to 1.5. One seed of each namespace: `bench ddg` has the medians of three."
)


def main(tree: str = "") -> int:
    """Prints one JSON object. With a directory, its tree is the only namespace."""
    gc.set_threshold(200_000, 50, 1000)
    scale = Scale(1, 1) if tree else Scale()
    figures: dict[str, Any] = {}
    if tree:
        shape = read_tree(Path(tree))
        figures["tree"] = NamespaceRuns(
            [shape] * len(SEEDS), scale, CACHED / objects_of(NAMESPACE1)
        ).figures()
    else:
        for kind in KINDS:
            shapes = [shape_of(kind, scale.directories, scale.sizes, seed) for seed in SEEDS]
            figures[kind.name] = NamespaceRuns(shapes, scale, CACHED / objects_of(kind)).figures()
    flash = msgspec.to_builtins(FLASH)
    config = {**config_of(scale), "standbys": 0, "seeds": SEEDS, "flash_costs_ns": flash}
    return report("ddg", config, figures, FIGURES_ABOVE)


EXPERIMENTS = [
    *(
        Experiment(f"ddg-fig{number}", f"DCFS2 §5.1, Fig. {number}", f"{what} over {VARIED[curve][0]}", run_of(curve, phases))
        for what, phases, first in (("create and delete", MADE, 6), ("stat", LOOKED_AT, 9))
        for number, curve in enumerate(VARIED, first)
    ),
    Experiment("ddg-fig12", "DCFS2 §5.1, Fig. 12", "speed-up over the number of servers", speed_up),
    Experiment("ddg-fig13", "DCFS2 §5.1.5, Fig. 13", "both macrobenchmarks on six servers", real_system),
]  # fmt: skip
