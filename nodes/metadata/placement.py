"""The home group of a new object under a parent (docs/groups.md; DCFS2 §3). Pure: four policies answer one question.

A choice that depends on chance or turn is recorded with the operation, so that replicas need not choose again.
"""

from __future__ import annotations

import random
from typing import NamedTuple, Protocol
from zlib import crc32

import msgspec

from nodes.units import ROOT, home_group


class Granularity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`<DirDep, DirWid, FileWid>`: levels, child directories and child files of a distribution unit (DCFS2 §3.2)."""

    depth: int = 2
    directories: int = 16
    files: int = 2048


class Unit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The five values that DDG keeps with a directory (DCFS2 §3.3)."""

    depth: int
    """Depth of the directory in its unit, from 1."""
    dir_group: int
    """Home of the unit of the directory created last under this one."""
    dir_num: int
    file_group: int
    file_num: int


class PlacementChoice(NamedTuple):
    """The home of the new object, and the new values of its parent and, for a directory, of itself."""

    home: int
    parent: Unit | None = None
    child: Unit | None = None


class Placement(Protocol):
    def choose(self, parent: int, unit: Unit | None, name: str, directory: bool) -> PlacementChoice:
        """`parent` is the inode number of the directory that will hold `name`, `unit` its values."""


class ByHash:
    """CFS: files stay with their directory, a directory's home is a hash of its parent and its name, fixed for life."""

    def __init__(self, groups: list[int]):
        self._groups = groups

    def choose(self, parent: int, unit: Unit | None, name: str, directory: bool) -> PlacementChoice:
        if not directory:
            return PlacementChoice(home_group(parent))
        return PlacementChoice(self._groups[crc32(f"{parent}/{name}".encode()) % len(self._groups)])


class RoundRobin:
    """Every object in turn: the most even policy, with the most branch points."""

    def __init__(self, groups: list[int], first: int):
        self._groups = groups
        self._next = first

    def choose(self, parent: int, unit: Unit | None, name: str, directory: bool) -> PlacementChoice:
        self._next = (self._next + 1) % len(self._groups)
        return PlacementChoice(self._groups[self._next])


class Subtree:
    """Children of the root in turn, all objects below them with their parent: hardly a branch point, as uneven as the tree."""

    def __init__(self, groups: list[int], first: int):
        self._turns = RoundRobin(groups, first)

    def choose(self, parent: int, unit: Unit | None, name: str, directory: bool) -> PlacementChoice:
        if parent == ROOT:
            return self._turns.choose(parent, unit, name, directory)
        return PlacementChoice(home_group(parent))


class DynamicDirGrain:
    """DDG, the five cases of DCFS2 Fig. 2.

    A directory's files begin in its own unit, as §3.3 has it, also where Fig. 2 copies `file_mds` of a parent whose files or directories have
    moved on. With the copy, the paper's second namespace would have branch files, of which §5.1.4 counts none. `as_printed` copies it.
    """

    def __init__(
        self, groups: list[int], granularity: Granularity, rng: random.Random, as_printed: bool = False
    ):
        self._groups = groups
        self._granularity = granularity
        self._rng = rng
        self._as_printed = as_printed

    def choose(self, parent: int, unit: Unit | None, name: str, directory: bool) -> PlacementChoice:
        unit = unit or first_unit(home_group(parent))
        return self._directory(unit) if directory else self._file(unit)

    def _file(self, unit: Unit) -> PlacementChoice:
        if unit.file_num + 1 <= self._granularity.files:
            home, number = unit.file_group, unit.file_num + 1
        else:
            home, number = self._rng.choice(self._groups), 1
        return PlacementChoice(home, msgspec.structs.replace(unit, file_group=home, file_num=number))

    def _directory(self, unit: Unit) -> PlacementChoice:
        inside = unit.depth + 1 <= self._granularity.depth
        if inside and unit.dir_num + 1 <= self._granularity.directories:
            home, number = unit.dir_group, unit.dir_num + 1
            child = Unit(unit.depth + 1, home, 0, unit.file_group if self._as_printed else home, 0)
        else:
            home, number = self._rng.choice(self._groups), 1
            child = first_unit(home)
        return PlacementChoice(home, msgspec.structs.replace(unit, dir_group=home, dir_num=number), child)


def first_unit(home: int) -> Unit:
    """The values of a directory that begins a unit. The root is one (depth 1, both groups its home, counts 0)."""
    return Unit(1, home, 0, home, 0)


POLICIES = ("hash", "random", "subtree", "ddg")


def placement(
    policy: str, groups: list[int], granularity: Granularity, rng: random.Random, ddg_as_printed: bool = False
) -> Placement:
    """The policy of this name. Raises KeyError for an unknown one."""
    if policy == "hash":
        return ByHash(groups)
    if policy == "ddg":
        return DynamicDirGrain(groups, granularity, rng, ddg_as_printed)
    in_turn: dict[str, type[RoundRobin] | type[Subtree]] = {"random": RoundRobin, "subtree": Subtree}
    return in_turn[policy](groups, rng.randrange(len(groups)))
