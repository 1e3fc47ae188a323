"""A client caches a path under the state in which it was resolved, however late the answer arrives."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Delete, Link, Made, Mkdir, Rename, Stat
from nodes.wire.messages import Answer, Request
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of, until_held


def hear_of_moves(lab: Groups) -> None:
    """Ada is redirected to another group, and so learns how many directories have moved."""
    for number in range(2):
        lab.ada.call(Mkdir(f"/far{number}"))
        lab.ada.client._paths._dentries.gone(f"/far{number}")
        lab.ada.call(Stat(f"/far{number}"))


@pytest.mark.parametrize("seed", range(3))
def test_a_directory_that_was_made_before_a_move_is_not_remembered_as_made_after_it(seed: int) -> None:
    """The answer of mkdir arrives when the directory above has moved, and the client has learned of that by another call."""
    lab = Groups(seed, 2, 1, placement="random")
    old = directory_of(lab, 1)
    lab.eve.call(Stat(old))

    def is_late(sender: str, receiver: str, message: Any) -> bool:
        return receiver == "ada" and type(message) is Answer and made in (None, message.number)

    made = None
    answers = lab.cluster.hold(is_late)
    lab.calls.append(lab.ada.spawn(Mkdir(f"{old}/b")))
    until_held(lab, answers)
    made = answers.messages[0][2].number
    assert isinstance(answers.messages[0][2].result, Made)
    lab.eve.call(Rename(old, "/moved"))
    hear_of_moves(lab)
    answers.release()
    lab.all_returned()
    with pytest.raises(FsError, match="ENOENT"):
        lab.ada.call(Stat(f"{old}/b"))
    assert lab.ada.call(Stat("/moved/b")).result.kind == "directory"  # type: ignore[union-attr]
    lab.finish()


@pytest.mark.parametrize("seed", range(3))
def test_a_way_that_was_found_before_a_move_is_not_asked_for_as_found_after_it(seed: int) -> None:
    """A call is sent again when the directory on its path has moved, and the client has learned of that by another call."""
    lab = Groups(seed, 2, 1, placement="random")
    old = directory_of(lab, 2)
    lab.ada.call(Mkdir(f"{old}/b"))
    lab.ada.call(Stat(f"{old}/b"))

    def is_first(sender: str, receiver: str, message: Any) -> bool:
        return sender == "ada" and type(message) is Request and message.operation == Stat(f"{old}/b")

    questions = lab.cluster.hold(is_first)
    late = lab.ada.spawn(Stat(f"{old}/b"))
    until_held(lab, questions)
    lab.eve.call(Rename(old, "/moved"))
    hear_of_moves(lab)
    questions.drop()
    lab.cluster.run_until(late.done, 30 * SECOND)
    assert "ENOENT" in str(late.exception())
    lab.finish()


@pytest.mark.parametrize("operation", [Link, Rename])
def test_a_directory_that_is_gone_is_missed_before_anything_else_is_wrong(operation: type) -> None:
    """The new parent in the client's cache has been removed. The group of the old name does not know that, and queries before it refuses."""
    lab = Groups(1, 2, 1, placement="random")
    old, new = directory_of(lab, 2), directory_of(lab, 1)
    lab.ada.call(Mkdir(f"{old}/sub"))
    lab.ada.call(Stat(new))
    lab.eve.call(Delete(new))
    with pytest.raises(FsError, match="ENOENT"):
        lab.ada.call(operation(f"{old}/sub", f"{new}/x"))
    lab.finish()
