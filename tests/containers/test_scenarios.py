"""The scenario files of the other fabrics, unchanged, with real network cuts; times are scaled so that a session is mostly one second.

All files instead of some, in containers of their own: `CLOVERLAB_SCENARIOS=all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.compose import Compose, brought_up, run_in
from backend.hosts import Hosts
from backend.scenarios.reader import read
from tests.chosen import SCENARIOS, chosen, wants_all
from tests.missed import missed
from tests.slowness import slower

ROOT = Path(__file__).resolve().parents[2] / "scenarios"
SCALES = {
    "papers": 0.2, "faults": 0.2, "groups": 0.5, "data": 0.5, "recovery": 0.5, "pool": 0.5, "baselines": 0.5
}  # fmt: skip
"""Scale by directory. In the other directories a hole is open, and the loss depends on milliseconds."""
SLOWER = {
    "faults/coordination-restarts.yaml": 0.5,
    "recovery/clocks-apart.yaml": 1.0,
    "baselines/backupnode-loses-a-write.yaml": 1.0,
}
"""Files that cannot be scaled down: ZooKeeper servers start, or operations are counted."""
FILES = sorted(str(file.relative_to(ROOT)) for kind in SCALES for file in (ROOT / kind).glob("*.yaml"))
EVERY_RUN = (
    "groups/rename-storm.yaml",
    "recovery/a-group-is-down.yaml",
    "pool/packets-damaged.yaml",
    "baselines/qjm-loses-the-active.yaml",
)
"""Files that every run includes. Each shows a case that no other one shows here, and the running hosts of compose.yaml suffice for it."""


@pytest.fixture(scope="module")
def hosts(request: pytest.FixtureRequest) -> Iterator[Compose]:
    """Hosts without the control plane, which a scenario starts itself."""
    if wants_all(SCENARIOS):
        request.getfixturevalue("engine")
        with brought_up(Hosts.of([scenario for file in FILES for scenario in read(ROOT / file)])) as compose:
            yield compose
        return
    shared = request.getfixturevalue("shared")
    shared.mend()
    shared.compose.must("stop", "control")
    yield shared.compose
    shared.compose.must("start", "control")


@pytest.mark.parametrize("file", chosen(EVERY_RUN, FILES, SCENARIOS))
def test_it_holds(hosts: Compose, file: str) -> None:
    scale = slower(SLOWER.get(file, SCALES[file.partition("/")[0]]))
    for outcome in run_in(hosts, ROOT / file, None, scale):
        assert outcome.held, missed(outcome)
        assert outcome.on == "containers" and outcome.calls > 100


def test_what_is_chosen_is_shipped() -> None:
    assert {*EVERY_RUN, *SLOWER} <= set(FILES)
