"""A dead client holds its file for some session lifetimes, not for ever."""

from __future__ import annotations

import pytest

from nodes.config import one_group
from nodes.explore.plan import Plan
from nodes.explore.trial import run
from nodes.mutations import Mutations


@pytest.mark.parametrize("ttl_ms", [2_000, 20_000, 600_000])
@pytest.mark.parametrize("never", [True, False])
def test_a_file_that_stays_held_is_seen(never: bool, ttl_ms: int) -> None:
    """Sessions of ten minutes are not waited for."""
    cluster = one_group(2, session_ttl_ms=ttl_ms, mutations=Mutations(sessions_never_end=never))
    failures = [(each.invariant, each.place) for each in run(Plan(1, cluster, span_ms=500)).failures]
    assert failures == ([("service", "hold")] if never and ttl_ms < 600_000 else [])
