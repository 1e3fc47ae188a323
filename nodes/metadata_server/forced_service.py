"""A person's order to serve without the quorum that safety requires (safety rule 4).

The order changes a server's behaviour only where the ordinary way has failed. The server still asks every member for the full time, and
continues with the longest journal that it is shown. Data that only the silent members hold is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.trace.events import StepTaken
from nodes.world import World

PAPER = "safety rule 4"
SESSIONS = 6
"""Number of session time-outs after which an order that could not be carried out expires."""


class Forcing:
    """One server's standing order. It lasts until this server serves, another one serves, or the order expires."""

    def __init__(self, world: World, refuses: bool):
        self._world = world
        self._refuses = refuses
        """The mutation `floor_without_way_back`."""
        self._orders = 0
        self._epoch = 0
        self.stands = False

    def order(self, epoch: int, sn: int) -> dict[str, Any]:
        """Registers the order. `epoch`: the newest that this server knows of; `sn`: the end of its journal. `refused` is empty when the order
        stands."""
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
        """In this epoch the server got a place in step, so another server serves."""
        if epoch > self._epoch:
            self.end("void", f"another server serves in epoch {epoch}")

    def end(self, step: str, detail: str) -> None:
        """Ends the order as `done` or `void`, with the reason."""
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
    """`standing`: reports whether this server serves, the newest epoch it knows of and the end of its journal. `force`: gives the order.

    `cannot`: reason why this server could not carry the order out; empty when it could.
    """

    def force(question: dict[str, Any]) -> dict[str, Any]:
        refused = "it serves" if serves() else cannot()
        return {"refused": refused} if refused else forcing.order(epoch(), sn())

    return {
        "standing": lambda question: {"serves": serves(), "epoch": epoch(), "sn": sn()},
        "force": force,
    }
