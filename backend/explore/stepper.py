"""A trial in steps of virtual time: it pauses, and its state and story so far are printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console

from nodes.config import SECOND
from nodes.explore.core import calls_in_words
from nodes.explore.plan import Plan, PlanOutcome
from nodes.explore.sim_stage import SimStage
from nodes.explore.trial import Trial
from nodes.sim.cluster import LIMIT_NS
from nodes.sim.loop import Stuck
from nodes.trace import story

console = Console(stderr=True, highlight=False)


class Ended(BaseException):
    """The person ends the trial at a pause; not a failure of the trial."""


class SteppedStage(SimStage):
    """Runs as any simulated stage, with pauses. `on_pause` returns the time of the next one."""

    def __init__(self, plan: Plan, pause_ns: int, on_pause: Callable[[], int]):
        super().__init__(plan.cluster, plan.seed, plan.conditions)
        self._pause_ns = pause_ns
        self._on_pause = on_pause

    def reaches(self, at_ns: int, true: Callable[[], bool]) -> bool:
        while self._pause_ns < at_ns:
            if super().reaches(self._pause_ns, true):
                return True
            self._pause_ns = self._on_pause()
        return super().reaches(at_ns, true)

    def run_until(self, until: int | Callable[[], bool], limit_ns: int = LIMIT_NS) -> None:
        if isinstance(until, int):
            self.reaches(until, lambda: False)
        elif not self.reaches(self.now_ns + limit_ns, until):
            raise Stuck(f"not within {limit_ns / SECOND:g} s of virtual time (seed {self.seed})")


class Stepping:
    """A trial that pauses at a time and then, when steps have a length, after each step. Times are those of the story."""

    def __init__(self, plan: Plan, until_s: float, step_s: float):
        self._stage = SteppedStage(plan, round(until_s * SECOND), self._pause)
        self._trial = Trial(plan, stage=self._stage)
        self._step_ns = round(step_s * SECOND)
        self._seen = 0
        """Number of events before the last pause."""

    def run(self) -> PlanOutcome:
        """Raises Ended."""
        return self._trial.run()

    def _pause(self) -> int:
        self._print()
        if not self._step_ns:
            raise Ended
        try:
            input("Enter: next step, Ctrl-D: end ")
        except (EOFError, KeyboardInterrupt):
            raise Ended from None
        return self._stage.now_ns + self._step_ns

    def _print(self) -> None:
        stage, events = self._stage, self._trial.events
        for line in story.text(story.turns(events[self._seen :])):
            print(line)
        self._seen = len(events)
        view = ", ".join(f"{name} {stage.places.get(name) or each.process}" for name, each in self._servers())
        standing = [" ".join([verb, *targets]) for verb, targets in stage.faults.standing.values()]
        print(f"paused at {stage.now_ns / SECOND:.4f} s: {view}")
        print(f"  faults in force: {', '.join(standing) or 'none'}")
        for client in self._trial.clients:
            state = "done" if client.done else f"waits for {calls_in_words(client)}"
            print(f"  {client.name}: {client.answered} of {client.begun} calls answered; {state}")
        for failure in self._trial.invariants.failures:
            print(f"  violated: {failure.invariant}: {failure.explanation}")

    def _servers(self) -> list[tuple[str, Any]]:
        return [(name, each) for name, each in self._stage.servers.items() if not each.client]
