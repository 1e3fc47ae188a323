"""A dead client holds its file for some session lifetimes, not for ever."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from nodes.config import one_group
from nodes.errors import FsError
from nodes.explore.file_holds import EVERY, TIMES, acknowledged, awaits_hold
from nodes.explore.plan import Fault, Plan
from nodes.explore.trial import run
from nodes.metadata.operations import Create
from nodes.mutations import Mutations


@pytest.mark.parametrize("ttl_ms", [2_000, 20_000, 600_000])
@pytest.mark.parametrize("never", [True, False])
def test_a_file_that_stays_held_is_seen(never: bool, ttl_ms: int) -> None:
    """Sessions of ten minutes are not waited for."""
    cluster = one_group(2, session_ttl_ms=ttl_ms, mutations=Mutations(sessions_never_end=never))
    failures = [(each.invariant, each.place) for each in run(Plan(EVERY, cluster, span_ms=500)).failures]
    assert failures == ([("service", "hold")] if never and ttl_ms < 600_000 else [])


@pytest.mark.parametrize("verb", ["skew_clock", "drift_clock"])
def test_with_wrong_clocks_no_end_is_awaited(verb: str) -> None:
    """A leader whose clock is a minute behind that of its predecessor ends no session in that minute (mams, seed 156)."""
    plan = Plan(EVERY, one_group(2, session_ttl_ms=2_000))
    assert awaits_hold(plan)
    assert not awaits_hold(
        Plan(EVERY, plan.cluster, faults=[Fault("pause", ["mds1"]), Fault(verb, ["mds1"])])
    )


@pytest.mark.parametrize("errors", [["ETIMEDOUT"], ["ETIMEDOUT", "ESTALE", "EEXIST"], ["ETIMEDOUT"] * TIMES])
def test_a_call_whose_outcome_is_unknown_is_repeated(errors: list[str]) -> None:
    """While a full log makes writes wait, a session may take longer to open than it lasts."""
    left = list(errors)

    async def call(operation: Create) -> None:
        if left:
            raise FsError(left.pop(0))

    prober: Any = SimpleNamespace(client=SimpleNamespace(client=SimpleNamespace(call=call)))
    asyncio.run(acknowledged(prober, Create("/a"), "EEXIST"))
    assert not left


def test_another_error_is_none_of_the_writers() -> None:
    async def call(operation: Create) -> None:
        raise FsError("ENOENT")

    prober: Any = SimpleNamespace(client=SimpleNamespace(client=SimpleNamespace(call=call)))
    with pytest.raises(FsError):
        asyncio.run(acknowledged(prober, Create("/a"), "EEXIST"))
