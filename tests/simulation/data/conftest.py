"""At the end of each test its cluster is repaired, and no invariant is violated."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.data.lab import LABS


@pytest.fixture(autouse=True)
def all_is_well_in_the_end() -> Iterator[None]:
    LABS.clear()
    yield
    for lab in LABS:
        lab.finish()
        lab.run_ms(10_000)
        assert lab.broken() == {}
        kept = next(each for each in lab.invariants.invariants() if each["invariant"] == "blocks kept")
        assert kept["state"] == "green" and kept["checked"] > 0
