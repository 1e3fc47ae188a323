"""A trial of the explorer as a simulated cluster that is advanced a little at a time, to the same events as in the search.

A trial is one procedure from its start to its end, and takes each step at an instant of its own. So it has a thread, which runs only while `advance`
waits for it: there is never more than one that touches the simulation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from nodes.explore.plan import Failure, Plan
from nodes.explore.sim_stage import SimStage
from nodes.explore.trial import Trial
from nodes.sim.cluster import LIMIT_NS
from nodes.sim.loop import SECOND, Stuck
from nodes.trace.events import CheckFailed, Stamped

REPORTER = "trial"
"""What the events of a trial's own findings are reported by."""


class Dropped(BaseException):
    """The cluster is dropped before its trial is over. No error of the trial, which would make a failure of it."""


class PlayedStage(SimStage):
    """What its trial, in this thread, runs goes through `run`: to a time, or to a condition; it returns whether that is true."""

    def __init__(self, plan: Plan, thread: threading.Thread, run: Callable[[int, Callable[[], bool]], bool]):
        self._thread = thread
        self._run = run
        self._followers: list[Callable[[Stamped], None]] = []
        super().__init__(plan.cluster, plan.seed, plan.conditions)
        super().on_event(self._pass_on)

    def on_event(self, callback: Callable[[Stamped], None]) -> None:
        self._followers.append(callback)

    def _pass_on(self, stamped: Stamped) -> None:
        for follower in self._followers:
            follower(stamped)

    def leave(self) -> None:
        """The trial is over: it receives no more events, of which it keeps all."""
        self._followers.clear()

    def reaches(self, at_ns: int, true: Callable[[], bool]) -> bool:
        return self._run(at_ns, true)

    def run_until(self, until: int | Callable[[], bool], limit_ns: int = LIMIT_NS) -> None:
        if threading.current_thread() is not self._thread:
            super().run_until(until, limit_ns)
        elif isinstance(until, int):
            self._run(until, never)
        elif not self._run(self.now_ns + limit_ns, until):
            raise Stuck(f"not within {limit_ns / SECOND:g} s of virtual time (seed {self.seed})")


class Playback:
    """`halted` after an advance: it ended early, because a promise is broken or the trial is over."""

    def __init__(self, plan: Plan):
        """Raises BadConditions."""
        self._thread = threading.Thread(target=self._carry_out, name="trial", daemon=True)
        self.stage = PlayedStage(plan, self._thread, self._run)
        self.halted = False
        self.over = False
        self._trial = Trial(plan, stage=self.stage)
        self._known = False
        """Whether the advance has halted at the broken promise."""
        self._until_ns = 0
        self._stop: Callable[[], bool] = never
        self._closed = False
        self._go, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._thread.start()

    # --- the thread of the simulation -----------------------------------------------------------------

    def advance(self, until_ns: int, stop: Callable[[], bool]) -> None:
        """Runs to an instant, or to the end of the first instant after which `stop()` is true, a promise is broken or the trial is over."""
        self.halted = False
        if self.over:
            self.stage.loop.run(until_ns, stop)
            self.stage.loop.run(self.stage.now_ns)
            return
        self._until_ns, self._stop = until_ns, stop
        self._go.release()
        self._done.acquire()

    def close(self) -> None:
        """Ends the thread of a trial that is not over."""
        if not self.over:
            self._closed = True
            self._go.release()
            self._thread.join()

    # --- the thread of the trial ----------------------------------------------------------------------

    def _carry_out(self) -> None:
        try:
            self._wait()
            self._trial.carry_out()
            self._report(self._trial.judged().failures)
        except Dropped:
            """The cluster was closed: the rest of the trial is not needed."""
        finally:
            self.stage.leave()
            self.over = self.halted = True
            self._done.release()

    def _wait(self) -> None:
        """Raises Dropped."""
        self._go.acquire()
        if self._closed:
            raise Dropped

    def _hand_back(self) -> None:
        self._done.release()
        self._wait()

    def _run(self, at_ns: int, true: Callable[[], bool]) -> bool:
        loop, met = self.stage.loop, False

        def is_true() -> bool:
            nonlocal met
            met = true()
            return met

        while True:
            stopped = loop.run(min(at_ns, self._until_ns), lambda: is_true() or self._stops())
            if not stopped and at_ns <= self._until_ns:
                return False
            if met or (stopped and loop.run(loop.now_ns, is_true)):
                return True
            self._hand_back()

    def _stops(self) -> bool:
        if not self._known and self._trial.broken:
            self._known = self.halted = True
        return self.halted or self._stop()

    def _report(self, found: list[Failure]) -> None:
        """What no invariant has found by itself becomes an event: a cluster that did not serve, an exception, what the audit read."""
        checked = {failure.invariant for failure in self._trial.invariants.failures}
        for failure in found:
            if failure.invariant not in checked:
                self.stage.report(
                    REPORTER, CheckFailed(failure.invariant, failure.explanation, failure.evidence)
                )


def never() -> bool:
    return False
