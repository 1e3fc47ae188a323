"""Active election (CFS §4.2.1, Algorithm 2).

Every server in step writes a random number into the view, and the largest takes the lock. When no server in step is left, the servers that
are behind draw. Among different journals the one that ends later, by (epoch, sn), goes first; the numbers decide among equals. The draw is
only advice: safety comes from the answers that the elected server must collect before it continues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from random import Random

from nodes.config import MILLISECOND
from nodes.replicas.view import Draw, GlobalView, OneShotWatch, ServerPlace
from nodes.roles import BEHIND, FOLLOWING
from nodes.trace.election_events import Drawn
from nodes.wire.messages import Mark
from nodes.world import World, wait_at_most

LOOK_AGAIN_NS = 20 * MILLISECOND
FIRST_NS = 2_000 * MILLISECOND


def contenders(places: dict[str, ServerPlace], electable: Collection[str] | None = None) -> list[str]:
    """Servers that draw: those in step (standbys, secondaries), or those behind when no other is left.

    `electable`: the only servers that may ever lead; None for all. A server outside it is never waited for.
    """
    drawing = {s: place for s, place in places.items() if electable is None or s in electable}
    in_step = [server for server, place in drawing.items() if place.state in FOLLOWING]
    return in_step or [server for server, place in drawing.items() if place.state in BEHIND]


def winner(draws: Mapping[str, Draw], drawing: list[str]) -> str:
    """The server with the largest (epoch, sn, number), names breaking ties; empty when there is no draw."""
    best = max(
        ((draws[s].epoch, draws[s].sn, draws[s].number, s) for s in drawing if s in draws), default=None
    )
    return best[3] if best else ""


def decider(draws: dict[str, Draw], drawing: list[str]) -> str:
    """What decides among the contenders that drew: `journal` when one ends later than all others, else `number`; `alone` for a single draw."""
    ends = sorted((draws[s].epoch, draws[s].sn) for s in drawing if s in draws)
    if len(ends) < 2:
        return "alone"
    return "journal" if ends[-1] > ends[-2] else "number"


class Election:
    """One server's part in the rounds of the draw."""

    def __init__(
        self,
        world: World,
        view: GlobalView,
        draw_wait_ns: int,
        electable: Collection[str] | None = None,
        winner: Callable[[Mapping[str, Draw], list[str]], str] = winner,
    ):
        """`winner` chooses the server that takes the lock."""
        self._world = world
        self._view = view
        self._draw_wait_ns = draw_wait_ns
        self._electable = electable
        self._winner = winner
        self._key = world.rng.getrandbits(64)
        """Key that makes the number together with the round, so that one seed draws the same numbers on every fabric."""
        self._drawn = asyncio.Event()
        self._watch = OneShotWatch(self._drawn.set)
        self._locked = asyncio.Event()
        self._lock_watch = OneShotWatch(self._locked.set)

    def forget_session(self) -> None:
        self._watch.forget()
        self._lock_watch.forget()

    async def run(self, last: Mark, ordered: bool = False) -> bool:
        """Draws in the present round. True when this server took the lock; False when another server has it, or should soon have it.

        `ordered`: a person wants this server to lead, or the last active has handed over to it; it takes the lock without a draw.
        """
        view = self._view
        round = await view.draw_round()
        if ordered:
            return await view.take_lock(round)
        number = Random(self._key ^ round).getrandbits(31)
        await view.write_draw(Draw(round, number, last.epoch, last.sn))
        drawing = await self._gather(round)
        if self._world.name not in drawing:
            return False
        draws = await view.draws(round)
        best = self._winner(draws, drawing)
        drawn = [(s, draws[s].epoch, draws[s].sn, draws[s].number) for s in sorted(drawing) if s in draws]
        self._world.trace.emit(Drawn(view.group, round, drawn, best, decider(draws, drawing)))
        if best != self._world.name:
            self._locked.clear()
            if (await view.lock_owner(self._lock_watch))[0]:
                return False
            await wait_at_most(self._world.clock, self._locked, self._draw_wait_ns)
            if (await view.lock_owner())[0]:
                return False
        return await view.take_lock(round)

    async def _gather(self, round: int) -> list[str]:
        """Waits, for a bounded time, until every contender has drawn; returns the contenders."""
        deadline = self._world.clock.monotonic_ns() + self._draw_wait_ns
        while True:
            self._drawn.clear()
            drawing = contenders(await self._view.places(), self._electable)
            draws = await self._view.draws(round, self._watch)
            if all(server in draws for server in drawing) or self._world.clock.monotonic_ns() >= deadline:
                return drawing
            await self._look_again(deadline)

    async def _look_again(self, deadline: int) -> None:
        left = min(LOOK_AGAIN_NS, deadline - self._world.clock.monotonic_ns())
        await wait_at_most(self._world.clock, self._drawn, max(left, 1))


async def await_members(world: World, view: GlobalView, members: list[str]) -> None:
    """Before the first epoch of a group: gives its members time to enter, so that all of them draw."""
    clock = world.clock
    deadline = clock.monotonic_ns() + FIRST_NS
    while clock.monotonic_ns() < deadline:
        places = await view.places()
        if all(member in places for member in members):
            return
        await clock.sleep(FIRST_NS // 100)
