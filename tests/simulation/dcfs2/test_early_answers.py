"""A group reports no error that it, or another one, saw at a moment when the call had another outcome."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import (
    Create,
    Delete,
    Link,
    Mkdir,
    Operation,
    Rename,
    Stat,
)
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups
from tests.simulation.dcfs2.schedules import held, until_held
from tests.simulation.dcfs2.test_late_copies import make_at


def asking(lab: Groups, operation: Operation, kind: str, group: int) -> tuple[asyncio.Task[Any], Any]:
    """Ada's call, and the question of this kind that it sends to this group, on its way."""
    questions = held(lab, kind, lab.servers(group))
    call = lab.ada.spawn(operation)
    until_held(lab, questions)
    return call, questions


def error_of(lab: Groups, call: asyncio.Task[Any]) -> str:
    lab.cluster.run_until(call.done, SETTLE_NS)
    return str(call.exception() or "")


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize(
    "operation", [Link("/d/f", "/y/g"), Rename("/d/f", "/y/g", False)], ids=["link", "rename"]
)
def test_a_name_that_is_taken_after_the_old_parent_was_removed_is_no_reason(
    operation: Operation, seed: int
) -> None:
    """While the old name existed, the new one was free."""
    lab = Groups(seed, 2, 1, placement="random")
    make_at(lab, "/d", 1)
    make_at(lab, "/y", 2)
    make_at(lab, "/d/f", 1, Create)
    call, questions = asking(lab, operation, "LookUp", 2)
    lab.eve.call(Delete("/d", True))
    lab.eve.call(Create("/y/g"))
    questions.release()
    error = error_of(lab, call)
    lab.finish()
    assert error.startswith("ENOENT")


@pytest.mark.parametrize("protocol", ["mams", "packed-paxos", "2pc"])
def test_a_directory_that_is_filled_after_the_old_name_was_removed_is_no_reason(protocol: str) -> None:
    """While the old name existed, the directory under the new one was empty."""
    lab = Groups(1, 2, 1, placement="random", protocol=protocol)
    make_at(lab, "/d", 2)
    make_at(lab, "/d/sub", 2)
    make_at(lab, "/y", 1)
    make_at(lab, "/y/g", 1)
    call, questions = asking(lab, Rename("/d/sub", "/y/g", True), "VoteReq", 1)
    lab.eve.call(Delete("/d/sub"))
    lab.eve.call(Create("/y/g/z"))
    questions.release()
    error = error_of(lab, call)
    lab.finish()
    assert error.startswith("ENOENT")


@pytest.mark.parametrize("operation", [Rename("/x/none", "/y/b"), Link("/x/none", "/y/b")])
def test_a_parent_that_became_a_file_is_reported_before_the_missing_old_name(operation: Operation) -> None:
    """Ada knows it as a directory of the other group, which alone knows that it is gone."""
    lab = Groups(1, 2, 1, placement="random")
    make_at(lab, "/x", 1)
    make_at(lab, "/y", 2)
    lab.ada.call(Stat("/x"))
    lab.ada.call(Create("/y/q"))
    lab.ada.call(Delete("/y/q"))
    lab.eve.call(Delete("/y"))
    lab.eve.call(Create("/y"))
    error = error_of(lab, lab.ada.spawn(operation))
    lab.finish()
    assert error.startswith("ENOTDIR")


@pytest.mark.parametrize("kind", ["VoteReq late, old parent made again", "new parent made again"])
def test_a_directory_that_was_made_again_is_found(kind: str) -> None:
    """A vote is about a directory that is gone, while its path leads to a new one."""
    lab = Groups(1, 2, 1, placement="random")
    for path, group in (("/d", 2), ("/y", 1), ("/d/sub", 2), ("/y/g", 1)):
        make_at(lab, path, group)
    lab.cluster.run_for(SECOND)
    again = kind.startswith("new")
    call, held = asking(lab, Rename("/d/sub", "/y/new" if again else "/y/g", True), "VoteReq", 1)
    if again:
        meanwhile: list[Operation] = [Delete("/y/g"), Delete("/y"), Mkdir("/y")]
    else:
        meanwhile = [Delete("/d/sub"), Delete("/d"), Create("/y/g/z"), Mkdir("/d"), Mkdir("/d/sub")]
    for operation in meanwhile:
        lab.eve.call(operation)
    held.release()
    assert error_of(lab, call).partition(":")[0] == ("" if again else "ENOTEMPTY")
    lab.finish()


@pytest.mark.parametrize(
    ("operation", "meanwhile", "after"),
    [
        (Rename("/d/none", "/y/b"), [Create("/d/none")], [Delete("/d/none")]),
        (
            Link("/d/f", "/y/g"),
            [Rename("/d/f", "/d/t"), Create("/y/g")],
            [Delete("/y/g"), Rename("/d/t", "/d/f")],
        ),
    ],
)
def test_a_name_that_went_and_came_back_is_looked_up_again(
    operation: Operation, meanwhile: list[Operation], after: list[Operation]
) -> None:
    lab = Groups(1, 2, 1, placement="random")
    make_at(lab, "/d", 1)
    make_at(lab, "/y", 2)
    make_at(lab, "/d/f", 1, Create)
    for path in ("/y", "/d"):
        lab.ada.call(Stat(path))
    lab.cluster.run_for(SECOND)
    call, questions = asking(lab, operation, "LookUp", 2)
    for each in meanwhile:
        lab.eve.call(each)
    replies = lab.cluster.hold(lambda sender, receiver, message: type(message).__name__ == "Found")
    questions.release()
    lab.cluster.run_until(lambda: bool(replies.messages), 10 * SECOND)
    for each in after:
        lab.eve.call(each)
    replies.release()
    error_of(lab, call)
    lab.finish()
