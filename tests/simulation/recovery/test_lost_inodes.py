"""A forced group may have lost inodes to which names in other groups lead: calls for such a name are refused, and it can be removed."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import (
    Attributes,
    Create,
    Delete,
    Link,
    List,
    Listing,
    Mkdir,
    Operation,
    Rename,
    SetPermission,
    Stat,
)
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.recovery.test_numbers_after_force import forced_without_the_newest, result_of

NAMES = range(6)


def without_inodes(seed: int = 1) -> tuple[Groups, list[str], list[str]]:
    """Two groups, of which one has lost the inodes of names in the other's directory /d: of files, and of directories."""
    lab = Groups(seed, 2, 2, placement="random")
    lab.ada.call(Mkdir("/d"))
    lab.ada.call(Create("/d/kept"))
    home = home_group(lab.ada.call(Stat("/d")).result.inode)
    lost: dict[bool, list[str]] = {True: [], False: []}

    def create() -> None:
        for number in NAMES:
            for is_directory in (True, False) if number % 2 else (False, True):
                path = f"/d/{'d' if is_directory else 'f'}{number}"
                made = lab.ada.call(Mkdir(path) if is_directory else Create(path)).result.inode
                if home_group(made) != home:
                    lost[is_directory].append(path)

    forced_without_the_newest(lab, 3 - home, create)
    assert len(lost[False]) >= 2 and lost[True]
    return lab, lost[False], lost[True]


def refused(lab: Groups, operation: Operation) -> str:
    with pytest.raises(FsError) as raised:
        result_of(lab, operation)
    return raised.value.name


def names(lab: Groups) -> list[str]:
    listed = result_of(lab, List("/d"))
    assert isinstance(listed, Listing)
    return [f"/d/{name}" for name in listed.names]


def test_a_call_for_a_name_without_its_object_is_refused() -> None:
    lab, files, directories = without_inodes()
    for path in (*files, *directories):
        assert path in names(lab)
        assert refused(lab, Stat(path)) == "EIO"
        assert refused(lab, SetPermission(path, 0o600)) == "EIO"
    assert refused(lab, Create(f"{directories[0]}/x")) == "EIO"
    assert refused(lab, Create(f"{files[0]}/x")) == "ENOTDIR"
    assert refused(lab, Rename("/d/kept", f"{directories[0]}/x")) == "EIO"
    assert refused(lab, Link(files[0], "/d/other")) == "EIO"
    assert refused(lab, Create(files[0])) == "EEXIST"
    assert isinstance(result_of(lab, Stat("/d/kept")), Attributes)


def test_such_a_name_can_be_removed_and_given_again() -> None:
    lab, files, directories = without_inodes()
    for path in (*files, *directories):
        result_of(lab, Delete(path))
        assert refused(lab, Stat(path)) == "ENOENT"
        result_of(lab, Create(path))
        assert isinstance(result_of(lab, Stat(path)), Attributes)


def test_such_a_name_can_be_renamed_and_replaced() -> None:
    lab, (moved, replaced, *_), _ = without_inodes()
    result_of(lab, Rename("/d/kept", replaced, True))
    assert isinstance(result_of(lab, Stat(replaced)), Attributes)
    result_of(lab, Rename(moved, "/d/moved"))
    assert refused(lab, Stat("/d/moved")) == "EIO"
    result_of(lab, Delete("/d/moved"))
    assert {moved, "/d/moved", "/d/kept"}.isdisjoint(names(lab))


def test_a_directory_with_such_names_is_removed_with_all_that_is_in_it() -> None:
    lab, _, _ = without_inodes()
    result_of(lab, Delete("/d", True))
    nothing_is_left(lab)


def home_of(lab: Groups, path: str) -> int:
    return home_group(result_of(lab, Stat(path)).inode)


def directory_of_group(lab: Groups, group: int) -> str:
    for number in range(16):
        path = f"/of{group}-{number}"
        if home_group(result_of(lab, Mkdir(path)).inode) == group:
            return path
    raise AssertionError(f"no directory at home in group {group}")


