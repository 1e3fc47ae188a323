"""The sources of copies: a data node that cannot copy its replica does not stop the copying for ever."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.wire.data_messages import Replicate
from tests.simulation.data.lab import DataLab, content

DATA = content(0, 50_000)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("fault", ["cut", "unreadable"])
def test_a_copy_that_fails_is_ordered_from_another_holder_next(seed: int, fault: str) -> None:
    """One holder cannot reach the only target, or cannot read its replica; the other could."""
    lab = DataLab(seed, 4)
    lab.put("/f", DATA)
    lab.until(lambda: lab.counts() == [3])
    lab.run_ms(7_000)
    ((block, holders),) = lab.replicas().items()
    (target,) = set(lab.data_nodes) - set(holders)
    dead = holders[seed % 3]
    left = sorted(set(holders) - {dead})
    ordered: list[str] = []

    def seen(_: str, receiver: str, message: Any) -> bool:
        if type(message) is Replicate:
            ordered.append(receiver)
        return False

    lab.cluster.hold(seen)
    source = left[int(block[7:23], 16) % 2]
    if fault == "cut":
        lab.faults.cut(source, target)
    else:
        lab.faults.fail_disk(source, what="read")
    lab.faults.crash(dead)
    lab.until(lambda: lab.counts() == [3], 120 * SECOND)
    assert ordered[0] == source and set(ordered) == set(left)
    lab.faults.crash(source)
    assert lab.get("/f") == DATA
