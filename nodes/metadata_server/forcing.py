"""A person's order to serve without the quorum that safety asks for (safety rule 4).

It changes what a server does only where the ordinary way has failed: everybody is still asked, for as long as ever, and the longest journal that
is shown is gone on with. What only those hold who do not answer is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.trace.events import StepTaken
from nodes.world import World

PAPER = "safety rule 4"
SESSIONS = 6
"""Time-outs of a session after which an order that could not be carried out has no effect any more."""


class Forcing:
    """One server's standing order: until it serves, another one does, or the time is over."""

    def __init__(self, world: World, refuses: bool):
        self._world = world
        self._refuses = refuses
        """The mutation `floor_without_way_back`."""
        self._orders = 0
        self._epoch = 0
        self.stands = False

    def order(self, epoch: int, sn: int) -> dict[str, Any]:
        """`epoch`: the newest that this server knows of; `sn`: where its journal ends. `refused` is empty when the order stands."""
        if self._refuses:
            return {"refused": f"{self._world.name} takes no such order"}
        self._orders += 1
        self._epoch, self.stands = epoch, True
        self.step("ordered", f"{self._world.name} is to serve with what it has up to sn {sn}")
        number, coordination = self._orders, self._world.coordination
        self._world.clock.call_later(SESSIONS * coordination.session_timeout_ns, lambda: self._expire(number))
        return {"refused": ""}

    def _expire(self, number: int) -> None:
        if number == self._orders:
            self.end("void", "the time for it is over")

    def on_standby(self, epoch: int) -> None:
        """This server was given a place in step in this epoch: another one serves."""
        if epoch > self._epoch:
            self.end("void", f"another server serves in epoch {epoch}")

    def end(self, step: str, detail: str) -> None:
        """`done` or `void`, and why."""
        if self.stands:
            self.stands = False
            self.step(step, detail)

    def step(self, step: str, detail: str) -> None:
        self._world.trace.emit(StepTaken("force", step, PAPER, detail, self._epoch))


def force_questions(
    forcing: Forcing,
    serves: Callable[[], bool],
    epoch: Callable[[], int],
    sn: Callable[[], int],
    cannot: Callable[[], str] = lambda: "",
) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """`standing`: whether this server serves, the newest epoch it knows of, and where its journal ends; `force`: the order.

    `cannot`: why this server could not carry the order out; empty when it could.
    """

    def force(question: dict[str, Any]) -> dict[str, Any]:
        refused = "it serves" if serves() else cannot()
        return {"refused": refused} if refused else forcing.order(epoch(), sn())

    return {
        "standing": lambda question: {"serves": serves(), "epoch": epoch(), "sn": sn()},
        "force": force,
    }
