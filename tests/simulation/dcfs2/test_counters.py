"""The counters of an active agree with the observed events."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from nodes.config import SECOND
from nodes.metadata.operations import Create, Mkdir
from nodes.metadata.pages import Counters
from nodes.wire.messages import CrossGroupMessage
from tests.simulation.dcfs2.lab import Groups


def counters(lab: Groups, server: str) -> Counters | None:
    reported: Any = lab.cluster.ask(server, {"do": "counters"})["counters"]
    return None if reported is None else msgspec.convert(reported, Counters)


def of_actives(lab: Groups) -> list[Counters]:
    found = [counters(lab, lab.active(group.number)) for group in lab.config.groups]
    return [each for each in found if each is not None]


def test_counters_agree_with_the_tree_and_with_the_messages() -> None:
    lab = Groups(3, 2, 1, placement="random")
    sent: Counter[str] = Counter()
    lab.cluster.hold(
        lambda sender, receiver, message: (
            isinstance(message, CrossGroupMessage)
            and not sent.update([sender])  # type: ignore[func-returns-value]
            and False
        )
    )
    lab.ada.call(Mkdir("/a"))
    for number in range(12):
        lab.ada.call(Create(f"/a/f{number}"))
    lab.cluster.run_until(lab.quiet, 10 * SECOND)
    reported, pages = of_actives(lab), lab.pages()
    assert [each.objects for each in reported] == [len(page.inodes) for page in pages]
    assert [each.branch_points for each in reported] == [page.branch_points for page in pages]
    assert [each.sent for each in reported] == [sent[lab.active(group.number)] for group in lab.config.groups]
    assert sum(each.done for each in reported) == sum(page.branch_points for page in pages) > 0
    assert [(each.open, each.aborted) for each in reported] == [(0, 0)] * 2


def test_only_the_active_counts_and_a_new_one_begins_anew() -> None:
    lab = Groups(5, 2, 1, placement="random")
    for number in range(8):
        lab.ada.call(Mkdir(f"/d{number}"))
    old = lab.active(1)
    before = counters(lab, old)
    assert before is not None and before.done > 0
    assert [name for name in lab.servers(1) if counters(lab, name) is not None] == [old]
    lab.cluster.run_until(lab.quiet, 10 * SECOND)
    lab.cluster.faults.crash(old)
    lab.cluster.run_until(lambda: counters_of_first(lab, old) is not None, 60 * SECOND)
    after = counters_of_first(lab, old)
    assert after is not None
    assert (after.objects, after.branch_points) == (before.objects, before.branch_points)
    assert (after.done, after.open) == (0, 0)


def counters_of_first(lab: Groups, but: str) -> Counters | None:
    """Counters of the first group's active, unless that is `but`."""
    found = [counters(lab, name) for name in lab.servers(1) if name != but]
    return next((each for each in found if each is not None), None)
