"""The counterexamples of rules 11 and 12. Each ends where the damage is done if the hole is open; `Groups.finish` does the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import SECOND
from nodes.metadata.operations import Create, Delete, Made, Mkdir, Rename, Stat
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups

OPEN_NS = 60 * SECOND


def held(lab: Groups, kind: str, receivers: list[str]) -> Any:
    """Messages of one kind on their way to these servers."""
    return lab.cluster.hold(
        lambda sender, receiver, message: type(message).__name__ == kind and receiver in receivers
    )


def until_held(lab: Groups, hold: Any, count: int = 1) -> None:
    lab.cluster.run_until(lambda: len(hold.messages) >= count, 10 * SECOND)


def home(lab: Groups, path: str) -> int:
    return home_group(lab.ada.call(Stat(path)).result.inode)  # type: ignore[union-attr]


def directory_of(lab: Groups, group: int) -> str:
    """A directory under the root with its home in this group."""
    for number in range(4):
        made = lab.ada.call(Mkdir(f"/d{group}{number}")).result
        assert isinstance(made, Made)
        if home_group(made.inode) == group:
            return f"/d{group}{number}"
    raise AssertionError(f"no directory came to group {group}")


def shared_create(lab: Groups, directory: str) -> Callable[[], Any]:
    """Ada's create of a file in this directory with its home in the other group, held before that group receives it."""
    other = 3 - home(lab, directory)
    for number in range(4):
        hold = held(lab, "OpReq", lab.servers(other))
        call = lab.ada.spawn(Create(f"{directory}/f{number}"))
        lab.cluster.run_until(lambda hold=hold, call=call: hold.messages or call.done(), OPEN_NS)  # type: ignore[misc]
        if hold.messages:
            lab.calls.append(call)
            return hold.release  # type: ignore[no-any-return]
        hold.drop()
        lab.ada.call(Delete(f"{directory}/f{number}"))
    raise AssertionError("every file came to the directory's own group")


# --- rule 11 ---------------------------------------------------------------------------------------------------------


def late_request(lab: Groups) -> None:
    """The request arrives after the participant has answered that it has no record of the operation."""
    directory = directory_of(lab, 2)
    release = shared_create(lab, directory)
    lab.cluster.faults.crash(lab.active(2))
    lab.cluster.run_for(15 * SECOND)
    release()
    lab.cluster.run_for(SECOND)


def second_request(lab: Groups) -> None:
    """The request arrives a second time when the operation has ended, and its records are removed."""
    seen: list[tuple[str, str, Any]] = []

    def note(sender: str, receiver: str, message: Any) -> bool:
        if type(message).__name__ == "OpReq":
            seen.append((sender, receiver, message))
        return False

    hold = lab.cluster.hold(note)
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
    hold.drop()
    lab.cluster.run_for(SECOND)
    assert len(seen) > 1
    for sender, receiver, message in seen:
        lab.cluster.net.carry(sender, receiver, [message])
    lab.cluster.run_for(SECOND)


# --- rule 12 ---------------------------------------------------------------------------------------------------------


def create_against_rmdir(lab: Groups) -> None:
    """A file is being created in a directory that seems to be empty."""
    directory = directory_of(lab, 2)
    release = shared_create(lab, directory)
    lab.calls.append(lab.eve.spawn(Delete(directory)))
    lab.cluster.run_for(SECOND // 2)
    release()
    lab.cluster.run_for(SECOND)


def rename_circle(lab: Groups) -> None:
    """Each of two directories is moved into the other: both are promised before either is decided."""
    one, two = directory_of(lab, 1), directory_of(lab, 2)
    for path in (one, two):
        lab.eve.call(Stat(path))
        lab.ada.call(Stat(path))
    votes = held(lab, "Vote", lab.servers(1))
    lab.calls.append(lab.ada.spawn(Rename(one, f"{two}/in")))
    lab.calls.append(lab.eve.spawn(Rename(two, f"{one}/in")))
    until_held(lab, votes)
    lab.cluster.run_for(SECOND // 10)
    votes.release()
    lab.cluster.run_for(5 * SECOND)


Schedule = Callable[[Groups], None]
SCHEDULES: dict[str, tuple[Schedule, str, str]] = {
    "late_request": (late_request, "abort_without_record", "was aborted by|orphan inode"),
    "second_request": (second_request, "abort_without_record", "orphan inode"),
    "create_against_rmdir": (create_against_rmdir, "dentry_locks_only", "orphan inode|Create|Delete"),
    "rename_circle": (rename_circle, "dentry_locks_only", "Rename|circle"),
}
"""(schedule, switch, text of the violation) by name."""
