"""A refused write stays refused, whatever the order of messages (safety rule 10): its error may arrive late, its request may arrive again."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Link, List, Mkdir, Operation, Rename
from nodes.protocols.dcfs2.messages import Found
from nodes.sim.network import HeldMessages
from nodes.wire.messages import Answer, Request
from tests.simulation.dcfs2.lab import Groups

GROUPS = pytest.mark.parametrize("groups", [1, 2])


def refused(lab: Groups, operation: Operation, answers: HeldMessages) -> tuple[Any, str]:
    """Ada's call, and the error that is held on its way to her."""
    call = lab.ada.spawn(operation)
    lab.cluster.run_until(lambda: bool(answers.messages), 10 * SECOND)
    return call, answers.messages[-1][2].error  # type: ignore[attr-defined]


def to_ada(lab: Groups) -> HeldMessages:
    return lab.cluster.hold(lambda sender, receiver, message: type(message) is Answer and receiver == "ada")


def open_session(lab: Groups) -> None:
    for number in range(4):
        lab.ada.call(Mkdir(f"/before{number}"))
        lab.ada.call(Create(f"/before{number}/f"))


@GROUPS
def test_an_error_that_crosses_the_same_call_asked_again(groups: int) -> None:
    """The first try is refused, and its answer is late; by the second try the parent exists."""
    lab = Groups(1, groups, 2, placement="random")
    open_session(lab)
    answers = to_ada(lab)
    call, error = refused(lab, Create("/x/f"), answers)
    again = lab.cluster.hold(lambda sender, receiver, message: sender == "ada" and type(message) is Request)
    lab.eve.call(Mkdir("/x"))
    lab.cluster.run_for(SECOND)
    again.release()
    lab.cluster.run_for(SECOND // 5)
    answers.release()
    lab.cluster.run_until(call.done, 60 * SECOND)
    assert isinstance(call.exception(), FsError) and error.startswith("ENOENT")
    assert lab.eve.call(List("/x")).result.names == []  # type: ignore[union-attr]
    lab.finish()


@GROUPS
def test_a_request_that_comes_again_after_its_error_was_reported(groups: int) -> None:
    lab = Groups(2, groups, 2, placement="random")
    open_session(lab)
    seen: list[tuple[str, str, Any]] = []
    lab.cluster.hold(
        lambda sender, receiver, message: (
            type(message) is Request and sender == "ada" and bool(seen.append((sender, receiver, message)))  # type: ignore[func-returns-value]
        )
    )
    with pytest.raises(FsError, match="ENOENT"):
        lab.ada.call(Create("/x/f"))
    for hold in list(lab.cluster.net.holds):
        hold.drop()
    lab.eve.call(Mkdir("/x"))
    for each in seen:
        lab.cluster.net.carry(each[0], each[1], [each[2]])
    lab.cluster.run_for(SECOND)
    assert lab.eve.call(List("/x")).result.names == []  # type: ignore[union-attr]
    lab.finish()


@GROUPS
def test_a_refusal_outlives_the_active_that_reported_it(groups: int) -> None:
    lab = Groups(3, groups, 2, placement="random")
    open_session(lab)
    answers = to_ada(lab)
    call, error = refused(lab, Create("/x/f"), answers)
    lab.cluster.faults.crash(lab.active(1))
    answers.drop()
    lab.cluster.run_for(SECOND // 5)
    lab.eve.call(Mkdir("/x"))
    lab.cluster.run_until(call.done, 60 * SECOND)
    assert str(call.exception()) == error
    lab.finish()


@pytest.mark.parametrize(
    ("operation", "mends"),
    [
        (Delete("/full"), Delete("/full/f")),
        (Rename("/before0/f", "/before1/f"), Delete("/before1/f")),
        (Link("/before0/f", "/before1/f"), Delete("/before1/f")),
        (Mkdir("/full"), Delete("/full", True)),
    ],
)
@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_errors_that_another_group_has_decided(
    operation: Operation, mends: Operation, cross_group: str
) -> None:
    """The write was refused by a vote, or after a lookup. Sent again without the obstacle, it stays refused."""
    lab = Groups(4, 3, 1, placement="random", cross_group=cross_group)
    open_session(lab)
    lab.ada.call(Mkdir("/full"))
    lab.ada.call(Create("/full/f"))
    answers = to_ada(lab)
    call, error = refused(lab, operation, answers)
    answers.drop()
    lab.eve.call(mends)
    lab.cluster.run_until(call.done, 60 * SECOND)
    assert str(call.exception()) == error
    lab.finish()


# --- another group's word about the new name --------------------------------------------------------------------------


def looking(lab: Groups, operation: Link) -> tuple[Any, HeldMessages]:
    """Ada's link, whose lookup in the group of the new parent has been answered; the answer is held."""
    words = lab.cluster.hold(lambda sender, receiver, message: type(message) is Found)
    call = lab.ada.spawn(operation)
    lab.cluster.run_until(lambda: bool(words.messages) or call.done(), 10 * SECOND)
    return call, words


def asked_elsewhere(lab: Groups) -> str:
    """A directory in which the new name of a link from /before0 must be looked up in another group."""
    lab.ada.call(Create("/before0/probe"))
    for number in range(1, 8):
        lab.ada.call(Mkdir(f"/to{number}"))
        call, words = looking(lab, Link("/before0/probe", f"/to{number}/probe"))
        asked = bool(words.messages)
        words.release()
        lab.cluster.run_until(call.done, 10 * SECOND)
        if asked:
            return f"/to{number}"
    raise AssertionError("every directory has the home of /before0")


@pytest.mark.parametrize("seed", range(5, 8))
def test_the_new_parent_moves_before_the_answer_comes(seed: int) -> None:
    """No later path leads into the directory that was asked about: the refusal is the one of the path as it is now."""
    lab = Groups(seed, 3, 1, placement="random")
    open_session(lab)
    lab.ada.call(Mkdir("/before0/directory"))
    parent = asked_elsewhere(lab)
    call, words = looking(lab, Link("/before0/directory", f"{parent}/name"))
    lab.eve.call(Rename(parent, "/moved"))
    words.release()
    lab.cluster.run_until(call.done, 60 * SECOND)
    assert str(call.exception()).startswith("ENOENT")
    lab.finish()


@pytest.mark.parametrize("seed", range(5, 8))
def test_the_new_name_is_free_before_the_answer_comes(seed: int) -> None:
    """The refusal is as of the moment when the other group saw the name."""
    lab = Groups(seed, 3, 1, placement="random")
    open_session(lab)
    parent = asked_elsewhere(lab)
    lab.ada.call(Create(f"{parent}/taken"))
    call, words = looking(lab, Link("/before0/f", f"{parent}/taken"))
    lab.eve.call(Delete(f"{parent}/taken"))
    words.release()
    lab.cluster.run_until(call.done, 60 * SECOND)
    assert str(call.exception()).startswith("EEXIST")
    lab.finish()
