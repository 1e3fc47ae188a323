"""A wall clock that jumps ahead carries no record with it; one that was wrong at a start is believed."""

from __future__ import annotations

import pytest

from nodes.config import one_group
from nodes.explore.plan import Caller, Fault, Plan
from nodes.explore.trial import run
from nodes.mutations import Mutations

JUMP = [Fault("skew_clock", [name], {"ms": 60_000}, 500) for name in ("mds1", "mds2", "mds3")]
CALLER = Caller("c1", ["mkdir /a", "mkdir /b", "mkdir /c"], pause_us=800_000)


@pytest.mark.parametrize("protocol", ["mams", "symmetric"])
@pytest.mark.parametrize("jumps", [True, False])
def test_a_stamp_of_the_future_is_seen(jumps: bool, protocol: str) -> None:
    cluster = one_group(2, protocol=protocol, mutations=Mutations(clock_jump_stamps=jumps))
    failures = run(Plan(1, cluster, callers=[CALLER], faults=JUMP, span_ms=3_000)).failures
    assert [(each.invariant, each.place) for each in failures] == ([("true time", "stamp")] if jumps else [])


def test_a_clock_that_was_wrong_at_the_start_is_believed() -> None:
    restart = Fault("crash", ["active of g1"], at_ms=600, for_ms=100)
    plan = Plan(1, one_group(2), callers=[CALLER], faults=[*JUMP, restart], span_ms=6_000)
    assert run(plan).failures == []
