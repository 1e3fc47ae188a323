"""The scheduler of the request interface (SAA §6, Fig. 4): pure.

"The scheduler module chooses one active job to execute, until it is blocked by I/O operations and thus the job is put into the idle queue. After
the I/O operations finish, the job is put back into the active queue and waits to be scheduled."
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable

Steps = Generator[Hashable, None, None]
"""Steps of a job, which yields the event that it waits for whenever it is blocked."""
AGAIN = "again"
"""Event of a job that is not blocked and lets others run first; it stays active."""


class ScheduledCall:
    """One call of a client."""

    __slots__ = ("number", "peer", "steps")

    def __init__(self, peer: str, number: int, steps: Steps):
        self.peer = peer
        self.number = number
        self.steps = steps


class Scheduler:
    """Jobs in the order in which they arrived or became active again."""

    def __init__(self) -> None:
        self._active: deque[ScheduledCall] = deque()
        self._idle: dict[Hashable, deque[ScheduledCall]] = {}
        """Idle jobs by the event that they wait for."""
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def waiting_for(self, event: Hashable) -> int:
        return len(self._idle.get(event, ()))

    def add(self, job: ScheduledCall) -> None:
        self._active.append(job)
        self._size += 1

    def wake(self, event: Hashable, most: int | None = None) -> None:
        """Activates all jobs that wait for this event, or the first `most` of them."""
        jobs = self._idle.get(event)
        if jobs is None:
            return
        if most is None or most >= len(jobs):
            self._active.extend(self._idle.pop(event))
        else:
            self._active.extend(jobs.popleft() for _ in range(most))

    def wake_all(self, but: Hashable) -> None:
        """Activates all idle jobs, except those that wait for `but`."""
        for event in [event for event in self._idle if event != but]:
            self.wake(event)

    @property
    def active(self) -> int:
        return len(self._active)

    def run(self) -> None:
        """Executes the active jobs once, each until it is blocked, lets others go first, or ends."""
        for _ in range(len(self._active)):
            job = self._active.popleft()
            try:
                event = next(job.steps)
            except StopIteration:
                self._size -= 1
            else:
                waiting = self._active if event == AGAIN else self._idle.setdefault(event, deque())
                waiting.append(job)

    def clear(self) -> list[ScheduledCall]:
        """Ends all jobs where they are. Returns them."""
        jobs = [*self._active, *(job for waiting in self._idle.values() for job in waiting)]
        for job in jobs:
            job.steps.close()
        self._active.clear()
        self._idle.clear()
        self._size = 0
        return jobs
