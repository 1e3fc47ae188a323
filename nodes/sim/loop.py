"""An event loop in virtual time: no selector, no threads, integer nanoseconds, every choice from the seed.

Each server is a `Machine` with its own queue, first in, first out. The next machine to run depends only on the seed, the time and the
machines' names, so that leaving out a fault or a server does not shuffle the rest. A crashed machine's handles are dropped and its tasks stay
referenced: none of its code runs any more, `finally` included.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import random
import sys
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from heapq import heappop, heappush
from itertools import count
from typing import Any

from nodes.errors import Damaged
from nodes.trace.present import UNKNOWN, Cause

SECOND = 1_000_000_000
LIMIT = 1_000_000
"""More steps than this without progress of time are an endless loop in a server's code."""
WORD = (1 << 64) - 1
MIX = 0x9E3779B97F4A7C15
_machine: contextvars.ContextVar[Machine] = contextvars.ContextVar("machine")


class Stuck(Exception):
    """A run had nothing left to do, or took too many steps without progress of time."""


class Handle:
    """A callback that a machine runs later, unless it is cancelled before."""

    __slots__ = ("_args", "_callback", "_machine")

    def __init__(self, machine: Machine, callback: Callable[..., Any], args: tuple[Any, ...]):
        self._machine = machine
        self._callback: Callable[..., Any] | None = callback
        self._args = args

    def cancel(self) -> None:
        self._callback = None

    def due(self) -> None:
        """The callback is due: it waits behind the ready steps of its machine."""
        if self._callback is not None:
            self._machine.call(self._run)

    def _run(self) -> None:
        if self._callback is not None:
            self._callback(*self._args)


class Machine:
    """One process of one server: from a start to a stop or crash."""

    def __init__(self, loop: Loop, name: str, on_error: Callable[[BaseException], None] | None = None):
        self.loop = loop
        self.name = name
        self.salt = loop.salt_of(name)
        self.context = contextvars.Context()
        """Context of every task of this machine, so that a task runs here whichever machine wakes it. No callback is ever run inside the context."""
        self.context.run(_machine.set, self)
        self.queue: deque[tuple[Callable[..., Any], tuple[Any, ...], Cause]] = deque()
        """Ready callbacks with their causes."""
        self.idle: list[tuple[Callable[[], None], Cause]] = []
        self.at_turn_end: list[Callable[[], None]] = []
        """Output that leaves at the end of the present turn: trace, then messages."""
        self.tasks: dict[int, asyncio.Task[Any]] = {}
        self.on_error = on_error or loop.errors.append
        """Callback for the error of a step, such as a failed or damaged disk: it ends the process."""
        self.paused = False
        self.dead = False
        self.halted = False
        """Paused or dead."""
        self.queued = False

    def call(self, callback: Callable[..., Any], *args: Any) -> None:
        """Runs a callback on this machine, after all waiting ones."""
        if not self.dead:
            self.queue.append((callback, args, self.loop.cause))
            if not self.queued and not self.paused:
                self.queued = True
                self.loop.runnable.append(self)

    def when_idle(self, step: Callable[[], None]) -> None:
        """Runs a step once after all ready ones."""
        self.idle.append((step, self.loop.cause))
        self.loop.wake(self)

    def call_first(self, callback: Callable[..., Any], *args: Any) -> None:
        """Runs a callback before all waiting ones of this machine."""
        self.queue.appendleft((callback, args, self.loop.cause))
        self.loop.wake(self)

    def call_later(self, delay_ns: int, callback: Callable[..., Any], *args: Any) -> Handle:
        """Sets a timer. It inherits the cause of the turn that set it."""
        handle = Handle(self, callback, args)
        self.loop.later(self.loop.now_ns + max(0, delay_ns), handle.due)
        return handle

    async def stalled(self) -> None:
        """Waits for ever when the machine is dead, or as long as it is paused."""
        if self.dead or self.paused:
            over = self.loop.create_future()
            self.call(over.set_result, None)
            await over

    def pause(self) -> None:
        self.paused = self.halted = True

    def resume(self) -> None:
        self.paused = False
        self.halted = self.dead
        self.loop.wake(self)

    def end_turn(self) -> None:
        leaving, self.at_turn_end = self.at_turn_end, []
        for step in leaving:
            step()

    def die(self) -> None:
        """Ends the machine: none of its code runs from here on."""
        self.dead = self.halted = True
        self.loop.keep(self)
        for task in self.tasks.values():
            _forget(task.get_coro())
        self.queue.clear()
        self.idle.clear()
        self.at_turn_end.clear()


def _forget(coro: Any) -> None:
    """Closes a procedure that never began; Python would otherwise warn when it is collected."""
    if inspect.getcoroutinestate(coro) == inspect.CORO_CREATED:
        coro.close()


