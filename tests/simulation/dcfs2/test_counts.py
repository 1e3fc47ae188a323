"""Messages and log writes of one operation on two groups (DCFS2 §4.2, Fig. 3)."""

from __future__ import annotations

from collections import Counter

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, Delete, Mkdir
from nodes.trace.events import SharedStep
from nodes.wire.messages import CrossGroupMessage
from tests.simulation.dcfs2.lab import Groups


def counted(cross_group: str) -> tuple[Counter[str], Counter[str]]:
    """Messages between the groups, and log records, of one mkdir whose inode has its home in another group."""
    lab = Groups(2, 2, 1, placement="random", cross_group=cross_group)
    lab.ada.call(Mkdir("/a"))
    messages: Counter[str] = Counter()
    held = lab.cluster.hold(
        lambda sender, receiver, message: (
            isinstance(message, CrossGroupMessage)
            and not messages.update([type(message).__name__])  # type: ignore[func-returns-value]
            and False
        )
    )
    for name in ("/b", "/c"):
        lab.cluster.run_for(SECOND)
        messages.clear()
        before = len(lab.cluster.events)
        lab.ada.call(Mkdir(name))
        lab.cluster.run_for(SECOND)
        steps = [s.event for s in lab.cluster.events[before:] if type(s.event) is SharedStep]
        if steps:
            held.drop()
            return messages, Counter(step.step for step in steps)
    raise AssertionError("no directory became a branch point")


def test_s2pc_takes_three_messages_and_four_log_writes() -> None:
    messages, steps = counted("s2pc_mp")
    assert messages == {"OpReq": 1, "CommitReq": 1, "Ack": 1}
    assert steps == {"begin": 1, "vote": 1, "decide": 1, "finish": 1}


def test_the_baseline_takes_five_messages_and_five_log_writes() -> None:
    messages, steps = counted("two_phase")
    assert messages == {"OpReq": 1, "VoteReq": 1, "Vote": 1, "Decision": 1, "Decided": 1}
    assert steps == {"begin": 1, "promise": 1, "decide": 1, "outcome": 1, "end": 1}


@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_an_operation_in_one_group_takes_none(cross_group: str) -> None:
    lab = Groups(2, 2, 1, placement="subtree", cross_group=cross_group)
    lab.ada.call(Mkdir("/a"))
    lab.cluster.run_for(SECOND)
    before = len(lab.cluster.events)
    lab.ada.call(Mkdir("/a/b"))
    assert not any(type(s.event) is SharedStep for s in lab.cluster.events[before:])


def test_by_hash_a_file_stays_with_its_directory_so_that_deleting_it_touches_one_group() -> None:
    """A stated deviation from CFS §5.3."""
    lab = Groups(2, 2, 1, placement="hash")
    for number in range(4):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.ada.call(Create(f"/d{number}/f"))
    lab.cluster.run_for(SECOND)
    before = len(lab.cluster.events)
    for number in range(4):
        lab.ada.call(Delete(f"/d{number}/f"))
    assert not any(type(s.event) is SharedStep for s in lab.cluster.events[before:])
