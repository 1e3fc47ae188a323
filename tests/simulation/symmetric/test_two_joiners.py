"""Two servers come back at once: one of them lacks groups that the members have pruned."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir
from nodes.storage import journal_file
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.mark.parametrize("missed", [80, 120])
def test_a_joiner_that_reads_an_image_keeps_no_other_one_waiting(
    monkeypatch: pytest.MonkeyPatch, missed: int
) -> None:
    """Its disk is so slow that the image does not become durable. The other one needs groups alone, too many for a view change."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 2_000)
    lab = SymmetricLab(1, members=4, image_every=60)
    lab.asks(lab.eve, "mds1")
    *_, reads, other = lab.names
    lab.faults.crash(reads)
    lab.run_ms(2_000)
    write(lab, "a", 400)
    lab.run_ms(3_000)
    lab.faults.crash(other)
    lab.run_ms(2_000)
    write(lab, "b", missed)
    lab.faults.restart(reads)
    lab.cluster.run_until(lambda: lab.letters[2] == "J")
    lab.faults.slow_disk(reads, ms=60_000)
    lab.run_ms(600)
    lab.faults.restart(other)
    lab.run_ms(5_000)
    assert lab.letters == "MMJM"
    lab.faults.slow_disk(reads, ms=0)
    lab.finish()
    assert lab.broken() == {}


def write(lab: SymmetricLab, prefix: str, count: int) -> None:
    for number in range(count):
        lab.ada.call(Mkdir(f"/{prefix}{number}"))
