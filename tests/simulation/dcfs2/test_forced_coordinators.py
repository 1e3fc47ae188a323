"""A forced group has lost the decision of an operation that it began, and the other group has ended it (safety rules 4 and 11)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import Create, Delete, Link, List, Operation, Stat
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups
from tests.simulation.dcfs2.schedules import held, until_held
from tests.simulation.dcfs2.test_late_copies import make_at
from tests.simulation.recovery.test_numbers_after_force import forced_without_the_newest, result_of


def directory_with_file(seed: int) -> Groups:
    """/x and its name f are in group 1, the file and its name /y/g in group 2."""
    lab = Groups(seed, 2, 2, placement="random")
    make_at(lab, "/x", 1)
    make_at(lab, "/y", 2)
    make_at(lab, "/x/f", 2, Create)
    lab.eve.call(Link("/x/f", "/y/g"))
    lab.cluster.run_until(lab.quiet)
    return lab


def decided_and_lost(lab: Groups, operation: Operation, *later: Operation) -> None:
    """Group 1 logs the operation everywhere, and its decision, with the later calls, where it is lost."""
    votes = held(lab, "CommitReq", lab.servers(1))
    call = lab.eve.spawn(operation)
    until_held(lab, votes)

    def lost() -> None:
        votes.release()
        lab.cluster.run_until(call.done, SETTLE_NS)
        for each in later:
            lab.ada.call(each)

    forced_without_the_newest(lab, 1, lost)
    assert [page.open for page in lab.pages()] == [0, 0]


def names_in(lab: Groups, path: str) -> Any:
    return result_of(lab, List(path)).names


@pytest.mark.parametrize("seed", [1, 2])
def test_it_learns_that_a_name_is_gone(seed: int) -> None:
    lab = directory_with_file(seed)
    decided_and_lost(lab, Delete("/x/f"))
    assert names_in(lab, "/x") == [] and result_of(lab, Stat("/y/g")).nlink == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_its_directory_is_free_when_the_other_group_has_forgotten_the_outcome(seed: int) -> None:
    """The lost calls behind the decision have raised the number below which all operations have ended."""
    lab = directory_with_file(seed)
    decided_and_lost(lab, Delete("/x/f"), *(Create(f"/x/lost{number}") for number in range(8)))
    assert names_in(lab, "/x") == ["f"]
    result_of(lab, Create("/x/new"))


def test_it_aborts_what_the_other_group_made_and_cannot_name_any_more() -> None:
    """Files are made in either group: the first of group 2 is the one that is lost."""
    lab = directory_with_file(1)
    requests = held(lab, "OpReq", lab.servers(2))
    number = 0
    while not requests.messages:
        number += 1
        call = lab.ada.spawn(Create(f"/x/n{number}"))
        lab.cluster.run_until(lambda call=call: requests.messages or call.done(), SETTLE_NS)  # type: ignore[misc]
    votes = held(lab, "CommitReq", lab.servers(1))
    requests.release()
    until_held(lab, votes)

    def lost() -> None:
        votes.release()
        lab.cluster.run_until(call.done, SETTLE_NS)

    forced_without_the_newest(lab, 1, lost)
    assert [page.open for page in lab.pages()] == [0, 0]
    assert f"n{number}" not in names_in(lab, "/x")
    result_of(lab, Create(f"/x/n{number}"))