class Loop(asyncio.AbstractEventLoop):
    """The one loop of a simulated cluster."""

    def __init__(self, rng: random.Random):
        self.now_ns = 0
        self.cause = self.began = UNKNOWN
        """Causes of the present step and of the present callback (nodes/trace/present.py)."""
        self._left = LIMIT
        """Number of steps left before time must advance."""
        self._seed = rng.getrandbits(64)
        self._timers: list[tuple[int, int, Callable[..., None], tuple[Any, ...], Cause]] = []
        self._number = count(1).__next__
        self.runnable: list[Machine] = []
        """Machines that have something to do, each once."""
        self.runs = False
        self.errors: list[BaseException] = []
        self._outside = Machine(self, "outside")
        self._current = self._outside
        self._machines: list[Machine] = []

    def keep(self, machine: Machine) -> None:
        """Keeps a dead machine referenced as long as the loop: its tasks' `finally` would run when they are collected."""
        self._machines.append(machine)

    def salt_of(self, name: str) -> int:
        """A value that distinguishes machines in the choice of the next one."""
        return random.Random(f"{self._seed}/{name}").getrandbits(64)

    # --- queues ----------------------------------------------------------------------------------------------------

    def at(self, at_ns: int, callback: Callable[..., None], *args: Any) -> None:
        """Runs a callback of the world itself (of no machine) at this time; equal times run in the order of the calls."""
        heappush(self._timers, (at_ns, self._number(), callback, args, self.cause))

    def later(self, at_ns: int, callback: Callable[..., None], *args: Any) -> None:
        """Like `at`, as a timer: its cause is that of this turn, not the last event of the turn."""
        heappush(self._timers, (at_ns, self._number(), callback, args, self.began))

    def wake(self, machine: Machine) -> None:
        if not machine.queued and not machine.paused and not machine.dead and (machine.queue or machine.idle):
            machine.queued = True
            self.runnable.append(machine)

    # --- running ---------------------------------------------------------------------------------------------------

    def run(self, until_ns: int, done: Callable[[], bool] | None = None) -> bool:
        """Runs until `done()` is true or the time comes; returns the value of `done()`. Raises errors of a server's code."""
        before, hooks = events._get_running_loop(), sys.get_asyncgen_hooks()
        self.runs = True
        events._set_running_loop(self)
        sys.set_asyncgen_hooks(None, None)
        try:
            return self._run(until_ns, done)
        finally:
            self.runs = False
            self.cause = self.began = UNKNOWN
            self._current = self._outside
            sys.set_asyncgen_hooks(*hooks)
            events._set_running_loop(before)

    def _run(self, until_ns: int, done: Callable[[], bool] | None) -> bool:
        timers, runnable = self._timers, self.runnable
        while True:
            while runnable:
                machine = self._pick() if len(runnable) > 1 else runnable.pop()
                try:
                    self._turn(machine)
                except (Damaged, OSError) as error:
                    self._current = self._outside
                    machine.on_error(error)
                if self.errors:
                    raise self.errors.pop(0)
            if done is not None and done():
                return True
            if not timers or timers[0][0] > until_ns:
                self.now_ns = max(self.now_ns, until_ns)
                return done is not None and done()
            now_ns = self.now_ns = timers[0][0]
            self._left = LIMIT
            while timers and timers[0][0] == now_ns:
                _, _, callback, args, self.cause = heappop(timers)
                self.began = self.cause
                callback(*args)

    def _pick(self) -> Machine:
        """Chooses by a hash of the time and each machine's name, not by a random stream that another choice would advance."""
        now_ns, runnable = self.now_ns, self.runnable
        best, chosen = -1, 0
        for place, machine in enumerate(runnable):
            rank = (now_ns ^ machine.salt) * MIX & WORD
            if rank > best:
                best, chosen = rank, place
        machine = runnable[chosen]
        runnable[chosen] = runnable[-1]
        runnable.pop()
        return machine

    def _turn(self, machine: Machine) -> None:
        """One turn of one machine: all ready callbacks, the idle steps, then the output."""
        if machine.halted:
            machine.queued = False
            return
        self._current = machine
        queue, left = machine.queue, self._left
        take = queue.popleft
        while True:
            while queue:
                callback, args, self.cause = take()
                self.began = self.cause
                left -= 1
                callback(*args)
                if machine.halted or left < 0:
                    break
            if left < 0:
                raise Stuck(f"{machine.name} did {LIMIT} steps at {self.now_ns} ns: it loops without an end")
            if machine.halted or not machine.idle:
                break
            idle, machine.idle = machine.idle, []
            queue.extend((step, (), cause) for step, cause in idle)
        self._left = left
        machine.queued = False
        self._current = self._outside
        machine.end_turn()

    def run_as(self, machine: Machine, step: Callable[[], None]) -> None:
        """Runs a step as in a turn of this machine: tasks that it begins belong to the machine."""
        self._current = machine
        try:
            step()
        finally:
            self._current = self._outside

    # --- asyncio's interface ---------------------------------------------------------------------------------------

    def time(self) -> float:
        return self.now_ns / SECOND

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> None:
        """No caller of asyncio's `call_soon` here cancels, so there is no handle."""
        machine = self._current if context is None else context.get(_machine) or self._current
        if not machine.dead:
            machine.queue.append((callback, args, self.cause))
            if not machine.queued and not machine.paused:
                machine.queued = True
                self.runnable.append(machine)

    def _machine_of(self, context: contextvars.Context | None) -> Machine:
        """The machine of a task, else the one whose turn it is."""
        if context is None:
            return self._current
        return context.get(_machine) or self._current

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self,
        coro: Coroutine[Any, Any, Any],
        *,
        name: str | None = None,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[Any]:
        machine = self._machine_of(context)
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=machine.context)
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        if machine.dead:
            _forget(coro)
        machine.tasks[id(task)] = task
        task.add_done_callback(lambda done: machine.tasks.pop(id(done), None))
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None and not isinstance(error, asyncio.CancelledError):
            self.errors.append(error)
