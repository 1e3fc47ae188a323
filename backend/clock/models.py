"""The clock of a simulated cluster, and changes of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backend.clusters.models import Strict
from backend.fabrics.clock import ClockState
from backend.served_models import served_as
from backend.simulated.pace import FASTEST, SLOWEST

LATEST_NS = 1 << 60
ClockOut = served_as(ClockState)


class ClockChange(Strict):
    """What is left out stays as it is. A step pauses the clock."""

    playing: bool | None = None
    speed: float | None = Field(
        default=None, ge=SLOWEST, le=FASTEST, allow_inf_nan=False, description="Virtual time per wall time."
    )
    until_ns: int = Field(
        default=0, ge=0, le=LATEST_NS, description="Plays, and pauses at this virtual instant; 0 for none."
    )
    until_event: str = Field(
        default="", max_length=40, description="Plays, and pauses after the next event of this kind."
    )
    until_condition: str = Field(
        default="",
        max_length=120,
        description="Plays, and pauses when this condition on the state holds, as of `wait`.",
    )
    step: Literal["event", "message"] | None = Field(
        default=None, description="Advances to the next instant with an event, or with a delivered message."
    )