def nothing_is_left(lab: Groups) -> None:
    lab.cluster.run_until(lambda: not any(page.orphans or page.open for page in lab.pages()), 60 * SECOND)


@pytest.mark.parametrize("is_directory", [False, True])
def test_such_a_name_can_be_moved_to_the_group_that_lost_its_object(is_directory: bool) -> None:
    """There it looks like the name of an inode that is to come."""
    lab, files, directories = without_inodes()
    there = directory_of_group(lab, 3 - home_of(lab, "/d"))
    name = f"{there}/moved"

    def move() -> None:
        result_of(lab, Rename((directories if is_directory else files).pop(), name))
        assert refused(lab, Stat(name)) == "EIO"

    move()
    assert refused(lab, SetPermission(name, 0o600)) == "EIO"
    assert refused(lab, Create(f"{name}/x")) == ("EIO" if is_directory else "ENOTDIR")
    assert refused(lab, Create(name)) == "EEXIST"
    result_of(lab, Delete(name))
    assert refused(lab, Stat(name)) == "ENOENT"
    move()
    new = Mkdir(f"{there}/new") if is_directory else Create(f"{there}/new")
    result_of(lab, new)
    result_of(lab, Rename(new.path, name, True))
    assert isinstance(result_of(lab, Stat(name)), Attributes)
    result_of(lab, Delete(there, True))
    nothing_is_left(lab)


def test_a_directory_with_a_name_of_an_inode_that_its_own_group_lost_is_removed() -> None:
    lab, files, directories = without_inodes()
    there = directory_of_group(lab, 3 - home_of(lab, "/d"))
    for path in (files[0], directories[0]):
        result_of(lab, Rename(path, f"{there}/{path[3:]}"))
    result_of(lab, Delete(there, True))
    nothing_is_left(lab)


def test_a_name_outlives_its_file_when_another_group_lost_the_removal_of_one() -> None:
    """The file counts its names: the removal that is repeated takes the count of the other name."""
    lab = Groups(1, 2, 2, placement="random")
    first, second = directory_of_group(lab, 1), directory_of_group(lab, 2)
    paths = [f"{first}/f{number}" for number in NAMES]
    for path in paths:
        result_of(lab, Create(path))
    path = next(path for path in paths if home_of(lab, path) == 2)
    result_of(lab, Link(path, f"{second}/g"))
    forced_without_the_newest(lab, 1, lambda: lab.ada.call(Delete(path)))
    result_of(lab, Delete(path))
    assert refused(lab, Stat(f"{second}/g")) == "EIO"
    assert refused(lab, Link(f"{second}/g", f"{second}/h")) == "EIO"
    assert refused(lab, Link(f"{second}/g", f"{first}/h")) == "EIO"
    result_of(lab, Rename(f"{second}/g", f"{second}/h"))
    result_of(lab, Delete(f"{second}/h"))
    nothing_is_left(lab)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("seed", range(1, 5))
def test_every_call_ends(seed: int, group: int) -> None:
    """Wherever the forced group's journal ended."""
    lab = Groups(seed, 2, 2, placement="random")
    calls = [each for number in NAMES for each in (Mkdir(f"/d{number}"), Create(f"/d{number}/f"))]
    cut = 3 * (seed - 1)
    for operation in calls[:cut]:
        lab.ada.call(operation)

    def lose() -> None:
        for operation in calls[cut:]:
            lab.ada.call(operation)

    forced_without_the_newest(lab, group, lose)
    for number in NAMES:
        for operation in (Stat(f"/d{number}/f"), Create(f"/d{number}/new"), Delete(f"/d{number}", True)):
            task = lab.eve.spawn(operation)
            lab.cluster.run_until(task.done, 30 * SECOND)
            assert task.exception() is None or task.exception().name in ("EIO", "ENOENT")  # type: ignore[union-attr]
