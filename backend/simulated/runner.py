"""One simulated cluster in its worker: its clock, its pending answers, and its reports."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import Impossible, LabError, Unavailable
from backend.fabrics.clock import ClockState
from backend.fabrics.links import LinkFault
from backend.simulated.automatic_pause import AutomaticPause
from backend.simulated.cluster import VirtualCluster
from backend.simulated.inputs import AskServer, ChangeClock, InputLog
from backend.simulated.link_words import faults_of
from backend.simulated.messages import (
    Answered,
    ApplyInput,
    ClusterProgress,
    CreateCluster,
    Observe,
    Report,
    RequestFailed,
    SetClock,
    StepClock,
)
from backend.simulated.pace import Pace
from backend.simulated.past import PastInputs
from nodes.config import SECOND
from nodes.errors import FsError
from nodes.trace.events import Stamped

TICK_S = 0.02
"""Wall time between two turns of a cluster that keeps up."""
BATCH_NS = 40_000_000
"""Wall time for which events are collected."""
REPORT_NS = 200_000_000
"""Wall time after which the clock is reported even if nothing has happened."""
MEASURED_NS = 1_000_000_000
BATCH_EVENTS = 5_000
STEP_NS = 600 * SECOND
"""Virtual time within which a step finds an event or a message."""
AT_ONCE = 64
"""Requests of one cluster that may wait for their answers."""


class PendingAnswer(msgspec.Struct):
    id: int
    future: asyncio.Future[Any]
    is_question: bool
    limit_ns: int
    """Virtual time at which a question counts as unanswered; 0 for never."""


class ClusterRunner:
    """Advances its cluster, and sends what happens."""

    def __init__(self, request: CreateCluster, send: Callable[[Report], None], wall_ns: int):
        """Raises LabError."""
        try:
            self._log = InputLog(Path(request.log), request.origin, request.log_bytes)
        except OSError as error:
            raise Unavailable(f"{request.log} cannot be written: {error.strerror}") from None
        self.name = request.cluster
        self.cluster = VirtualCluster(request.origin, self._log)
        self._past = PastInputs.of(request) if request.past is not None else None
        self._send = send
        self._pace = Pace(1.0, wall_ns, 0)
        self._playing = True
        self._pauses = AutomaticPause(request.origin)
        self._seen = 0
        """Number of the events not taken yet that `_pauses` has been given."""
        self._pending: list[PendingAnswer] = []
        self._reported = ClockState(0)
        self._reported_ns = 0
        """Wall time of the last report."""
        self._measured = (wall_ns, 0)
        self._reached = 0.0
        self._late = False
        """Whether the last turn ended before the instant that was due."""
        self._known: tuple[Any, Any, Any] = (None, None, None)
        """States, roles and links as reported last."""
        self._links: list[LinkFault] = []
        self._events: list[Stamped] = []

    @property
    def wait_s(self) -> float | None:
        """How long it has nothing to do; None for ever."""
        if not self._playing:
            return None
        return 0.0 if self._late else TICK_S

    def close(self) -> None:
        self.cluster.close()
        self._log.close()

    # --- time -------------------------------------------------------------------------------------

    def advance(self, wall_ns: int, share_ns: int) -> None:
        """Advances to the instant that is due, or as far as `share_ns` of wall time takes it. Raises errors of a server's code."""
        if self._past is not None:
            self._repeat(self._past, lambda: time.monotonic_ns() - wall_ns > share_ns)
        elif self._playing:
            self._pace = self._pace.kept(wall_ns, self.cluster.now_ns)
            due_ns = self._pace.due_ns(wall_ns)
            if self._pauses.until_ns:
                due_ns = min(due_ns, self._pauses.until_ns)
            self._run(due_ns, lambda: time.monotonic_ns() - wall_ns > share_ns)
            self._late = self.cluster.now_ns < due_ns
            self._measure(wall_ns)
        silent_ns = wall_ns - self._reported_ns
        if silent_ns >= (BATCH_NS if self._events else REPORT_NS) and (self._events or self._playing):
            self.report()
        self._answer_pending()

    def _repeat(self, past: PastInputs, is_over: Callable[[], bool]) -> None:
        """Goes on to repeat another run; pauses at its end."""
        self._late = True
        while self._past is not None:
            self._run(past.due_ns, is_over)
            if self.cluster.now_ns >= past.due_ns:
                self._go_on(past)
            if is_over():
                return

    def _go_on(self, past: PastInputs) -> None:
        if past.is_over:
            self._past = None
            self._pause()
            return
        with contextlib.suppress(LabError):
            self.cluster.apply(past.take())
        self._links = faults_of(self.cluster.sim.net.links)

    def check_present(self) -> None:
        """Raises Impossible while the past is repeated: a new input would change it."""
        if self._past is not None:
            raise Impossible("this fork still repeats the run: wait until its clock pauses")

    def _run(self, until_ns: int, is_over: Callable[[], bool]) -> None:
        def stop() -> bool:
            if self._pauses.at_events:
                self._see()
            return bool(self._pauses.met) or len(self.cluster.sim.events) >= BATCH_EVENTS or is_over()

        self.cluster.advance(until_ns, stop)
        self._take()
        if self._pauses.at(self.cluster.now_ns) or self.cluster.halted:
            self._pause()

    def _see(self) -> None:
        events = self.cluster.sim.events
        if len(events) > self._seen:
            self._pauses.on_events(events[self._seen :])
            self._seen = len(events)

    def _take(self) -> None:
        self._see()
        self._seen = 0
        self._events += self.cluster.take_events()

    def _pause(self) -> None:
        self._playing, self._reached = False, 0.0
        self._pauses.end()
        self.report()

    def _measure(self, wall_ns: int) -> None:
        since_ns, virtual_ns = self._measured
        if wall_ns - since_ns >= MEASURED_NS:
            self._reached = (self.cluster.now_ns - virtual_ns) / (wall_ns - since_ns)
            self._measured = (wall_ns, self.cluster.now_ns)

    def change_clock(self, request: SetClock | StepClock, wall_ns: int) -> None:
        """Raises LabError when the log is full or the past is not over, and errors of a server's code."""
        self.check_present()
        if isinstance(request, StepClock):
            self.cluster.apply(ChangeClock(f"step {request.step}", self._pace.speed))
            self._playing = False
            self._pauses.begin()
            self._step(request)
        else:
            self._take()
            self._pauses.check(request.until_condition)
            self.cluster.apply(ChangeClock("play" if request.playing else "pause", request.speed))
            self._playing = request.playing
            self._pauses.begin(request.until_ns, request.until_event, request.until_condition)
            self._pauses.met = request.met
            self._pace = Pace(request.speed, wall_ns, self.cluster.now_ns)
            self._measured = (wall_ns, self.cluster.now_ns)
            self._reached = 0.0
        self.report()
        self._reply(request.id, msgspec.json.encode(self.clock()))

    def _step(self, request: StepClock) -> None:
        sim = self.cluster.sim
        before = sim.net.delivered

        def met() -> bool:
            return sim.net.delivered > before if request.step == "message" else bool(sim.events)

        self._take()
        self.cluster.advance(self.cluster.now_ns + STEP_NS, met)
        self._take()
        self._answer_pending()

    # --- requests ---------------------------------------------------------------------------------

    def apply(self, request: ApplyInput) -> None:
        """Applies an input; the answer follows, later in virtual time where it takes time. Raises LabError."""
        self.check_present()
        if len(self._pending) >= AT_ONCE:
            raise Unavailable(f"{AT_ONCE} calls of this cluster are under way already")
        result = self.cluster.apply(request.input)
        self._links = faults_of(self.cluster.sim.net.links)
        self.report()
        if isinstance(result, asyncio.Future):
            asked = isinstance(request.input, AskServer)
            limit_ns = (
                self.cluster.now_ns + request.input.within_ns if isinstance(request.input, AskServer) else 0
            )
            self._pending.append(PendingAnswer(request.id, result, asked, limit_ns))
            self._answer_pending()
        else:
            self._reply(request.id, msgspec.json.encode(result))

    def observe(self, request: Observe) -> None:
        """Raises LabError."""
        if not request.server:
            sessions = request.question.get("do") == "sessions"
            found = self.cluster.sessions() if sessions else self.cluster.tree()
            self._reply(request.id, msgspec.json.encode(found))
        else:
            answer = self.cluster.observe(request.server, request.question)
            self._reply(request.id, msgspec.json.encode(answer))

    def _answer_pending(self) -> None:
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        for each in pending:
            if each.future.done():
                self._answer(each)
            elif each.limit_ns and self.cluster.now_ns >= each.limit_ns:
                self._send(
                    RequestFailed(self.name, each.id, "Unavailable", "the server does not answer in time")
                )
            else:
                self._pending.append(each)

    def _answer(self, answered: PendingAnswer) -> None:
        encode = msgspec.json.encode if answered.is_question else msgspec.msgpack.encode
        try:
            self._reply(answered.id, encode(answered.future.result()))
        except FsError as error:
            self._send(RequestFailed(self.name, answered.id, "FsError", error.message, error.name))
        except LabError as error:
            self._send(RequestFailed(self.name, answered.id, type(error).__name__, error.message))
        except (Exception, asyncio.CancelledError) as error:
            line = f"{type(error).__name__}: {error}"
            self._send(RequestFailed(self.name, answered.id, "Unavailable", line))

    def _reply(self, id: int, body: bytes) -> None:
        self._send(Answered(self.name, id, body, self.cluster.believed_active))

    # --- reports ----------------------------------------------------------------------------------

    def clock(self) -> ClockState:
        return ClockState(
            self.cluster.now_ns,
            self._playing,
            self._pace.speed,
            self._reached,
            self._pauses.until_ns,
            self._pauses.until_event,
            self._pauses.until_condition,
            self._pauses.met,
        )

    def report(self) -> None:
        """Sends what has happened, and the parts of the state that have changed."""
        self._take()
        events, self._events = self._events, []
        *earlier, last = (
            events[start : start + BATCH_EVENTS] for start in range(0, max(1, len(events)), BATCH_EVENTS)
        )
        for batch in earlier:
            # A clock that pauses is shown with the last event before its pause.
            self._send(ClusterProgress(self.name, self._reported, batch))
        self._reported, self._reported_ns = self.clock(), time.monotonic_ns()
        report = ClusterProgress(self.name, self._reported, last)
        states, roles, links = self.cluster.states(), self.cluster.roles(), self._links
        if (states, roles, links) != self._known:
            report.states, report.roles, report.links = states, roles, links
            self._known = (states, roles, links)
        self._send(report)
