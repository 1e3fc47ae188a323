"""Seeded bugs of cross-group operations: each schedule holds without its mutation, and violates an invariant with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import SECOND
from nodes.metadata.operations import Create, Delete, List, Mkdir, Rename, Stat
from nodes.wire.messages import Answer, Request
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of, held, until_held
from tests.simulation.dcfs2.test_caches import hear_of_moves


def answers_lost_until_asked_again(lab: Groups, operation: Any) -> Any:
    """Drops the answers to ada's operation until she has sent it once more."""
    numbers: list[int] = []
    again: list[Any] = []

    def is_lost(sender: str, receiver: str, message: Any) -> bool:
        if sender == "ada" and type(message) is Request and message.operation == operation:
            numbers.append(message.number)
            if lost.messages:
                again.append(message)
        return not again and receiver == "ada" and type(message) is Answer and message.number in numbers

    lost = lab.cluster.hold(is_lost)
    return lost


def retry_across_moved_directory(lab: Groups) -> None:
    """The answer of a create is lost, its directory is moved, and the call is sent again."""
    old = directory_of(lab, 2)
    operation = Create(f"{old}/f")
    lost = answers_lost_until_asked_again(lab, operation)
    call = lab.ada.spawn(operation)
    lab.cluster.run_until(lambda: bool(lost.messages), 10 * SECOND)
    lab.eve.call(Rename(old, "/moved"))
    lab.cluster.run_until(call.done, 30 * SECOND)
    lost.drop()
    lab.calls.append(call)
    lab.eve.call(Stat("/moved/f"))
    lab.finish()
    assert call.exception() is None


def stale_dentry_cache(lab: Groups) -> None:
    """A directory moves, its client learns of it by another call, and continues below the old name."""
    old = directory_of(lab, 2)
    lab.eve.call(Rename(old, "/moved"))
    hear_of_moves(lab)
    call = lab.ada.spawn(Create(f"{old}/f"))
    lab.cluster.run_until(call.done, 30 * SECOND)
    lab.eve.call(List("/moved"))
    lab.finish()


def undo_forgotten(lab: Groups) -> None:
    """The coordinator of a rename dies when the other group has promised; its successor decides Abort, and the call is tried again."""
    old, new = directory_of(lab, 1), directory_of(lab, 2)
    lab.ada.call(Create(f"{old}/f"))
    votes = held(lab, "Vote", lab.servers(1))
    call = lab.ada.spawn(Rename(f"{old}/f", f"{new}/g"))
    until_held(lab, votes)
    lab.cluster.faults.crash(lab.active(1))
    votes.drop()
    lab.cluster.run_until(call.done, 60 * SECOND)
    lab.calls.append(call)
    lab.eve.call(List(new))
    lab.eve.call(List(old))
    lab.finish()


def promised_across_move(lab: Groups) -> None:
    """A directory moves while a file is renamed into it: the move is promised before the file's new name, and decided before the file's rename."""
    moved, other = directory_of(lab, 1), directory_of(lab, 2)
    lab.ada.call(Create(f"{other}/f"))
    lab.ada.call(List(moved))
    rename = held(lab, "VoteReq", lab.servers(1))
    lab.calls.append(lab.ada.spawn(Rename(f"{other}/f", f"{moved}/f")))
    until_held(lab, rename)
    move = held(lab, "VoteReq", lab.servers(2))
    lab.calls.append(lab.eve.spawn(Rename(moved, "/moved")))
    until_held(lab, move)
    votes = held(lab, "Vote", lab.servers(2))
    rename.release()
    until_held(lab, votes)
    decision = held(lab, "Decision", lab.servers(2))
    move.release()
    until_held(lab, decision)
    votes.release()
    lab.cluster.run_for(SECOND // 20)
    decision.release()
    lab.all_returned()
    lab.eve.call(List("/moved"))
    lab.finish()


def clock_jump_stamps(lab: Groups) -> None:
    """The wall clock of one group's active jumps an hour ahead, that of the other an hour back; directories come to both."""
    for group, hours in ((1, 1), (2, -1)):
        lab.cluster.faults.skew_clock(lab.active(group), hours * 3_600_000)
    lab.cluster.run_for(SECOND)
    for number in range(4):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.ada.call(Create(f"/d{number}/f"))
        lab.eve.call(Stat(f"/d{number}/f"))
    lab.finish()


def view_of_all_groups(lab: Groups) -> None:
    """A create is carried out, the messages of its group are lost for a while, and the directory is deleted meanwhile."""
    parent = directory_of(lab, 2)
    lab.ada.call(Create(f"{parent}/f"))
    lab.cluster.run_for(SECOND)
    servers = lab.servers(2)
    silent = lab.cluster.hold(lambda sender, receiver, message: sender in servers and receiver == "ada")
    lab.calls.append(lab.ada.spawn(Create(f"{parent}/g")))
    lab.cluster.run_until(lambda: bool(silent.messages), 10 * SECOND)
    lab.eve.call(Delete(parent, recursive=True))
    lab.cluster.run_for(5 * SECOND)
    silent.drop()
    lab.all_returned()
    lab.finish()


SCHEDULES: dict[str, Callable[[Groups], None]] = {
    "stale_dentry_cache": stale_dentry_cache,
    "undo_forgotten": undo_forgotten,
    "promised_across_move": promised_across_move,
    "retry_across_moved_directory": retry_across_moved_directory,
    "view_of_all_groups": view_of_all_groups,
    "clock_jump_stamps": clock_jump_stamps,
}
