"""Images on the disks of a group, and the loss of all power after a member began from one."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.metadata.operations import Create, List, Mkdir
from tests.simulation.mams.lab import Lab


def images(lab: Lab, name: str) -> set[str]:
    """The images with a manifest on this disk."""
    return {path for path in lab.cluster.servers[name].store.files if path.endswith(".manifest")}


def parts(lab: Lab, name: str, image: str) -> dict[str, int]:
    """The sizes of an image's partitions on this disk."""
    beginning = image.removesuffix("manifest") + "p"
    files = lab.cluster.servers[name].store.files
    return {path: len(file.data) for path, file in files.items() if path.startswith(beginning)}


def image_behind(lab: Lab, junior: str) -> str:
    """The newest image of the active, after this member has fallen behind it."""
    lab.faults.crash(junior)
    lab.cluster.run_until(lambda: junior not in lab.cluster.configured["g1"], 60 * SECOND)
    for number in range(600):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(8_000)
    return max(images(lab, lab.active))


def outlives_a_power_loss(lab: Lab, junior: str, other: str) -> None:
    """All lose power and one disk is lost; two of three, both standbys, have kept theirs."""
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
