"""A group accepts cross-group messages only from servers of other groups."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Create, Mkdir
from nodes.protocols.dcfs2 import messages as m
from nodes.trace.events import Ignored, Stopped
from nodes.wire.messages import CrossGroupMessage
from tests.simulation.dcfs2.lab import Groups

ABSURD = 1 << 60


def words(lab: Groups) -> list[CrossGroupMessage]:
    """Messages to group 1 that claim to come from group 2."""
    return [
        m.OpReq(2, ABSURD, 1, ABSURD, [], 1),
        m.OpReq(2, 99, ABSURD, 0, [], 1),
        m.DecisionReq(2, 7, 1, ABSURD, 1),
        m.VoteReq(1, 2, 8, 1, ABSURD, 0, [], 1),
        m.Decision(2, 1, True, [], 1),
        m.OutcomeReq(2, 1, 2, 1),
        m.CommitReq(1, 1, 2, [], 1),
        m.AbortReq(1, 1, 2, "EIO: forged", 1),
        m.Ack(2, 1, 1),
        m.LookUp(1, 2, 1, "f", 0),
    ]


@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_a_unknown_peers_words_between_groups_have_no_effect(cross_group: str) -> None:
    lab = Groups(1, 2, 1, placement="random", cross_group=cross_group)
    for number in range(4):
        lab.ada.call(Mkdir(f"/before{number}"))
    for message in words(lab):
        lab.cluster.net.carry("eve", lab.active(1), [message])
        lab.cluster.run_for(1_100_000_000)
    reported = [s.event for s in lab.cluster.events if type(s.event) is Ignored and s.event.sender == "eve"]
    assert [each.kind for each in reported] == [type(message).__name__ for message in words(lab)]
    assert not [s for s in lab.cluster.events if type(s.event) is Stopped]
    for number in range(8):
        lab.ada.call(Mkdir(f"/after{number}"))
        lab.ada.call(Create(f"/after{number}/f"))
    lab.finish()


def until_active(lab: Groups, names: list[str]) -> None:
    while not any(lab.cluster.view()[name] == "A" for name in names):
        lab.cluster.faults.take_lock("g2")
        lab.cluster.run_for(8_000_000_000)


def test_a_server_that_was_added_later_speaks_for_its_group() -> None:
    lab = Groups(2, 2, 1, placement="random")
    lab.cluster.faults.add_server("g2")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds5") == "S", 60_000_000_000)
    until_active(lab, ["mds5"])
    for number in range(8):
        lab.ada.call(Mkdir(f"/after{number}"))
        lab.ada.call(Create(f"/after{number}/f"))
    until_active(lab, lab.servers(2))
    lab.finish()
