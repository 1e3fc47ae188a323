"""The shapes of the two namespaces of DCFS2 §5.1.1, generated from a seed and scaled down by known factors, or read from a directory tree.

A shape has no names: directory 0 is the root, and the parent of every other directory has a smaller number.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

from backend.errors import Malformed

HOMES = 64
"""Unscaled number of directories in the root; the paper gives none. Zipf's law among them puts about a third of all objects on the busiest
server of a subtree placement. That is far more than its cache holds, as the paper says of both namespaces (§5.1.3)."""
LEVELS = (4, 10, 18, 22, 18, 12, 7, 4, 2.5, 1, 0.5)
"""Weights of the levels below the homes: 70 % of all directories are in four consecutive levels (DCFS2 Fig. 5a shows no numbers)."""
TAIL = 1.5
"""Exponent of the Pareto distribution that weights parents when child directories are drawn."""
MANY_CHILDREN = 5
FEW_SHARE = 0.92
"""Share of the directories that have fewer than `MANY_CHILDREN` child directories."""
OBJECTS_MAX = 200_000


class Sizes(msgspec.Struct, frozen=True):
    """One class of directories: its share of all directories and of all files. Each of them holds `low` to `high` files."""

    directories: float
    low: int
    high: int
    files: float


class NamespaceKind(msgspec.Struct, frozen=True):
    """The paper's data on one of its namespaces. The last entry of `sizes` gets the remaining directories and files."""

    name: str
    directories: int
    files: int
    largest: float
    """Share of all files that lies in one directory."""
    sizes: tuple[Sizes, ...]


class NamespaceShape(msgspec.Struct, frozen=True):
    """A namespace without names."""

    name: str
    parents: list[int]
    """Parent of every directory; the root's is 0."""
    files: list[int]
    """Child files of every directory."""

    @property
    def objects(self) -> int:
        """Directories and files, without the root."""
        return len(self.parents) - 1 + sum(self.files)


NAMESPACE1 = NamespaceKind(
    "namespace1", 25_864, 698_320, 0.0655,
    (Sizes(0.0016, 512, 4_095, 0.06), Sizes(0.1284, 33, 511, 0.63), Sizes(0, 0, 32, 0)),
)  # fmt: skip
"""93.45 % of the files in directories of less than 4096; 42,000 branch files where `FileWid` is 2048, so the rest is in one directory."""
NAMESPACE2 = NamespaceKind(
    "namespace2", 34_721, 1_010_000, 0.0,
    (Sizes(0.0031, 512, 2_048, 0.1075), Sizes(0.1269, 33, 511, 0.65), Sizes(0, 0, 32, 0)),
)  # fmt: skip
"""89.25 % of the files in directories of less than 512, none in one of more than 2048."""


