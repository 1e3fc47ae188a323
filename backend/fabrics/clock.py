"""The clock of a cluster in virtual time, as a person controls it."""

from __future__ import annotations

from typing import Literal

import msgspec

Step = Literal["event", "message"]


class ClockState(msgspec.Struct, frozen=True):
    """Virtual time, and how it passes."""

    now_ns: int
    """Virtual time since the cluster began."""
    playing: bool = True
    speed: float = 1.0
    """Virtual time per wall time, as requested."""
    reached: float = 0.0
    """The speed of the last second; lower than requested where the machine cannot keep up. 0 while it is not known."""
    until_ns: int = 0
    """The instant at which the clock pauses by itself; 0 for none."""
    until_event: str = ""
    """The kind of event after which the clock pauses by itself; empty for none."""
    until_condition: str = ""
    """The condition on the state (as of `wait`) with which the clock pauses by itself; empty for none."""
    met: str = ""
    """What the clock has paused at by itself: a condition, a kind of event or an instant; empty after any other change."""
