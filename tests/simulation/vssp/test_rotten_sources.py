"""One of the sources of an image has a rotten replica, which it cannot notice: the others' replicas are enough for a junior."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, Knobs
from tests.simulation.disks.images_found import image_behind
from tests.simulation.mams.lab import Lab


@pytest.mark.parametrize("kind", ["p00", "p01", "manifest"])
@pytest.mark.parametrize("place", range(2))
def test_a_junior_reads_past_a_rotten_replica(kind: str, place: int) -> None:
    """Its journal does not reach to those of the others, and without writes there is no other image."""
    knobs = Knobs(segment_bytes=600)
    lab = Lab(1, standbys=2, image_every=60, image_gap=40, knobs=knobs)
    active, (junior, other) = lab.active, lab.standbys
    image = image_behind(lab, junior)
    source = (active, other)[place]
    data = lab.cluster.servers[source].store.files[image.replace("manifest", kind)].data
    data[len(data) // 2] ^= 1
    lab.faults.restart(junior)
    lab.cluster.run_until(lambda: lab.cluster.view().get(junior) == "S", 60 * SECOND)
    lab.finish()
    assert lab.broken() == {}
