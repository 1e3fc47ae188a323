"""Files written and read while servers fail (CFS Fig. 10)."""

from __future__ import annotations

import pytest

from tests.simulation.data.lab import DataLab, content

LENGTH = 1_000_000


def test_what_was_put_is_got() -> None:
    lab = DataLab(1)
    for number, length in enumerate((0, 1, 511, 512, 65_535, 65_536, 65_537, 300_001)):
        octets = content(number, length)
        lab.put(f"/f{number}", octets)
        assert lab.get(f"/f{number}") == octets
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("share", [0.3, 0.6])
@pytest.mark.parametrize("seed", range(3))
def test_a_write_survives_the_crash_of_the_active(share: float, seed: int) -> None:
    lab = DataLab(seed)
    octets = content(seed, LENGTH)
    task = lab.begin_put("/f", octets)
    lab.until(lambda: lab.parts_given * 50_000 >= share * LENGTH)
    assert not task.done()
    lab.faults.crash(lab.active)
    lab.until(task.done)
    assert task.result() == LENGTH
    assert lab.get("/f") == octets
    lab.finish()
    assert lab.broken() == {}
