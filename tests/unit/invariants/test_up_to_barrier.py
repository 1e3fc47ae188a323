"""Checkpoints that split an operation, and recoveries that end elsewhere than at the barrier, are detected."""

from __future__ import annotations

from typing import Any

from nodes.config import many_groups, one_group
from nodes.invariants import registry
from nodes.trace.checkpoints import BarrierWritten, CheckpointOutcome, TakenBack
from nodes.trace.events import Committed, SharedStep
from tests.unit.invariants.story import Story

NAME = "exactly up to the barrier"
DIGEST = 0xABC


class ReportedStory(Story):
    """Two groups: mds1 is active in g1, mds2 in g2."""

    def shared(
        self, server: str, sn: int, step: str, seq: int = 1, commit: bool = True, epoch: int = 1
    ) -> None:
        group = {"mds1": "g1", "mds2": "g2"}[server]
        self.report(server, Committed(group, sn, epoch, sn, [server], 0, [("", 0)], [self.now_ns]))
        self.report(server, SharedStep(group, 1, seq, step, commit, [2] if step == "begin" else []))

    def barrier(self, server: str, sn: int) -> None:
        group = {"mds1": "g1", "mds2": "g2"}[server]
        self.report(server, BarrierWritten(group, "one", 5, sn, 1, sn, DIGEST))

    def decided(self, first: int, second: int, outcome: str = "complete") -> None:
        self.report("mds1", CheckpointOutcome("one", outcome, 5, {"g1": first, "g2": second}))

    def back(self, server: str, sn: int, digest: int = DIGEST, incarnation: int = 1) -> None:
        group = {"mds1": "g1", "mds2": "g2"}.get(server, "g1")
        self.report(server, TakenBack(group, incarnation, "one", 2, sn, sn, digest, 3, 2))

    def judged(self, groups: int = 2) -> dict[str, Any]:
        invariants = registry.start(many_groups(groups, 0) if groups > 1 else one_group(1))
        for stamped in self.events:
            invariants.on_event(stamped)
        invariants.finish()
        return {status["invariant"]: status for status in invariants.invariants()}


def operation(
    votes_at: int, decided_at: int, first: int, second: int, outcome: str = "complete"
) -> dict[str, Any]:
    """g1 coordinates, and its barrier is `first`; g2 votes at `votes_at`, g1 decides at `decided_at`."""
    story = ReportedStory()
    story.shared("mds1", 1, "begin")
    story.shared("mds2", votes_at, "vote")
    story.barrier("mds1", first)
    story.barrier("mds2", second)
    story.shared("mds1", decided_at, "decide")
    story.decided(first, second, outcome)
    return story.judged()


def test_an_operation_on_one_side_of_both_barriers_is_right() -> None:
    assert operation(2, 3, 4, 4)[NAME]["state"] == "green"
    assert operation(5, 5, 4, 4)[NAME]["state"] == "green"


def test_an_operation_across_the_barrier_is_found() -> None:
    reported = operation(2, 5, 4, 4)[NAME]
    assert reported["state"] == "red"
    assert (
        "splits operation 1 of g1: it is before the barrier of g2 and behind that of g1"
        in reported["explanation"]
    )


def test_a_void_checkpoint_may_split_what_it_likes() -> None:
    assert NAME not in operation(2, 5, 4, 4, "void")


def test_a_decision_that_comes_after_the_outcome_counts_too() -> None:
    story = ReportedStory()
    story.shared("mds2", 2, "vote")
    story.decided(4, 4)
    story.shared("mds1", 6, "decide")
    assert story.judged()[NAME]["state"] == "red"


def test_another_digest_or_group_than_the_barrier_s_is_found() -> None:
    for sn, digest in ((4, 0xDEF), (5, DIGEST), (3, DIGEST)):
        story = ReportedStory()
        story.barrier("mds1", 4)
        story.decided(4, 4)
        story.back("mds1", sn, digest)
        assert "the barrier is group 4" in story.judged()[NAME]["explanation"]


def test_a_group_that_goes_on_elsewhere_is_found() -> None:
    story = ReportedStory()
    story.barrier("mds1", 4)
    story.decided(4, 4)
    story.back("mds1", 4)
    story.shared("mds1", 6, "begin", epoch=3)
    assert "goes on with group 6" in story.judged()[NAME]["explanation"]


def test_nobody_who_has_the_checkpoint_is_found() -> None:
    story = ReportedStory()
    story.decided(4, 4)
    story.back("mds1", 0, 0)
    assert "no server of g1 has checkpoint one" in story.judged()[NAME]["explanation"]
    story.back("mds3", 4)
    assert story.judged()[NAME]["state"] == "green"


def test_what_was_set_aside_is_no_lost_write() -> None:
    """Groups 2 and 3 are written again in another epoch, and call 2 no longer has an effect."""
    story = ReportedStory()
    story.serve("mds1", 1, 1)
    story.barrier("mds1", 1)
    story.commit("mds1", 2, 1, 1)
    story.call(1, ["Mkdir", "/d", False, 0o755], (2, 1), ["Made", 2])
    story.commit("mds1", 3, 1, 2)
    story.call(2, ["Mkdir", "/e", False, 0o755], (3, 1), ["Made", 3])
    story.decided(1, 1)
    plain = {name: status["state"] for name, status in story.judged(1).items()}
    assert "red" not in plain.values()
    story.report("mds1", TakenBack("g1", 1, "one", 2, 1, 1, DIGEST, 2, 2))
    story.serve("mds1", 2, 3)
    story.commit("mds1", 3, 3, 3)
    story.call(3, ["Mkdir", "/d", False, 0o755], (3, 1), ["Made", 9], epoch=3)
    invariants = {name: status["state"] for name, status in story.judged(1).items() if name != NAME}
    assert "red" not in invariants.values()
    assert invariants["linearisable"] == "green"


def test_the_checks_go_on_from_the_barrier() -> None:
    """Objects from before the barrier are there afterwards, whatever a server reports; quarantined operations are not."""
    for error, state in (("EEXIST", "green"), ("ENOENT", "red")):
        story = ReportedStory()
        story.serve("mds1", 1, 1)
        story.commit("mds1", 2, 1, 1)
        story.call(1, ["Mkdir", "/d", False, 0o755], (2, 1), ["Made", 2])
        story.commit("mds1", 3, 1)
        story.barrier("mds1", 3)
        story.commit("mds1", 4, 1, 2)
        story.call(2, ["Mkdir", "/e", False, 0o755], (4, 1), ["Made", 3])
        story.decided(3, 3)
        story.report("mds1", TakenBack("g1", 1, "one", 2, 3, 3, DIGEST, 1, 1))
        story.serve("mds1", 4, 2)
        story.commit("mds1", 5, 2, 3)
        story.call(3, ["Mkdir", "/e", False, 0o755], (5, 1), ["Made", 9], epoch=2)
        story.call(4, ["Mkdir", "/d", False, 0o755], (5, 1), error=error, epoch=2)
        assert story.judged(1)["linearisable"]["state"] == state
