"""What the clock of a simulated cluster pauses at by itself: an instant, an event, or a condition on the state."""

from __future__ import annotations

from collections.abc import Iterable

from backend.errors import Impossible
from backend.names import CLIENT
from backend.picture import Picture
from backend.scenarios.conditions import Condition, Situation, holds_now, state_condition
from backend.simulated.cluster import is_own_client
from backend.simulated.inputs import ClusterOrigin
from nodes.config import SECOND
from nodes.trace.events import Stamped


class AutomaticPause:
    """`on_events` is given every event of the cluster, once and in order; `met` names what has come of that which the clock runs until."""

    def __init__(self, origin: ClusterOrigin):
        callers = [caller.name for caller in origin.plan.callers] if origin.plan is not None else []
        self._picture = Picture.of(origin.cluster, {}, [CLIENT, *callers])
        self._holds: Condition | None = None
        self.until_ns, self.until_event, self.until_condition = 0, "", ""
        self.met = ""

    @property
    def at_events(self) -> bool:
        """Whether an event may end the run."""
        return bool(self.until_event or self.until_condition)

    def check(self, condition: str) -> None:
        """Empty is none. Raises Malformed for no condition on the state, NotThere where it names nobody, Impossible where it holds already."""
        if condition and holds_now(condition, self._picture):
            raise Impossible(f"holds already: {condition}")

    def begin(self, until_ns: int = 0, until_event: str = "", until_condition: str = "") -> None:
        """Whichever comes first ends the run; 0 and empty are none."""
        self.until_ns, self.until_event, self.until_condition = until_ns, until_event, until_condition
        self._holds = state_condition(until_condition) if until_condition else None
        self.met = ""

    def end(self) -> None:
        """The clock has paused; `met` stays."""
        met = self.met
        self.begin()
        self.met = met

    def on_events(self, events: Iterable[Stamped]) -> None:
        for stamped in events:
            if is_own_client(stamped):
                continue
            self._picture.apply(stamped, 0)
            if self.met or not self.at_events:
                continue
            if type(stamped.event).__name__ == self.until_event:
                self.met = self.until_event
            elif self._holds is not None and self._holds(Situation.of(self._picture)):
                self.met = self.until_condition

    def at(self, now_ns: int) -> bool:
        """Whether the clock pauses now."""
        if not self.met and self.until_ns and now_ns >= self.until_ns:
            self.met = f"{self.until_ns / SECOND:.9g} s"
        return bool(self.met)
