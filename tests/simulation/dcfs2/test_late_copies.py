"""A group that redirected a call never carries it out from a late copy (safety rule 25)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import Create, Delete, Mkdir, Rename, Stat
from nodes.units import home_group
from nodes.wire.messages import Request
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups

PATH = "/x/f"


def make_at(lab: Groups, path: str, group: int, kind: type[Mkdir | Create] = Mkdir) -> None:
    """Eve creates directories, or files, until one has its home in this group."""
    for _ in range(40):
        if home_group(lab.eve.call(kind(path)).result.inode) == group:  # type: ignore[union-attr]
            return
        lab.eve.call(Delete(path))
    raise AssertionError(f"{path} never came to group {group}")


def late_copy(lab: Groups) -> Any:
    """Ada creates a file below a directory of group 2; a copy of her first request to the root's group is still on its way."""
    make_at(lab, "/x", 2)
    copies: list[tuple[str, str, Any]] = []

    def copied(sender: str, receiver: str, message: Any) -> bool:
        first = type(message) is Request and message.operation == Create(PATH) and not message.starts
        if first and sender == "ada" and not copies:
            copies.append((sender, receiver, message))
        return False

    lab.cluster.hold(copied)
    lab.ada.call(Create(PATH))
    assert copies[0][1] in lab.servers(1)
    lab.eve.call(Delete(PATH))
    lab.eve.call(Delete("/x"))
    make_at(lab, "/x", 1)
    return copies[0]


def deliver(lab: Groups, receiver: str, copy: Any) -> None:
    lab.cluster.net.carry("ada", receiver, [copy])
    lab.cluster.run_for(2_000_000_000)
    names = lab.eve.call(Stat("/x")).result.entries  # type: ignore[union-attr]
    assert names == 0, "the late copy was carried out"


@pytest.mark.parametrize("seed", range(3))
def test_a_group_that_was_asked_before_answers_a_read_as_of_then(seed: int) -> None:
    """A file has its home in another group than its name. Its reader is on the way there when the name moves; a copy of its first request
    arrives."""
    lab = Groups(seed, 2, 1, placement="random")
    for number in range(40):
        if home_group(lab.eve.call(Create(f"/f{number}")).result.inode) == 2:  # type: ignore[union-attr]
            break
    path = f"/f{number}"
    copies: list[tuple[str, str, Any]] = []

    def asked(sender: str, receiver: str, message: Any) -> bool:
        asks = sender == "ada" and type(message) is Request and message.operation == Stat(path)
        if asks and not copies:
            copies.append((sender, receiver, message))
        return asks and receiver in lab.servers(2)

    on_the_way = lab.cluster.hold(asked)
    call = lab.ada.spawn(Stat(path))
    lab.cluster.run_until(lambda: bool(on_the_way.messages), SETTLE_NS)
    lab.eve.call(Rename(path, "/moved"))
    sender, _, copy = copies[0]
    lab.cluster.net.carry(sender, lab.active(1), [copy])
    lab.cluster.run_until(call.done, SETTLE_NS)
    assert "ENOENT" in str(call.exception())
    lab.finish()


@pytest.mark.parametrize("seed", range(3))
def test_a_late_copy_finds_the_refusal(seed: int) -> None:
    lab = Groups(seed, 2, 1, placement="random")
    _, receiver, copy = late_copy(lab)
    deliver(lab, receiver, copy)
    lab.finish()


@pytest.mark.parametrize("seed", range(3))
def test_the_refusal_outlives_a_failover(seed: int) -> None:
    lab = Groups(seed, 2, 2, placement="random")
    _, receiver, copy = late_copy(lab)
    lab.cluster.faults.crash(receiver)
    lab.cluster.run_for(10_000_000_000)
    lab.cluster.faults.restart(receiver)
    lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
    deliver(lab, lab.active(1), copy)
    lab.finish()


@pytest.mark.parametrize("seed", range(3))
def test_a_way_leads_back_to_the_group_that_referred_it(seed: int) -> None:
    """Group 1 redirects to group 2, which redirects back to group 1: there the call is carried out, though that group refused its first leg."""
    lab = Groups(seed, 2, 1, placement="random")
    make_at(lab, "/x", 2)
    make_at(lab, "/x/y", 1)
    lab.ada.call(Create("/x/y/f"))
    assert lab.eve.call(Stat("/x/y/f")).result.kind == "file"  # type: ignore[union-attr]
    lab.finish()
