"""A client with as many open calls as its session remembers: further ones wait, and each ends."""

from __future__ import annotations

import pytest

from nodes.config import Knobs, many_groups, one_group
from nodes.explore.plan import Caller, Plan
from nodes.explore.trial import run

MADE = ["mkdir /d", "mkdir /e", "create /d/0", "create /d/1"]
MOVED = ["rename /d/0 /e/0", "rename /d/1 /e/1"]


@pytest.mark.parametrize("protocol", ["mams", "packed-paxos"])
def test_a_call_that_resolves_a_path_needs_no_room_beside_itself(protocol: str) -> None:
    """Another client made the directories: the new name's is resolved by a call within the call."""
    cluster = many_groups(2, 1, protocol=protocol, knobs=Knobs(open_calls=1))
    callers = [Caller("c1", MADE), Caller("c2", MOVED, start_ms=1_000)]
    outcome = run(Plan(1, cluster, callers=callers, span_ms=3_000))
    assert outcome.clean and outcome.answered == len(MADE + MOVED)


def test_more_calls_than_a_session_remembers_wait() -> None:
    cluster = one_group(1, knobs=Knobs(open_calls=2))
    caller = Caller("c1", [f"create /{number}" for number in range(20)], lanes=8)
    outcome = run(Plan(1, cluster, callers=[caller], span_ms=3_000))
    assert outcome.clean and outcome.answered == 20