def shape_of(kind: NamespaceKind, directories_by: int, sizes_by: int, seed: int) -> NamespaceShape:
    """A shape with 1/`directories_by` of the directories, each with 1/`sizes_by` of its files."""
    rng = random.Random(f"{seed}/{kind.name}")
    directories = max(2, kind.directories // directories_by)
    files = kind.files // (directories_by * sizes_by)
    parents = hierarchy(directories, rng)
    return NamespaceShape(kind.name, parents, child_files(kind, directories, files, sizes_by, rng))


def hierarchy(directories: int, rng: random.Random) -> list[int]:
    """The parents of the root and of `directories` directories below it, level by level.

    Each level is shared among the directories in the root by Zipf's law: the second has half as much below it as the first, the third a third.
    Within one, parents are drawn from the level above by a weight with a long tail; at most 8 % of all come to more than four child directories.
    """
    parents, wide_left = [0], int(directories * (1 - FEW_SHARE))
    homes = min(HOMES, directories)
    order = rng.sample(range(1, homes + 1), homes)
    above = [[home] for home in order]
    """Directories of the level above, by directory in the root; the one with the most descendants comes first."""
    parents += [0] * homes
    for count in shares(LEVELS, directories - homes):
        zipf = tuple(1 / rank if level else 0.0 for rank, level in enumerate(above, 1))
        for place, below in enumerate(shares(zipf, count) if count else []):
            drawn, wide_left = (
                children(len(above[place]), below, wide_left, rng) if below else ([], wide_left)
            )
            first = len(parents)
            parents += [above[place][parent] for parent in drawn]
            if count:
                above[place] = list(range(first, len(parents)))
    return parents


def children(above: int, count: int, wide_left: int, rng: random.Random) -> tuple[list[int], int]:
    """Parents of `count` directories, in order, drawn from `above` candidates; and the number of wide directories that remain."""
    held = [0] * above
    weights = list(itertools.accumulate(rng.paretovariate(TAIL) for _ in range(above)))
    while sum(held) < count:
        place = rng.choices(range(above), cum_weights=weights)[0]
        if held[place] == MANY_CHILDREN - 1:
            if not wide_left:
                place = held.index(min(held))
            if held[place] == MANY_CHILDREN - 1:
                wide_left -= 1
        held[place] += 1
    return [place for place in range(above) for _ in range(held[place])], max(0, wide_left)


def shares(weights: tuple[float, ...], total: int) -> list[int]:
    """Whole numbers in proportion to the weights, with the sum `total`. The largest weight gets the rounding error."""
    whole = sum(weights)
    parts = [int(total * weight / whole) for weight in weights]
    parts[weights.index(max(weights))] += total - sum(parts)
    return parts


def child_files(
    kind: NamespaceKind, directories: int, files: int, sizes_by: int, rng: random.Random
) -> list[int]:
    """Numbers of files in the root (none) and in every directory; their sum is `files`."""
    found = [round(files * kind.largest)] if kind.largest else []
    for size in kind.sizes[:-1]:
        count = round(directories * size.directories)
        low, high = -(-size.low // sizes_by), -(-size.high // sizes_by)
        total = min(max(round(files * size.files), count * low), count * high)
        drawn = [round(low * (high / low) ** rng.random()) for _ in range(count)]
        found += fitted(drawn, low, high, total, rng)
    count, high = directories - len(found), -(-kind.sizes[-1].high // sizes_by)
    drawn = [int((high + 1) * rng.random() ** 3) for _ in range(count)]
    found += fitted(drawn, 0, high, min(max(0, files - sum(found)), count * high), rng)
    rng.shuffle(found)
    return [0, *found]


def fitted(values: list[int], low: int, high: int, total: int, rng: random.Random) -> list[int]:
    """The values within the bounds, changed in steps of one until their sum is `total`."""
    values, lacks = list(values), total - sum(values)
    step = 1 if lacks > 0 else -1
    while lacks:
        place = rng.randrange(len(values))
        if low <= values[place] + step <= high:
            values[place] += step
            lacks -= step
    return values


def read_tree(path: Path, objects_max: int = OBJECTS_MAX) -> NamespaceShape:
    """The shape of a real directory tree; links are files. Raises Malformed."""
    if not path.is_dir():
        raise Malformed(f"{str(path)[:200]!r} is not a directory")
    waiting, parents, files, objects = [(0, str(path))], [0], [0], 0
    while waiting:
        place, at = waiting.pop()
        for is_directory, below in entries(at):
            objects += 1
            if objects > objects_max:
                raise Malformed(f"{str(path)[:200]!r} holds more than {objects_max} files and directories")
            if is_directory:
                waiting.append((len(parents), below))
                parents.append(place)
                files.append(0)
            else:
                files[place] += 1
    if not objects:
        raise Malformed(f"{str(path)[:200]!r} is empty")
    return NamespaceShape("tree", parents, files)


def entries(at: str) -> Iterator[tuple[bool, str]]:
    """Kind (true for a directory) and path of every entry of a directory; an unreadable directory has none."""
    try:
        with os.scandir(at) as found:
            for entry in found:
                yield entry.is_dir(follow_symlinks=False), entry.path
    except OSError:
        return
