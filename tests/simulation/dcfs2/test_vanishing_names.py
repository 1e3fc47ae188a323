"""Calls of several steps whose names vanish meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import (
    ContentSummary,
    Create,
    Delete,
    Made,
    Mkdir,
    Operation,
    Stat,
    Summary,
)
from nodes.wire.messages import Request
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups


def result_across(lab: Groups, operation: Operation, path: str, *meanwhile: Operation) -> Any:
    """The result of eve's call, whose look at a path is on its way while ada makes other calls."""
    held = lab.cluster.hold(
        lambda sender, receiver, message: (
            sender == "eve" and type(message) is Request and message.operation == Stat(path)
        )
    )
    task = lab.eve.spawn(operation)
    lab.calls.append(task)
    lab.cluster.run_until(lambda: bool(held.messages), SETTLE_NS)
    for each in meanwhile:
        lab.ada.call(each)
    held.release()
    lab.cluster.run_until(task.done, SETTLE_NS)
    return task.result().result


@pytest.mark.parametrize("seed", range(2))
def test_a_summary_leaves_out_a_file_that_was_removed_meanwhile(seed: int) -> None:
    """The directory itself is there all the time."""
    lab = Groups(seed)
    lab.ada.call(Mkdir("/d"))
    for number in range(5):
        lab.ada.call(Create(f"/d/f{number}"))
    found = result_across(lab, ContentSummary("/d"), "/d/f3", Delete("/d/f3"))
    assert found == Summary(1, 4, 0)
    lab.all_returned()
    lab.finish()


@pytest.mark.parametrize("seed", range(2))
def test_a_summary_leaves_out_a_directory_that_was_removed_meanwhile(seed: int) -> None:
    lab = Groups(seed)
    lab.ada.call(Mkdir("/d/e/x", True))
    lab.ada.call(Create("/d/f"))
    found = result_across(lab, ContentSummary("/d"), "/d/e/x", Delete("/d/e", True))
    assert isinstance(found, Summary) and found.files == 1
    lab.all_returned()
    lab.finish()


@pytest.mark.parametrize("seed", range(2))
def test_mkdir_with_parents_makes_a_directory_that_was_removed_meanwhile(seed: int) -> None:
    """The name was there at the first attempt, and gone when its kind was looked up."""
    lab = Groups(seed)
    lab.ada.call(Mkdir("/d"))
    made = result_across(lab, Mkdir("/d", True), "/d", Delete("/d"))
    there = lab.ada.call(Stat("/d")).result
    assert made == Made(there.inode)  # type: ignore[union-attr]
    lab.all_returned()
    lab.finish()
