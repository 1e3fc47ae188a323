"""`/api/explore/failures/N/play`: a failing schedule as a simulated cluster."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from backend.fleet.models import FleetMember
from backend.fleet.router import TheFleet, member
from backend.searches.router import TheSearches

NAME_MAX = 28
"""Characters of a cluster's name, with room for a number."""
router = APIRouter(prefix="/api/explore", tags=["explore"])


@router.post("/failures/{number}/play", response_model=FleetMember)
async def play_failure(number: int, searches: TheSearches, fleet: TheFleet) -> dict[str, Any]:
    """Creates a simulated cluster that plays the smallest schedule, to the same events, and pauses where the promise is broken."""
    plan = searches.failure(number).outcome.plan
    lab = await fleet.play(f"{plan.cluster.protocol}-{plan.seed}"[:NAME_MAX], plan)
    return member(lab.home.path.name, lab)
