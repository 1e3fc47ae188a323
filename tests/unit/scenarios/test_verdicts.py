"""Every expectation can fail, and reports the observed state."""

from __future__ import annotations

import pytest

from backend.picture import Picture
from backend.scenarios.conditions import Situation, condition
from backend.scenarios.facts import Facts, asks
from backend.scenarios.model import ExpectPart
from backend.scenarios.outages import Outages
from backend.scenarios.verdicts import ExpectationVerdict, Judge
from nodes.config import many_groups
from nodes.invariants import registry
from nodes.trace.base import Event
from nodes.trace.block_events import BlockHealth, FileCalled, ReplicaDamaged
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Serving, Stamped, Started, StepTaken

CONFIG = many_groups(2, 1)


class Seen:
    """A cluster of two groups, reduced from events."""

    def __init__(self) -> None:
        self.picture = Picture.of(CONFIG, {}, ["client1"])
        self.situation = Situation(self.picture)
        self.outages = Outages()
        self.facts = Facts()
        self.judge = Judge(
            self.situation, registry.start(CONFIG), self.outages, {}, self.facts, lambda text: 0
        )
        self._number = 0

    def report(self, server: str, *events: Event) -> None:
        for event in events:
            self._number += 1
            stamped = Stamped(server, 1, self._number, self._number, 0, event)  # type: ignore[arg-type]
            self.picture.apply(stamped, self._number)
            self.situation.on_event(stamped)
            self.outages.on_event(stamped)

    def verdict(self, expect: ExpectPart) -> ExpectationVerdict:
        (verdict,) = self.judge.verdicts(expect)
        return verdict

    def so(self, text: str) -> bool:
        return condition(text)(self.situation)


def rolled_back(group: str, incarnation: int, checkpoint: str, operations: int) -> TakenBack:
    return TakenBack(group, incarnation, checkpoint, 2, 5, 5, 5, operations, operations)


@pytest.fixture
def seen() -> Seen:
    seen = Seen()
    for name in ("mds1", "mds2", "mds3", "mds4"):
        seen.report(name, Started(1, name, 0))
    return seen


@pytest.mark.parametrize(
    ("wanted", "held"), [("complete", True), ("void", False), ("aside", False), ("incomplete", False)]
)
def test_the_state_of_a_checkpoint(seen: Seen, wanted: str, held: bool) -> None:
    seen.facts.checkpoints = {"noon": "complete"}
    verdict = seen.verdict(ExpectPart(checkpoints={"noon": wanted}))  # type: ignore[dict-item]
    assert (verdict.held, verdict.seen) == (held, "complete")


@pytest.mark.parametrize("known", [{}, {"noon": "void"}])
def test_a_checkpoint_that_was_never_begun_is_as_incomplete_as_a_void_one(
    seen: Seen, known: dict[str, str]
) -> None:
    seen.facts.checkpoints = known
    assert seen.verdict(ExpectPart(checkpoints={"noon": "incomplete"})).held
    assert not seen.verdict(ExpectPart(checkpoints={"noon": "complete"})).held


def test_everybody_who_runs_must_be_rolled_back(seen: Seen) -> None:
    expect = ExpectPart(rolled_back="noon")
    for name in ("mds1", "mds2", "mds3"):
        seen.report(name, rolled_back("g1", 1, "noon", 7))
    assert seen.verdict(expect) == ExpectationVerdict("rolled back to noon", False, "not mds4")
    seen.report("mds4", rolled_back("g2", 1, "noon", 7))
    assert seen.verdict(expect).held
    seen.report("mds1", rolled_back("g1", 2, "earlier", 7))
    assert not seen.verdict(expect).held


def test_what_is_quarantined_is_counted_once_in_each_group(seen: Seen) -> None:
    seen.report("mds1", rolled_back("g1", 1, "noon", 40))
    seen.report("mds2", rolled_back("g1", 1, "noon", 30))
    seen.report("mds3", rolled_back("g2", 1, "noon", 2))
    assert seen.verdict(ExpectPart(quarantined=42)).held
    assert seen.verdict(ExpectPart(quarantined=43)) == ExpectationVerdict("quarantined ≥ 43", False, "42")
    seen.report("mds1", rolled_back("g1", 2, "noon", 1))
    assert seen.verdict(ExpectPart(quarantined=2)).seen == "1"


