"""A server that finds an image after a crash, of which a power loss may undo the name: it begins from it when
the name is durable."""

from __future__ import annotations

import pytest

from nodes.config import Knobs
from tests.simulation.data.test_names_found import Named
from tests.simulation.disks.images_found import image_behind, images, outlives_a_power_loss, parts
from tests.simulation.mams.lab import Lab


def crashed_while_it_names_an_image(lab: Lab, junior: str) -> None:
    """A member is behind and reads an image; it crashes when the manifest has its name."""
    active = lab.active
    image, store = image_behind(lab, junior), lab.cluster.servers[junior].store
    lab.faults.restart(junior)
    while not (store.unfinished and parts(lab, active, image) == parts(lab, junior, image) != {}):
        lab.cluster.run_for(20_000)
    assert image not in images(lab, junior)
    store.crash(Named())
    lab.faults.crash(junior)
    assert image in images(lab, junior)


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
@pytest.mark.parametrize("seed", range(2))
def test_an_image_counts_only_when_its_name_survives_a_power_loss(protocol: str, seed: int) -> None:
    knobs = Knobs(segment_bytes=600)
    lab = Lab(seed, standbys=2, protocol=protocol, image_every=60, image_gap=40, knobs=knobs)
    junior, other = lab.standbys
    crashed_while_it_names_an_image(lab, junior)
    lab.run_ms(100)
    lab.faults.restart(junior)
    outlives_a_power_loss(lab, junior, other)
