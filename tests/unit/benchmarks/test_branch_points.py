"""The two namespaces at their full size, against the counts of DCFS2 §5.1.3 and §5.1.4 under DDG-2-16-2048."""

from random import Random

from benchmarks._namespaces import NAMESPACE1, NAMESPACE2, NamespaceKind, shape_of
from nodes.metadata.placement import DynamicDirGrain, Granularity, Unit
from nodes.units import GROUP_SHIFT

GROUPS = list(range(1, 17))


def branch_points(kind: NamespaceKind, as_printed: bool = False) -> tuple[int, int]:
    """Numbers of directories and of files with another home than their parent's."""
    shape = shape_of(kind, 1, 1, 1)
    policy = DynamicDirGrain(GROUPS, Granularity(2, 16, 2048), Random(1), as_printed)
    homes, units = [GROUPS[0]], list[Unit | None]([None])
    directories = files = 0
    for parent in shape.parents[1:]:
        choice = policy.choose(homes[parent] << GROUP_SHIFT, units[parent], "x", True)
        units[parent] = choice.parent
        homes.append(choice.home)
        units.append(choice.child)
        directories += choice.home != homes[parent]
    for directory, count in enumerate(shape.files):
        for _ in range(count):
            choice = policy.choose(homes[directory] << GROUP_SHIFT, units[directory], "x", False)
            units[directory] = choice.parent
            files += choice.home != homes[directory]
    return directories, files


def test_the_first_has_over_42_000_branch_files() -> None:
    directories, files = branch_points(NAMESPACE1)
    assert 38_000 < files < 46_000
    assert 1 / 8 < directories / (directories + files) < 1 / 4


def test_the_second_has_none() -> None:
    directories, files = branch_points(NAMESPACE2)
    assert files == 0 < directories


def test_with_fig_2_as_printed_there_are_more() -> None:
    """The numbers of docs/benchmarks.md for both namespaces, exact to one file."""
    assert branch_points(NAMESPACE1)[1] == 44_093
    assert branch_points(NAMESPACE1, True)[1] == 57_957
    assert branch_points(NAMESPACE2, True)[1] == 20_769
