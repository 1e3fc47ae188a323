"""Placement: DDG's five cases as in DCFS2 Fig. 2, and the guarantees of the others."""

from __future__ import annotations

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from nodes.metadata.placement import POLICIES, DynamicDirGrain, Granularity, Unit, first_unit, placement
from nodes.units import DIRECTORY, GROUP_SHIFT, ROOT

GROUPS = [1, 2, 3]


class Chosen(random.Random):
    """A generator that always draws the last candidate."""

    def choice(self, seq):  # type: ignore[no-untyped-def]
        return seq[-1]


def ddg(depth: int, directories: int, files: int) -> DynamicDirGrain:
    return DynamicDirGrain(GROUPS, Granularity(depth, directories, files), Chosen())


def directory(group: int, counter: int) -> int:
    return group << GROUP_SHIFT | DIRECTORY | counter


def test_case_1_a_file_goes_to_the_files_group_while_there_is_room() -> None:
    choice = ddg(2, 2, 2).choose(directory(1, 5), Unit(1, 1, 0, 2, 1), "f", False)
    assert choice.home == 2 and choice.parent == Unit(1, 1, 0, 2, 2) and choice.child is None


def test_case_2_a_file_too_many_begins_anew_elsewhere() -> None:
    choice = ddg(2, 2, 2).choose(directory(1, 5), Unit(1, 1, 0, 2, 2), "f", False)
    assert choice.home == 3 and choice.parent == Unit(1, 1, 0, 3, 1)


def test_case_3_a_directory_stays_in_the_unit() -> None:
    choice = ddg(2, 2, 2).choose(directory(1, 5), Unit(1, 2, 1, 1, 7), "d", True)
    assert choice.home == 2 and choice.parent == Unit(1, 2, 2, 1, 7)
    assert choice.child == Unit(2, 2, 0, 2, 0)


@given(st.builds(Unit, *[st.integers(1, 3)] * 5))
def test_a_directory_s_first_file_is_no_branch_point(unit: Unit) -> None:
    policy = ddg(2, 2, 2)
    made = policy.choose(directory(1, 5), unit, "d", True)
    assert policy.choose(directory(made.home, 6), made.child, "f", False).home == made.home


def test_case_4_a_directory_too_many_begins_a_unit() -> None:
    choice = ddg(2, 2, 2).choose(directory(1, 5), Unit(1, 1, 2, 1, 0), "d", True)
    assert choice.home == 3 and choice.parent == Unit(1, 3, 1, 1, 0) and choice.child == Unit(1, 3, 0, 3, 0)


def test_case_5_a_directory_too_deep_begins_a_unit() -> None:
    choice = ddg(2, 2, 2).choose(directory(1, 5), Unit(2, 1, 0, 1, 0), "d", True)
    assert choice.home == 3 and choice.parent == Unit(2, 3, 1, 1, 0) and choice.child == Unit(1, 3, 0, 3, 0)


def test_the_root_is_a_unit_of_its_home() -> None:
    choice = ddg(9, 9, 9).choose(ROOT, None, "d", True)
    assert choice.home == 1 and choice.parent == Unit(1, 1, 1, 1, 0)


@given(st.lists(st.booleans(), max_size=300), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_units_never_grow_beyond_the_granularity(
    kinds: list[bool], depth: int, directories: int, files: int
) -> None:
    policy = DynamicDirGrain(GROUPS, Granularity(depth, directories, files), random.Random(1))
    units, rng = [first_unit(1)], random.Random(2)
    for is_directory in kinds:
        place = rng.randrange(len(units))
        choice = policy.choose(ROOT, units[place], "x", is_directory)
        assert choice.home in GROUPS and choice.parent is not None
        assert choice.parent.dir_num <= directories and choice.parent.file_num <= files
        units[place] = choice.parent
        if choice.child is not None:
            assert choice.child.depth <= depth
            units.append(choice.child)


def test_hash_keeps_files_and_is_the_same_for_everybody() -> None:
    one, other = (placement("hash", GROUPS, Granularity(), random.Random(seed)) for seed in (1, 2))
    assert {one.choose(directory(2, 9), None, name, False).home for name in "abcdef"} == {2}
    homes = [one.choose(directory(2, 9), None, str(n), True).home for n in range(60)]
    assert homes == [other.choose(directory(2, 9), None, str(n), True).home for n in range(60)]
    assert set(homes) == set(GROUPS)


def test_random_takes_turns() -> None:
    policy = placement("random", GROUPS, Granularity(), random.Random(1))
    homes = [policy.choose(ROOT, None, "x", bool(n % 2)).home for n in range(30)]
    assert [homes.count(group) for group in GROUPS] == [10, 10, 10]


def test_subtree_divides_the_children_of_the_root_only() -> None:
    policy = placement("subtree", GROUPS, Granularity(), random.Random(1))
    assert {policy.choose(ROOT, None, "x", True).home for _ in range(9)} == set(GROUPS)
    assert {policy.choose(directory(2, 7), None, "x", True).home for _ in range(9)} == {2}


def test_every_policy_has_a_name() -> None:
    for name in POLICIES:
        assert (
            placement(name, GROUPS, Granularity(), random.Random(1)).choose(ROOT, None, "x", True).home
            in GROUPS
        )


@given(st.builds(Unit, *[st.integers(1, 3)] * 5))
def test_as_printed_a_directory_inherits_where_files_go(unit: Unit) -> None:
    """Fig. 2: X.file_mds ← P.file_mds in case 3, and nothing else."""
    granularity = Granularity(2, 2, 2)
    printed = DynamicDirGrain(GROUPS, granularity, Chosen(), True).choose(directory(1, 5), unit, "d", True)
    ours = DynamicDirGrain(GROUPS, granularity, Chosen()).choose(directory(1, 5), unit, "d", True)
    assert (printed.home, printed.parent) == (ours.home, ours.parent)
    assert printed.child is not None and ours.child is not None
    inside = ours.child.depth == unit.depth + 1
    assert printed.child.file_group == (unit.file_group if inside else ours.child.file_group)
    assert msgspec.structs.replace(printed.child, file_group=ours.child.file_group) == ours.child
