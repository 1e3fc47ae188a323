from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.cli import entry
from backend.errors import Malformed
from benchmarks._caches import INODES_PER_BLOCK, InodeCache
from benchmarks._macrobenchmark import items, parts
from benchmarks._namespaces import (
    MANY_CHILDREN,
    NAMESPACE1,
    NAMESPACE2,
    NamespaceShape,
    fitted,
    hierarchy,
    read_tree,
    shape_of,
)
from benchmarks.ddg import CACHED, largest_home, objects_of
from nodes.units import DIRECTORY

KINDS = st.sampled_from([NAMESPACE1, NAMESPACE2])


def levels(shape: NamespaceShape) -> list[int]:
    """Number of directories on each level below the root."""
    level = [0]
    for parent in shape.parents[1:]:
        level.append(level[parent] + 1)
    counted = Counter(level[1:])
    return [counted[depth] for depth in range(1, max(counted) + 1)]


@pytest.mark.parametrize("kind", [NAMESPACE1, NAMESPACE2])
def test_the_full_size_is_the_paper_s(kind: object) -> None:
    shape = shape_of(kind, 1, 1, 1)  # type: ignore[arg-type]
    assert (len(shape.parents) - 1, sum(shape.files)) == (kind.directories, kind.files)  # type: ignore[attr-defined]


@settings(max_examples=20, deadline=None)
@given(KINDS, st.integers(4, 32), st.sampled_from([1, 2, 4, 8]), st.integers(0, 1000))
def test_a_smaller_one_has_the_paper_s_proportions(
    kind, directories_by: int, sizes_by: int, seed: int
) -> None:  # type: ignore[no-untyped-def]
    shape = shape_of(kind, directories_by, sizes_by, seed)
    directories, files = kind.directories // directories_by, kind.files // (directories_by * sizes_by)
    assert len(shape.parents) - 1 == directories
    assert sum(shape.files) == files
    assert all(0 <= parent < number for number, parent in enumerate(shape.parents) if number)
    counted = levels(shape)
    assert max(sum(counted[at : at + 5]) for at in range(len(counted))) > 0.7 * directories
    wide = sum(children >= MANY_CHILDREN for children in Counter(shape.parents[1:]).values())
    assert wide <= 0.08 * directories + 1
    assert sum(count <= -(-32 // sizes_by) for count in shape.files[1:]) > 0.86 * directories
    assert shape == shape_of(kind, directories_by, sizes_by, seed)


@given(st.integers(1, 3000), st.integers(0, 1000))
def test_every_directory_comes_after_its_parent(directories: int, seed: int) -> None:
    parents = hierarchy(directories, Random(seed))
    assert len(parents) == directories + 1
    assert all(parent < number for number, parent in enumerate(parents) if number)


@given(st.lists(st.integers(2, 9), min_size=1, max_size=50), st.floats(0, 1), st.integers(0, 100))
def test_sizes_come_to_the_total_within_their_bounds(values: list[int], share: float, seed: int) -> None:
    total = round(len(values) * (2 + share * 7))
    found = fitted(values, 2, 9, total, Random(seed))
    assert sum(found) == total and len(found) == len(values) and 2 <= min(found) <= max(found) <= 9


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 1000))
def test_the_parts_are_the_whole_and_disjoint(directories: int, clients: int, seed: int) -> None:
    rng = Random(seed)
    shape = NamespaceShape(
        "tiny", hierarchy(directories, rng), [rng.randrange(4) for _ in range(directories + 1)]
    )
    work = items(shape)
    split = parts(work, clients)
    assert len(split) == clients and len({item.path for item in work}) == len(work) == shape.objects
    assert sorted(item.path for part in split for item in part) == sorted(item.path for item in work)
    assert max(map(len, split)) - min(map(len, split)) <= 1


@given(st.integers(1, 8), st.lists(st.tuples(st.booleans(), st.integers(0, 12 * 32)), max_size=200))
def test_the_cache_forgets_what_was_unused_longest(capacity: int, steps: list[tuple[bool, int]]) -> None:
    cache, model, reads, writes = InodeCache(capacity * INODES_PER_BLOCK), dict[int, bool](), 0, 0
    on_disk: set[int] = set()
    for changed, number in steps:
        block = number // INODES_PER_BLOCK
        reads += block not in model and block in on_disk
        model[block] = model.pop(block, False) or changed
        for oldest in list(model)[:-capacity]:
            if model.pop(oldest):
                writes += 1
                on_disk.add(oldest)
        (cache.change if changed else cache.touch)(number)
    assert (cache.reads, cache.writes) == (reads, writes)
    assert cache.news() == reads + writes and cache.news() == 0


def test_what_was_read_in_the_order_of_its_making_shares_the_reads_of_its_blocks() -> None:
    cache = InodeCache(64)
    for number in range(320):
        cache.change(number | DIRECTORY if number % 3 else number)
    assert (cache.reads, cache.writes) == (0, 8)
    for number in range(320):
        cache.touch(number)
    assert (cache.reads, cache.writes) == (10, 10)


@settings(max_examples=20, deadline=None)
@given(KINDS, st.integers(8, 32), st.integers(0, 1000))
def test_the_busiest_subtree_is_larger_than_a_server_s_cache(kind, directories_by: int, seed: int) -> None:  # type: ignore[no-untyped-def]
    shape = shape_of(kind, directories_by, 8, seed)
    assert largest_home(shape) > CACHED / objects_of(kind)


def test_a_real_tree_is_read(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f").touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    assert read_tree(tmp_path) == NamespaceShape("tree", [0, 0, 1], [1, 1, 0])
    with pytest.raises(Malformed, match="more than 2"):
        read_tree(tmp_path, 2)
    with pytest.raises(Malformed, match="is empty"):
        read_tree(tmp_path / "a" / "b")


@pytest.mark.parametrize(
    ("arguments", "says"), [(["ddg", "/no/such"], "not a directory"), (["ddg", "a", "b"], "too many")]
)
def test_wrong_input_gets_one_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(["bench", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
