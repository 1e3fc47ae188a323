"""Requests that wait at the active for their turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nodes.trace.present import UNKNOWN, cause_of
from nodes.units import OpId
from nodes.wire.messages import Request
from nodes.world import World

WAITING_MOST = 10_000
"""Requests of each kind; further ones are dropped, and their clients ask again."""

Calls = dict[OpId, tuple[str, Request]]
"""Waiting calls by operation, each with the peer that sent it last. A repeated call keeps its turn and is carried out once."""


class Backlog:
    """Requests are held while none is sequenced, stalled while the group or the log has no room for them, and blocked by an undecided operation.

    `handle(peer, request)` takes up a request that has waited.
    """

    def __init__(self, world: World, handle: Callable[[str, Request], None]):
        self._world = world
        self._handle = handle
        self.admits = False
        """Whether requests are taken from the network. Before, their callers are referred as by any server that does not lead."""
        self._holds = 0
        self._held: Calls = {}
        self._stalled: Calls = {}
        self._blocked: Calls = {}
        self._woken = False

    # --- held ------------------------------------------------------------------------------------------------------

    @property
    def is_held(self) -> bool:
        """Whether no request is sequenced now."""
        return bool(self._holds)

    def admit_and_hold(self) -> None:
        """Admits requests from now on, and holds them until service begins (CFS §4.2.2 step 3)."""
        self.admits = True
        self.hold()

    def hold(self) -> None:
        self._holds += 1

    def release(self) -> None:
        self._holds -= 1
        if not self._holds:
            held, self._held = self._held, {}
            self._take_up(held)

    def keep(self, peer: str, request: Request) -> None:
        """Keeps a request until requests are sequenced again."""
        _add(self._held, peer, request)

    # --- stalled and blocked ---------------------------------------------------------------------------------------

    def stall(self, peer: str, request: Request) -> None:
        """Delays a write until enough replicas are back and the open group and the log have room."""
        _add(self._stalled, peer, request)

    def resume(self) -> None:
        """Takes up the stalled writes."""
        stalled, self._stalled = self._stalled, {}
        self._take_up(stalled)

    def block(self, peer: str, request: Request) -> None:
        """Delays a request that met an undecided operation."""
        _add(self._blocked, peer, request)

    def wake(self) -> None:
        """Examines the blocked requests again, once per turn."""
        if self._blocked and not self._woken:
            self._woken = True
            self._world.when_idle(self._examine)

    def _examine(self) -> None:
        self._woken = False
        blocked, self._blocked = self._blocked, {}
        self._take_up(blocked)

    def _take_up(self, calls: Calls) -> None:
        """Each request follows from its own call, and later events do not follow from it."""
        trace = self._world.trace
        present = trace.at()
        for peer, request in calls.values():
            trace.follows(cause_of(request, UNKNOWN))
            self._handle(peer, request)
        trace.follows(present)

    def emptied(self) -> Iterator[tuple[str, Request]]:
        """All waiting requests with their peers; they wait no longer."""
        for calls in (self._held, self._stalled, self._blocked):
            yield from calls.values()
            calls.clear()


def _add(calls: Calls, peer: str, request: Request) -> None:
    op_id = OpId(request.session, request.number)
    if op_id in calls or len(calls) < WAITING_MOST:
        calls[op_id] = (peer, request)
