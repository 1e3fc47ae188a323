"""Images whose bytes may not be on the medium, because a process ended before their sync, or by a failed one:
no manifest covers them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nodes.config import SECOND, Knobs
from tests.simulation.disks.images_found import image_behind, images, outlives_a_power_loss, parts
from tests.simulation.mams.lab import Lab
from tests.simulation.vssp.lab import PoolLab, partitions_of, ready, survey
from tests.simulation.vssp.test_read_meanwhile import damaged


def restart(lab: PoolLab) -> None:
    """Crashes n3, and starts it on a sound disk."""
    store = lab.cluster.servers["n3"].store
    lab.cluster.faults.crash("n3")
    store.mend()
    lab.cluster.faults.restart("n3")
    lab.cluster.run_for(SECOND)


def sizes(lab: PoolLab, name: str) -> dict[str, int]:
    return {path: len(data) for path, data in partitions_of(lab, name).items()}


def crashed_before_the_sync(seed: int) -> PoolLab:
    """n3 has read every byte of an image when it crashes, and has synced none."""
    lab = ready(seed, files=2_000)
    lab.cluster.servers["n3"].store.slow_ns = 5 * SECOND
    lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    lab.until(lambda: sizes(lab, "n3") == sizes(lab, "n1"))
    restart(lab)
    return lab


def crashed_after_a_failed_sync(seed: int) -> PoolLab:
    """As `crashed_before_the_sync`; no later sync writes these bytes."""
    lab = ready(seed, files=2_000)
    lab.cluster.servers["n3"].store.failing["sync"] = 1
    task = lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    lab.until(task.done)
    assert isinstance(task.exception(), OSError) and any(sizes(lab, "n3").values())
    restart(lab)
    return lab


def assert_whole_after_a_power_loss(lab: PoolLab) -> None:
    assert any(path.endswith(".manifest") for path in lab.files("n3"))
    assert damaged(lab, "n3") == [] and lab.equal("n3")
    lab.cluster.run_for(5 * SECOND)
    lab.cluster.faults.power_loss("n3", torn="nothing")
    assert any(path.endswith(".manifest") for path in lab.files("n3"))
    assert damaged(lab, "n3") == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("begun", [crashed_before_the_sync, crashed_after_a_failed_sync])
def test_an_image_that_is_read_to_its_end_survives_a_power_loss(
    begun: Callable[[int], PoolLab], seed: int
) -> None:
    lab = begun(seed)
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None)) is not None
    assert_whole_after_a_power_loss(lab)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("begun", [crashed_before_the_sync, crashed_after_a_failed_sync])
def test_an_image_that_is_repaired_survives_a_power_loss(begun: Callable[[int], PoolLab], seed: int) -> None:
    lab = begun(seed)
    survey(lab)
    lab.until(lambda: any(path.endswith(".manifest") for path in lab.files("n3")))
    assert_whole_after_a_power_loss(lab)


# --- a group -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
@pytest.mark.parametrize("seed", range(2))
def test_a_member_that_was_renewed_from_an_image_outlives_a_power_loss(protocol: str, seed: int) -> None:
    knobs = Knobs(segment_bytes=600)
    lab = Lab(seed, standbys=2, protocol=protocol, image_every=60, image_gap=40, knobs=knobs)
    active, (junior, other) = lab.active, lab.standbys
    image = image_behind(lab, junior)
    lab.faults.restart(junior)
    while not parts(lab, active, image) or parts(lab, active, image) != parts(lab, junior, image):
        lab.cluster.run_for(20_000)
    assert image not in images(lab, junior)
    lab.faults.crash(junior)
    lab.run_ms(100)
    lab.faults.restart(junior)
    outlives_a_power_loss(lab, junior, other)
