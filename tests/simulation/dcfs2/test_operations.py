"""Every operation on every placement gives the same result as a single group."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from nodes.config import SECOND, Granularity, one_group
from nodes.errors import FsError
from nodes.metadata.operations import (
    Attributes,
    ContentSummary,
    Create,
    Delete,
    Link,
    List,
    Made,
    Mkdir,
    Rename,
    SetPermission,
    Stat,
)
from nodes.protocols.dcfs2.messages import Found
from nodes.sim.cluster import SimClient, SimCluster
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups

LINKS = [
    *(Mkdir(f"/l{number}") for number in range(4)),
    *(Create(f"/l{number}/f") for number in range(4)),
    *(
        Link(f"/l{number}/f", f"/l{(number + place) % 4}/g{place}")
        for number in range(4)
        for place in range(3)
    ),
    Link("/l0/f", "/l1/f"),
    Link("/l0/none", "/l1/new"),
    Link("/l0", "/l1/new"),
    Link("/l0/f", "/none/new"),
    Link("/l0/f", "/l1/f/new"),
    *(Stat(f"/l{number}/f") for number in range(4)),
    SetPermission("/l1/g1", 0o611),
    *(Stat(f"/l{number}/f") for number in range(4)),
    *(Rename(f"/l{number}/f", f"/l{(number + 1) % 4}/g1") for number in range(4)),
    List("/l0"),
    *(Rename(f"/l{number}/f", f"/l{(number + 2) % 4}/g1", True) for number in range(4)),
    *(Delete(f"/l{number}/g0") for number in range(4)),
    *(Stat(f"/l{number}/{name}") for number in range(4) for name in ("f", "g1", "g2")),
    Delete("/l0", True),
    List("/"),
]
STORY = [
    *(Mkdir(f"/d{number}") for number in range(4)),
    Mkdir("/d0/a"),
    Mkdir("/d0/a/b", True),
    Mkdir("/p/q/r/s", True),
    Mkdir("/p/q", True),
    Mkdir("/p/q"),
    Mkdir("/n/o"),
    *(Create(f"/d{number}/f") for number in range(4)),
    Create("/d0/f"),
    Create("/d0/f/x"),
    Create("/d9/f"),
    List("/"),
    List("/d0"),
    List("/d0/f"),
    Stat("/d0/f"),
    SetPermission("/d0/f", 0o600),
    Rename("/d0/f", "/d1/g"),
    Stat("/d1/g"),
    Stat("/d0/f"),
    Rename("/d1/g", "/d2/f"),
    Rename("/d1/g", "/d2/f", True),
    Rename("/d2/f", "/d3", True),
    Rename("/d0", "/d2/f", True),
    List("/d2"),
    Stat("/d2/f"),
    Rename("/p/q", "/d3/q2"),
    Stat("/p/q/r/s"),
    Stat("/d3/q2/r/s"),
    List("/d3"),
    List("/p"),
    Rename("/d3", "/d3/q2/x"),
    Rename("/p", "/d1", True),
    Rename("/d1", "/p", True),
    ContentSummary("/"),
    *LINKS,
    Delete("/d3"),
    Delete("/d3", True),
    Stat("/d3/q2/r/s"),
    Create("/d3/f"),
    ContentSummary("/"),
    Delete("/d0/a/b"),
    Delete("/d0/a"),
    Delete("/d0/a"),
    Delete("/"),
    Rename("/d2/f", "/"),
]


def report(client: SimClient, operation: Any) -> Any:
    """The result without numbers and times, or the name of the error."""
    try:
        result = client.call(operation).result
    except FsError as error:
        return error.name
    if isinstance(result, Made):
        return "made"
    if isinstance(result, Attributes):
        return result.kind, result.mode, result.entries, result.nlink
    return result


@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
@pytest.mark.parametrize("placement", ["hash", "random", "subtree", "ddg"])
def test_all_placements_agree_with_one_group(placement: str, cross_group: str) -> None:
    alone = SimCluster(one_group(0), 1)
    expected_of = alone.start_client("ada")
    lab = Groups(3, 3, 0, placement=placement, cross_group=cross_group, granularity=Granularity(2, 2, 1))
    for operation in STORY:
        assert report(lab.ada, operation) == report(expected_of, operation), operation
        assert report(lab.eve, List("/")) == report(expected_of, List("/"))
    lab.finish()
    if placement == "random":
        homes = {home_group(number) for page in lab.pages() for number in page.inodes}
        assert homes == {1, 2, 3}


def test_a_cached_directory_that_has_moved_is_not_used() -> None:
    """Eve resolves a deep path, Ada moves a directory above it: the old path is gone for Eve at once, in every group."""
    lab = Groups(4, 3, 0, placement="random")
    lab.ada.call(Mkdir("/a/b/c/d", True))
    lab.eve.call(Create("/a/b/c/d/one"))
    lab.ada.call(Rename("/a/b", "/moved"))
    with pytest.raises(FsError, match="ENOENT"):
        lab.eve.call(Create("/a/b/c/d/two"))
    lab.eve.call(Create("/moved/c/d/two"))
    lab.ada.call(Delete("/moved", True))
    with pytest.raises(FsError, match="ENOENT"):
        lab.eve.call(Create("/moved/c/d/three"))
    lab.finish()


def test_a_cached_directory_that_was_made_again_is_not_the_old_one() -> None:
    lab = Groups(5, 3, 0, placement="random")
    lab.ada.call(Mkdir("/a/b", True))
    lab.eve.call(Create("/a/b/one"))
    lab.ada.call(Delete("/a/b/one"))
    lab.ada.call(Delete("/a/b"))
    lab.ada.call(Mkdir("/a/b"))
    lab.eve.call(Create("/a/b/one"))
    assert report(lab.ada, List("/a/b")).names == ["one"]
    lab.finish()


def test_units_are_counted_though_many_files_are_made_at_once() -> None:
    """Every FileWid files another group is drawn, also when their cross-group operations overlap."""
    lab = Groups(6, 3, 0, placement="ddg", granularity=Granularity(2, 2, 4))
    lab.ada.call(Mkdir("/d"))
    made = [lab.ada.spawn(Create(f"/d/{number}")) for number in range(64)]
    lab.cluster.run_until(lambda: all(task.done() for task in made), 60 * SECOND)
    homes = [home_group(task.result().result.inode) for task in made]  # type: ignore[union-attr]
    runs = [len(list(same)) for _, same in groupby(homes)]
    assert sum(runs) == 64 and all(run % 4 == 0 for run in runs) and len(runs) > 4
    lab.finish()


def test_what_has_changed_since_it_was_planned_is_planned_anew_at_once() -> None:
    """The new name is taken between the lookup and the promise: no call waits for the coordinator's timeout."""
    lab = Groups(7, 3, 0, placement="random")
    for number in range(3):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.ada.call(Create("/d0/f"))
    lab.ada.call(Stat("/d1"))
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Found)
    call = lab.ada.spawn(Rename("/d0/f", "/d1/f"))
    lab.cluster.run_until(lambda: bool(held.messages), SECOND)
    lab.eve.call(Create("/d1/f"))
    held.release()
    lab.cluster.run_until(call.done, SECOND // 5)
    with pytest.raises(FsError, match="EEXIST"):
        call.result()
    lab.finish()
