"""The restart from the disks: it is torn in every way, and every attribute and byte must be there again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from nodes.config import DataConfig, one_group
from nodes.explore import audit
from nodes.explore.plan import Caller, Plan
from nodes.explore.trial import Trial
from nodes.metadata.inode import Inode
from nodes.trace.events import FaultInjected
from tests.simulation.explore.test_recovered import tree_of

PLAN = Plan(
    1,
    one_group(2, data=DataConfig(["dn1"])),
    callers=[Caller("c1", ["mkdir /d", "create /d/f", "put /g 700", "chmod /d/f 711"])],
    span_ms=1_000,
)


def changed(change: Callable[[Trial], None], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Runs a trial whose servers differ, all in the same way, behind the restart."""
    trial, read_back, audits = Trial(PLAN), audit.read_back, list[Any]()

    def changing(audited: Any) -> audit.AuditReads:
        if audits:
            change(trial)
        audits.append(audited)
        return read_back(audited)

    monkeypatch.setattr(audit, "read_back", changing)
    return [(failure.invariant, failure.place) for failure in trial.run().failures]


def every_inode(trial: Trial) -> list[Inode]:
    return [
        inode
        for server in trial.cluster.servers.values()
        if server.group
        for inode in tree_of(server).inodes.values()
    ]


def change_attribute(field: str) -> Callable[[Trial], None]:
    def change(trial: Trial) -> None:
        for inode in every_inode(trial):
            if inode.mode == 0o711:
                setattr(inode, field, 4_711)

    return change


@pytest.mark.parametrize("field", ["mtime_ns", "atime_ns"])
def test_an_attribute_that_no_model_knows_is_compared(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed(change_attribute(field), monkeypatch) == [("the same again", "attributes")]


def test_bytes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Content that no call acknowledged is missed, too."""

    def drop(trial: Trial) -> None:
        for client in trial.clients:
            client.acknowledged.clear()  # type: ignore[attr-defined]
        for server in trial.cluster.servers.values():
            if server.group:
                tree = tree_of(server)
                tree.bodies.drop([body.inode for body in list(tree.bodies)], None)

    assert changed(drop, monkeypatch) == [("the same again", "bytes")]


def test_the_way_in_which_bytes_are_lost_is_drawn() -> None:
    ways = set()
    for seed in range(1, 20):
        trial = Trial(replace(PLAN, seed=seed, callers=[Caller("c1", ["mkdir /d"])]))
        assert trial.run().failures == []
        injected = [stamped.event for stamped in trial.events if type(stamped.event) is FaultInjected]
        ways |= {event.options.get("torn", "prefix") for event in injected if event.verb == "power_loss"}
    assert len(ways) >= 5