def test_namespaces_that_nobody_has_looked_at_are_not_clean(seen: Seen) -> None:
    assert not seen.verdict(ExpectPart(fsck="clean")).held
    seen.facts.faults = []
    assert seen.verdict(ExpectPart(fsck="clean")).held
    seen.facts.faults = ["orphan inode: 7", "orphan inode: 8"]
    assert seen.verdict(ExpectPart(fsck="clean")).seen == "2 faults: orphan inode: 7"


@pytest.mark.parametrize("health", ["under", "over", "missing"])
def test_one_block_that_is_not_whole_is_enough(seen: Seen, health: str) -> None:
    assert seen.verdict(ExpectPart(blocks="whole")).held and seen.so("blocks whole")
    seen.report("mds1", BlockHealth("g1", 1, 5, 1, 9, health, []))
    assert seen.verdict(ExpectPart(blocks="whole")) == ExpectationVerdict(
        "blocks: whole", False, f"1 {health}"
    )
    assert seen.so(f"blocks {health}") and not seen.so("blocks whole")
    seen.report("mds1", BlockHealth("g1", 1, 5, 1, 9, "whole", ["dn1"]))
    assert seen.verdict(ExpectPart(blocks="whole")).held
    seen.report("mds1", BlockHealth("g1", 1, 5, 1, 9, health, []))
    seen.report("mds1", BlockHealth("g1", 1, 5, 1, 9, "freed", []))
    assert seen.verdict(ExpectPart(blocks="whole")).held


def test_events_are_counted_since_the_workload_began(seen: Seen) -> None:
    damaged = ReplicaDamaged(5, 1, "at offset 0")
    seen.report("dn1", damaged)
    seen.situation.begin_count()
    seen.report("dn2", damaged)
    assert seen.verdict(ExpectPart(reported={"ReplicaDamaged": 1})).held
    assert not seen.verdict(ExpectPart(reported={"ReplicaDamaged": 2})).held


def test_a_condition_hears_only_what_came_since_the_step_before(seen: Seen) -> None:
    seen.report("dn1", ReplicaDamaged(5, 1, "at offset 0"))
    seen.report("mds3", StepTaken("checkpoint", "drain", "", "", 1))
    assert seen.so("told ReplicaDamaged") and seen.so("told ReplicaDamaged by dn1")
    assert not seen.so("told ReplicaDamaged by dn2")
    assert seen.so("step checkpoint drain of g2") and not seen.so("step checkpoint drain of g1")
    seen.situation.begin_step()
    assert not seen.so("told ReplicaDamaged") and not seen.so("step checkpoint drain of g2")


@pytest.mark.parametrize(("error", "failed"), [("", 0), ("ENOENT", 0), ("EIO", 1), ("EBADMSG", 1)])
def test_a_file_that_cannot_be_read_or_holds_something_else_is_a_failed_call(
    seen: Seen, error: str, failed: int
) -> None:
    seen.report("client1", FileCalled("c", "get", "/f", 9, 1, 2, error, -1, 0))
    verdict = seen.verdict(ExpectPart(failed_calls=0))
    assert verdict.held == (not failed) and verdict.seen.startswith(f"{failed} of 1")


def test_what_an_active_reported_of_blocks_is_not_held_against_its_successor(seen: Seen) -> None:
    """The next active finds the blocks whole and does not report them."""
    seen.report("mds1", BlockHealth("g1", 1, 7, 1, 10, "under", ["dn1"]))
    seen.report("mds3", BlockHealth("g2", 1, 8, 1, 10, "over", ["dn1"]))
    seen.report("mds2", Serving("g1", 2, 5, 0))
    assert not seen.so("blocks under") and seen.so("blocks over")


def test_only_some_expectations_have_to_be_asked_for() -> None:
    assert asks(ExpectPart(fsck="clean")) and asks(ExpectPart(checkpoints={"noon": "void"}))
    assert not asks(ExpectPart(settled=True, blocks="whole", reported={"Cut": 1}))


def test_a_group_that_does_not_serve_names_what_its_servers_are() -> None:
    seen = Seen()
    verdict = seen.verdict(ExpectPart(serving=True, group="g1"))
    assert not verdict.held
    assert (
        verdict.seen.startswith("False; mds1 stopped as down at sn 0 of epoch 0") and "mds2" in verdict.seen
    )
    assert "mds3" not in verdict.seen and "mds3" in seen.verdict(ExpectPart(settled=True)).seen
