"""DCFS2: Xiong, Hu, Li, Tang, Fan, "Metadata Distribution and Consistency Techniques for Large-Scale Cluster File Systems" (TPDS 2011).

The five cases of the distribution algorithm (§3.3) have their tests in tests/unit/metadata/test_placement.py.
"""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Mkdir, Stat
from nodes.protocols.dcfs2.messages import AbortReq, Ack, CommitReq, Decided, Decision, OpReq, Vote, VoteReq
from nodes.trace.causes import Causes
from nodes.trace.events import SharedStep, Stamped
from nodes.wire.messages import Answer, CrossGroupMessage
from tests.papers.said import Said, Sent
from tests.simulation.dcfs2.lab import Groups

LIMIT_NS = 20 * SECOND


def step(stamped: Stamped) -> str:
    assert isinstance(stamped.event, SharedStep)
    return stamped.event.step


def branch(cross_group: str = "s2pc_mp") -> tuple[Groups, Said, str]:
    """A lab, and the messages while a directory was created whose inode has its home in another group than its name."""
    lab = Groups(2, 2, 2, placement="random", cross_group=cross_group)
    lab.ada.call(Mkdir("/first"))
    for number in range(6):
        lab.cluster.run_for(SECOND)
        said, path = Said(lab.cluster), f"/d{number}"
        lab.ada.call(Mkdir(path))
        lab.cluster.run_for(SECOND)
        if said.reported(SharedStep):
            return lab, said, path
    raise AssertionError("no directory became a branch point")


def first(said: Said, kind: type[CrossGroupMessage]) -> Sent:
    return said.of(kind)[0]


def logged(said: Said, name: str) -> int:
    """Position of a step's log record among all events, at its commit."""
    return next(said.place(each) for each in said.reported(SharedStep) if step(each) == name)


@pytest.mark.parametrize(
    ("record", "message"),
    [("begin", VoteReq), ("promise", Vote), ("decide", Decision), ("outcome", Decided)],
)
def test_4_1_each_message_of_two_phase_commit_follows_the_log_record_before_it(
    record: str, message: type[CrossGroupMessage]
) -> None:
    """§4.1, Fig. 3b: the last one acknowledges the decision."""
    _, said, _ = branch("two_phase")
    assert logged(said, record) < first(said, message).after


def test_4_2_three_messages_carry_an_operation_on_two_servers() -> None:
    """§4.2, Fig. 3a: the request is also the coordinator's vote."""
    _, said, _ = branch()
    assert [type(sent.message) for sent in said.of(CrossGroupMessage)] == [OpReq, CommitReq, Ack]


@pytest.mark.parametrize(("record", "message"), [("begin", OpReq), ("vote", CommitReq), ("decide", Ack)])
def test_4_2_each_side_has_its_log_record_before_it_sends_the_message_that_follows(
    record: str, message: type[CrossGroupMessage]
) -> None:
    _, said, _ = branch()
    assert logged(said, record) < first(said, message).after


def test_4_2_the_client_is_answered_when_the_coordinator_has_logged_the_decision() -> None:
    _, said, _ = branch()
    answers = [sent for sent in said.of(Answer) if sent.receiver == "ada"]
    assert answers and min(sent.after for sent in answers) > logged(said, "decide")


def test_4_2_the_participant_ends_the_operation_in_its_log_after_the_acknowledgement() -> None:
    _, said, _ = branch()
    assert logged(said, "finish") > first(said, Ack).after - 1


def test_4_2_all_of_it_goes_back_to_the_one_call() -> None:
    lab, said, _ = branch()
    causes = Causes(lab.cluster.events)
    assert {causes.root(each)[0] for each in said.reported(SharedStep)} == {"ada.1"}
    assert len({causes.root(each) for each in said.reported(SharedStep)}) == 1


def blocked() -> tuple[Groups, Said, str]:
    """An operation on two groups whose request is held on its way."""
    lab, _, _ = branch()
    lab.cluster.run_for(SECOND)
    held = lab.cluster.hold(lambda sender, receiver, message: isinstance(message, OpReq))
    for number in range(6):
        path = f"/held{number}"
        lab.calls.append(lab.ada.spawn(Mkdir(path)))
        lab.cluster.run_for(50 * MILLISECOND)
        if held.messages:
            return lab, Said(lab.cluster), path
    raise AssertionError("no directory became a branch point")


def test_4_2_other_requests_are_served_while_one_waits_for_a_message() -> None:
    """§4.2, Fig. 4: the half-completed request is in the waiting queue."""
    lab, _, _ = blocked()
    assert lab.eve.call(Stat("/first"), SECOND).error == ""
    assert lab.eve.call(Create("/first/file"), SECOND).error == ""


def test_4_2_nobody_reads_what_is_undecided() -> None:
    lab, _, path = blocked()
    read = lab.eve.spawn(Stat(path))
    lab.cluster.run_for(100 * MILLISECOND)
    assert not read.done()
    lab.cluster.net.holds[0].release()
    lab.cluster.run_until(read.done, LIMIT_NS)
    assert read.result().error == ""


def test_4_2_a_participant_that_cannot_votes_abort_and_nothing_is_left_of_the_coordinators_part() -> None:
    """A directory with its home in another group cannot be removed unless it is empty."""
    lab, _, path = branch()
    lab.ada.call(Create(f"{path}/file"))
    lab.cluster.run_for(SECOND)
    said = Said(lab.cluster)
    with pytest.raises(FsError, match="ENOTEMPTY"):
        lab.ada.call(Delete(path))
    assert said.of(AbortReq) and not said.of(CommitReq)
    assert not any(each.event.commit for each in said.reported(SharedStep) if step(each) == "decide")  # type: ignore[union-attr]
    assert lab.eve.call(Stat(f"{path}/file")).error == ""


def faulted(side: str) -> Groups:
    """An operation during which the active of one side crashes after the request was sent."""
    lab, _, _ = branch()
    lab.cluster.run_for(SECOND)
    hit: list[str] = []

    def apply_fault(sender: str, receiver: str, message: object) -> bool:
        if isinstance(message, OpReq) and not hit:
            hit.append(sender if side == "coordinator" else receiver)
        return False

    lab.cluster.hold(apply_fault)
    for number in range(6):
        lab.calls.append(lab.ada.spawn(Mkdir(f"/struck{number}")))
        lab.cluster.run_for(2 * MILLISECOND)
        if hit:
            lab.cluster.faults.crash(hit[0])
            return lab
    raise AssertionError("no directory became a branch point")


@pytest.mark.parametrize("side", ["coordinator", "participant"])
def test_4_4_after_a_crash_the_operation_is_on_both_servers_or_on_none(side: str) -> None:
    """§4.4.1 and §4.4.2: the log shows the last step, and the other side is queried."""
    lab = faulted(side)
    lab.all_returned()
    lab.finish()
    invariants = {status["invariant"]: status["state"] for status in lab.invariants.invariants()}
    assert invariants["atomic across groups"] == "green"
