"""An invariant that gave up, or that checked nothing although changes were acknowledged, counts as a failure of the run."""

from __future__ import annotations

from nodes.config import one_group
from nodes.invariants import registry
from tests.unit.invariants.story import Story, good


def unjudged(story: Story, finish: bool = True) -> dict[str, str]:
    invariants = registry.start(one_group())
    for stamped in story.events:
        invariants.on_event(stamped)
    if finish:
        invariants.finish()
    return {each.invariant: each.explanation for each in invariants.unjudged}


def test_nothing_is_asked_of_a_cluster_that_nobody_uses() -> None:
    assert unjudged(Story()) == {}


def test_a_check_that_has_checked_nothing_is_a_failure_at_the_end_only() -> None:
    story = good()
    assert set(unjudged(story)) == {"same sn same state"}
    assert unjudged(story, finish=False) == {}


def test_a_check_that_gave_up_is_a_failure_at_once() -> None:
    story = Story()
    story.serve("mds1", 7, 1)
    story.commit("mds1", 8, 1, 1)
    story.call(1, ["Mkdir", "/d", False, 0o755], (8, 1), ["Made", 2])
    assert "before the check began" in unjudged(story)["linearisable"]
