"""A server that is elected without a quorum renews a junior, whatever its journal has behind the last committed group. Nobody can read that from an
image or from the pool."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, Knobs
from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepared
from tests.simulation.mams.lab import Lab


def a_junior_is_needed(standbys: int, lost: int, **settings: Any) -> tuple[Lab, str]:
    """The active removes a standby that it does not reach, and crashes with `lost` others: those that are left have a group that is not committed,
    and are no quorum. Returns the lab and the removed standby."""
    lab = Lab(1, standbys=standbys, **settings)
    old, junior, *others = lab.active, *lab.standbys
    lab.ada.call(Mkdir("/before"))
    lab.faults.cut(old, junior)
    lab.cluster.run_until(lambda: junior not in lab.cluster.configured["g1"], 60 * SECOND)
    unheard = lab.cluster.hold(lambda sender, receiver, message: type(message) is Prepared)
    lab.begin(lab.eve, Mkdir("/under-way"))
    lab.run_ms(20)
    for name in (old, *others[:lost]):
        lab.faults.crash(name)
    unheard.drop()
    return lab, junior


def serves_with(lab: Lab, junior: str) -> None:
    written = lab.begin(lab.ada, Mkdir("/after"))
    lab.cluster.run_until(written.done, 60 * SECOND)
    assert written.exception() is None
    assert junior in lab.cluster.configured["g1"]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_the_elected_sends_a_junior_what_is_not_committed(protocol: str) -> None:
    """More groups than it sends directly: a reading phase would bring none of them, and each takeover in vain leaves another one."""
    lab, junior = a_junior_is_needed(2, 0, protocol=protocol, knobs=Knobs(direct_groups=1))
    serves_with(lab, junior)


def test_a_junior_waits_for_no_image_of_what_is_not_committed() -> None:
    """More groups than are worth an image: each image would end at the last committed group, where the junior is already."""
    lab, junior = a_junior_is_needed(4, 1, image_gap=1, image_every=0)
    serves_with(lab, junior)


@pytest.mark.parametrize("every", [0, 1])
def test_a_junior_waits_for_no_image_when_no_later_one_can_be_taken(every: int) -> None:
    """The newest image ends at the last committed group, and more groups than `image_gap` and `image_every` are not committed."""
    lab = Lab(1, standbys=4, image_gap=1, image_every=every)
    old, junior, other, *_ = lab.active, *lab.standbys
    lab.ada.call(Mkdir("/before"))
    lab.faults.cut(old, junior)
    lab.cluster.run_until(lambda: junior not in lab.cluster.configured["g1"], 60 * SECOND)
    for number in range(5):
        lab.ada.call(Mkdir(f"/more{number}"))
    lab.run_ms(1_000)
    assert lab.cluster.ask(old, {"do": "take_image"}) == {"refused": ""}
    lab.run_ms(3_000)
    unheard = lab.cluster.hold(lambda sender, receiver, message: type(message) is Prepared)
    lab.begin(lab.eve, Mkdir("/under-way"))
    lab.run_ms(20)
    for name in (old, other):
        lab.faults.crash(name)
    unheard.drop()
    serves_with(lab, junior)
