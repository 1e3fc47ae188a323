"""A read never returns a state older than an answered write, even at a group that has not received the decision yet."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, Rename, Stat
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of, held


@pytest.mark.parametrize("seed", range(3))
def test_a_directory_is_not_reported_without_a_name_that_was_answered(seed: int) -> None:
    """The coordinator has decided a rename and answered; the new parent's group still only knows its promise."""
    lab = Groups(seed, 2, 1, placement="random")
    old, new = directory_of(lab, 1), directory_of(lab, 2)
    lab.ada.call(Create(f"{old}/f"))
    lab.eve.call(Stat(new))
    decisions = held(lab, "Decision", lab.servers(2))
    lab.ada.call(Rename(f"{old}/f", f"{new}/g"))
    assert decisions.messages
    lab.calls.append(lab.eve.spawn(Stat(new)))
    lab.cluster.run_for(SECOND // 10)
    decisions.release()
    lab.all_returned()
    lab.finish()
    assert lab.calls[0].result().result.entries == 1
