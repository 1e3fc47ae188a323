"""A server that finds an image after a crash, of which a power loss may undo the name: it begins from it when
the name is durable."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, Knobs
from nodes.metadata.operations import Create, List, Mkdir
from tests.simulation.data.test_names_found import Named
from tests.simulation.mams.lab import Lab


def images(lab: Lab, name: str) -> set[str]:
    """The images with a manifest on this disk."""
    return {path for path in lab.cluster.servers[name].store.files if path.endswith(".manifest")}


def parts(lab: Lab, name: str, image: str) -> dict[str, int]:
    """The sizes of an image's partitions on this disk."""
    beginning = image.removesuffix("manifest") + "p"
    files = lab.cluster.servers[name].store.files
    return {path: len(file.data) for path, file in files.items() if path.startswith(beginning)}


def crashed_while_it_names_an_image(lab: Lab, junior: str) -> None:
    """A member is behind and reads an image; it crashes when the manifest has its name."""
    active = lab.active
    lab.faults.crash(junior)
    lab.cluster.run_until(lambda: junior not in lab.cluster.configured["g1"], 60 * SECOND)
    for number in range(600):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(8_000)
    image, store = max(images(lab, active)), lab.cluster.servers[junior].store
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
    """All lose power and one disk is lost; two of three, both standbys, have kept theirs."""
    knobs = Knobs(segment_bytes=600)
    lab = Lab(seed, standbys=2, protocol=protocol, image_every=60, image_gap=40, knobs=knobs)
    junior, other = lab.standbys
    crashed_while_it_names_an_image(lab, junior)
    lab.run_ms(100)
    lab.faults.restart(junior)
    lab.cluster.run_until(lambda: lab.cluster.view().get(junior) == "S", 60 * SECOND)
    lab.ada.call(Create("/acknowledged"))
    lab.run_ms(3_000)
    active = lab.active
    for name in lab.cluster.view():
        lab.faults.power_loss(name, torn="nothing")
    lab.faults.gone(active)
    for name in {junior, other} - {active}:
        lab.faults.restart(name)
    listing = lab.begin(lab.eve, List("/"))
    lab.cluster.run_until(listing.done, 120 * SECOND)
    assert "acknowledged" in str(listing.result())
    assert lab.broken() == {}
