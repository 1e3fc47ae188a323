"""A vote counts only for the request that it answers."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, Delete, Mkdir, Rename, Stat
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import held, until_held
from tests.simulation.dcfs2.test_late_copies import make_at


@pytest.mark.parametrize("seed", range(3))
def test_a_vote_for_an_earlier_coordinator_is_none_for_its_successor(seed: int) -> None:
    """The vote waited for the participant's journal; the successor has meanwhile asked about another operation."""
    lab = Groups(seed, 2, 1, placement="random", cross_group="two_phase")
    first, successor = lab.active(1), next(name for name in lab.servers(1) if name != lab.active(1))
    votes = held(lab, "Vote", lab.servers(1))
    for number in range(2):
        lab.ada.spawn(Mkdir(f"/x{number}"))
    until_held(lab, votes)
    participant, _, vote = votes.messages[0]
    lab.cluster.faults.crash(first)
    votes.drop()
    lab.cluster.run_until(lambda: lab.cluster.view()[successor] == "A", 30 * SECOND)
    questions = held(lab, "VoteReq", lab.servers(2))
    for number in range(2):
        lab.calls.append(lab.eve.spawn(Mkdir(f"/y{number}")))

    def asked_as_often() -> bool:
        calls = [message.call for _, _, message in questions.messages]
        return vote.call in calls or len(calls) > 10

    lab.cluster.run_until(asked_as_often, 30 * SECOND)
    lab.cluster.net.carry(participant, successor, [vote])
    lab.cluster.run_for(SECOND // 20)
    questions.drop()
    lab.all_returned()
    for number in range(2):
        lab.ada.call(Stat(f"/y{number}"))
    lab.finish()


def test_a_refusal_is_reported_as_of_the_vote() -> None:
    """The directory that is to be replaced is full when its group is asked, and empty again before the answer is decided."""
    lab = Groups(1, 2, 1, placement="random", cross_group="two_phase")
    make_at(lab, "/d", 2)
    make_at(lab, "/y", 1)
    make_at(lab, "/d/sub", 2)
    make_at(lab, "/y/g", 1)
    make_at(lab, "/y/h", 1, Create)
    lab.ada.call(Stat("/y/g"))
    questions = held(lab, "VoteReq", lab.servers(1))
    refused = lab.ada.spawn(Rename("/d/sub", "/y/g", True))
    until_held(lab, questions)
    lab.eve.call(Rename("/y/h", "/y/g/h"))
    votes = held(lab, "Vote", lab.servers(2))
    questions.release()
    until_held(lab, votes)
    lab.eve.call(Delete("/y/g/h"))
    votes.release()
    lab.cluster.run_until(refused.done, 30 * SECOND)
    assert "ENOTEMPTY" in str(refused.exception())
    lab.finish()
