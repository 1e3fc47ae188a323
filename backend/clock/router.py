"""`/api/clock`: the virtual time of a simulated cluster."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter

from backend.clock.models import ClockChange, ClockOut
from backend.cluster_bounds import ClusterBounds
from backend.dependencies import TheLab
from backend.errors import Impossible, Malformed
from backend.fabrics.clock import ClockState
from backend.running_cluster import Running
from backend.scenarios.conditions import state_condition
from backend.simulated.fabric import SimulatedFabric
from backend.store.encoding import KINDS
from backend.suggestion import nearest

router = APIRouter(prefix="/api", tags=["clock"])


@router.get("/clock", response_model=ClockOut)
async def read_clock(lab: TheLab) -> dict[str, Any]:
    return msgspec.structs.asdict(simulated(lab).clock)


@router.post("/clock", response_model=ClockOut)
async def change_clock(change: ClockChange, lab: TheLab) -> dict[str, Any]:
    """Plays, pauses, steps, or changes the speed."""
    return msgspec.structs.asdict(await changed(simulated(lab), change, lab.bounds))


def simulated(lab: Running) -> SimulatedFabric:
    """Raises Impossible for a cluster of real servers."""
    if not isinstance(lab.fabric, SimulatedFabric):
        raise Impossible("real servers live in real time: only a simulated cluster has a clock to control")
    return lab.fabric


async def changed(
    fabric: SimulatedFabric, change: ClockChange, bounds: ClusterBounds | None = None
) -> ClockState:
    """Raises Malformed, NotThere, Impossible, Unavailable."""
    if bounds is not None:
        bounds.check_time(fabric.now_ns)
    until = bool(change.until_ns or change.until_event or change.until_condition)
    if change.until_event and change.until_event not in KINDS:
        others = nearest(change.until_event, KINDS) or f"; there are {', '.join(sorted(KINDS))}"
        raise Malformed(f"no event is called {change.until_event!r}{others}")
    if change.until_condition:
        state_condition(change.until_condition)
    if change.step is not None:
        if until or change.playing or change.speed is not None:
            raise Malformed("a step pauses the clock: leave playing, speed and until out")
        return await fabric.step(change.step)
    if until and change.playing is False:
        raise Malformed("until plays the clock: leave playing out")
    playing = until or (fabric.clock.playing if change.playing is None else change.playing)
    speed = fabric.clock.speed if change.speed is None else change.speed
    kept = fabric.clock if not until and change.playing is None else change
    until_ns = kept.until_ns
    if bounds is not None:
        bounds.check_speed(speed)
        until_ns = min(until_ns or bounds.until_ns, bounds.until_ns)
    return await fabric.set_clock(playing, speed, until_ns, kept.until_event, kept.until_condition)
