"""DDG against random and subtree placement by Macrobenchmark1 in virtual time (DCFS2 §5.1, Figures 6 to 12)."""

from __future__ import annotations

import gc
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks._macrobenchmark import Costs, Outcome, Run, Setting
from benchmarks._namespaces import NAMESPACE1, NAMESPACE2, Kind, Shape, read_tree, shape_of
from benchmarks.running import report
from nodes.metadata.placement import Granularity

KINDS = (NAMESPACE1, NAMESPACE2)
DIRECTORIES_BY, SIZES_BY = 16, 8
"""Factors by which directories, and the files of each, are scaled down; `FileWid` is scaled with the latter."""
CACHED = 131_072
"""Inodes in a server's cache at the paper's namespace size (§5.1.3)."""
PAPER = Costs(message_ns=50_000, access_ns=7_700_000, sync_ns=3_000_000)
"""A disk of 10,000 turns a minute: half a turn for an append to the journal, 4.7 ms more for a seek to a block of inodes."""
FLASH = Costs(message_ns=50_000, access_ns=100_000, sync_ns=0)
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


class Scale(msgspec.Struct, frozen=True):
    """Factors by which a namespace is smaller than the paper's; 1 for a real tree."""

    directories: int = DIRECTORIES_BY
    sizes: int = SIZES_BY


class Comparison:
    """All runs on one kind of namespace, each made once; `shapes` belong to the seeds, in order."""

    def __init__(self, shapes: list[Shape], scale: Scale, cached: float):
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
        costs: Costs = PAPER,
        seed: int = SEEDS[0],
    ) -> Outcome:
        """`granularity` in the paper's units."""
        return self._made(placement, granularity, groups, costs, seed)

    def _make(
        self, placement: str, granularity: Granularity, groups: int, costs: Costs, seed: int
    ) -> Outcome:
        shape = self._shapes[seed]
        scaled = msgspec.structs.replace(granularity, files=max(1, granularity.files // self._scale.sizes))
        setting = Setting(placement, scaled, groups, calls=CALLS, cache=self._cache)
        outcome = Run(shape, setting, costs, seed).run()
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
        self, granularity: Granularity = GOOD, costs: Costs = PAPER, seed: int = SEEDS[0]
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


def reported_of(outcome: Outcome) -> dict[str, Any]:
    return {
        "per_s": {phase: round(rate) for phase, rate in outcome.per_s.items()},
        "objects_per_group": outcome.objects,
        "evenness": round(outcome.evenness, 3),
        "branch_points": outcome.branch_points,
        "operations_on_several_groups": outcome.shared,
        "inode_reads": outcome.reads,
        "inode_writes": outcome.writes,
    }


def objects_of(kind: Kind) -> int:
    return kind.directories + kind.files


def name_of(granularity: Granularity) -> str:
    return f"{granularity.depth}-{granularity.directories}-{granularity.files}"


def largest_home(shape: Shape) -> float:
    """Share of all objects in the largest subtree of the root, which no subtree placement can divide."""
    home = list(range(len(shape.parents)))
    objects: Counter[int] = Counter()
    for number, parent in enumerate(shape.parents):
        if number:
            home[number] = home[parent] if parent else number
            objects[home[number]] += 1 + shape.files[number]
    return max(objects.values(), default=0) / shape.objects


def main(tree: str = "") -> int:
    """Prints one JSON object. With a directory, its tree is the only namespace."""
    gc.set_threshold(200_000, 50, 1000)
    scale = Scale(1, 1) if tree else Scale()
    figures: dict[str, Any] = {}
    if tree:
        shape = read_tree(Path(tree))
        figures["tree"] = Comparison([shape] * len(SEEDS), scale, CACHED / objects_of(NAMESPACE1)).figures()
    else:
        for kind in KINDS:
            shapes = [shape_of(kind, scale.directories, scale.sizes, seed) for seed in SEEDS]
            figures[kind.name] = Comparison(shapes, scale, CACHED / objects_of(kind)).figures()
    config = {
        "groups": 16,
        "standbys": 0,
        "clients": 32,
        "calls_at_once_per_client": CALLS,
        "directories_scaled_by": scale.directories,
        "files_per_directory_and_file_wid_scaled_by": scale.sizes,
        "seeds": SEEDS,
        "costs_ns": msgspec.to_builtins(PAPER),
        "flash_costs_ns": msgspec.to_builtins(FLASH),
    }
    return report("ddg", config, figures, FIGURES_ABOVE)
