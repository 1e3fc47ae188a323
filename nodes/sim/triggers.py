"""Faults tied to progress: an act exactly before or after the n-th sync, write, message or step of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from nodes.faults.check import FaultUnsupported
from nodes.trace.events import StepTaken
from nodes.wire.messages import Message

if TYPE_CHECKING:
    from nodes.sim.cluster import SimCluster
    from nodes.sim.server import SimServer

KINDS = ("sync", "write", "sent", "delivered", "step")
WHEN = ("before", "after")


class Trigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place in a server's run. It raises no error itself: `Triggers.arm` checks it.

    - `sync`: before, none of it is durable; after, it is, and the server has not been notified. `name`: the first part of the path, `journal`
      for instance.
    - `write`: a change of the coordination tree. Before, it never leaves a server that the act kills; after, it is committed and the server
      has not been notified. `name`: the last part of the path of one of its changes, `lock` for instance.
    - `sent`: a message from `server` to `peer`. Before, neither it nor any later one leaves; after, it is on its way. `name`: its type.
    - `delivered`: a message from `server` at `peer`. Before, `peer` has not seen it; after, `peer` has handled it.
    - `step`: a `StepTaken` event; always after. `name`: `procedure/step`.
    """

    kind: str
    server: str
    ordinal: int = 1
    """Counted from 1, from when the trigger is armed, over all processes of the server."""
    when: str = "after"
    name: str = ""
    """Which of these places; empty for all."""
    peer: str = ""
    """The receiver of messages; empty for all."""


class Armed:
    """A trigger that is waiting, or has fired."""

    def __init__(self, trigger: Trigger, act: Callable[[], Any]):
        self.trigger = trigger
        self._act = act
        self.seen = 0
        self.fired_ns = -1
        """Time when the trigger fired; -1 while it waits."""
        self.refused = ""
        """Reason why its act was impossible."""

    def counts(self, server: str, peer: str, names: tuple[str, ...]) -> bool:
        """Whether the trigger counts this place."""
        wanted = self.trigger
        if wanted.server != server or wanted.peer not in ("", peer) or wanted.name not in ("", *names):
            return False
        self.seen += 1
        return self.seen == wanted.ordinal

    def fire(self, now_ns: int) -> None:
        self.fired_ns = now_ns
        try:
            self._act()
        except FaultUnsupported as error:
            self.refused = str(error)


class Triggers:
    """All triggers of a cluster.

    An act runs inside the server's own step: a crash takes effect at once, a pause when the server next waits. It must not run the cluster.
    """

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._armed: dict[tuple[str, str], list[Armed]] = {}

    def arm(self, trigger: Trigger, act: Callable[[], Any]) -> Armed:
        """Arms a trigger: `act` runs once, at its place. Raises FaultUnsupported."""
        _one_of("kind", trigger.kind, KINDS)
        _one_of("when", trigger.when, WHEN)
        if trigger.kind == "step" and trigger.when == "before":
            raise FaultUnsupported("a step is known when it is taken: say after")
        if trigger.ordinal < 1:
            raise FaultUnsupported(f"ordinal {trigger.ordinal}: they are counted from 1")
        armed = Armed(trigger, act)
        self._armed.setdefault((trigger.kind, trigger.when), []).append(armed)
        if trigger.kind in ("sent", "delivered") and not self._cluster.net.reached:
            self._cluster.net.reached.subscribe(self._at_message)
        for server in self._cluster.servers.values():
            self.attach(server)
        return armed

    def disarm(self, armed: Armed) -> None:
        """Disarms a trigger; has no effect after it has fired."""
        waiting = self._armed[armed.trigger.kind, armed.trigger.when]
        if armed in waiting:
            waiting.remove(armed)

    def attach(self, server: SimServer) -> None:
        """Attaches to a server that exists, was added, or starts a process."""
        writes = any(
            armed.trigger.kind == "write" and armed.trigger.server == server.name
            for each in self._armed.values()
            for armed in each
        )
        world = server.world
        if writes and world is not None and world.coordination is not None:
            coordination = world.coordination
            if "multi" not in vars(coordination):
                coordination.multi = self._striking(server, coordination.multi)

    def fire(self, kind: str, when: str, server: str, peer: str = "", *names: str) -> bool:
        """Fires the triggers of a place; returns whether there were any."""
        due = self._due(kind, when, server, peer, names)
        for armed in due:
            self._apply_fault(armed)
        return bool(due)

    def _apply_fault(self, armed: Armed) -> None:
        """Runs the act. The server's further steps do not have the act as their cause."""
        loop = self._cluster.loop
        cause = loop.cause
        armed.fire(loop.now_ns)
        loop.cause = cause

    def _due(self, kind: str, when: str, server: str, peer: str, names: tuple[str, ...]) -> list[Armed]:
        waiting = self._armed.get((kind, when), ())
        due = [armed for armed in waiting if armed.counts(server, peer, names)]
        for armed in due:
            self._armed[kind, when].remove(armed)
        return due

    # --- places ----------------------------------------------------------------------------------------------------

    def at_step(self, server: str, event: StepTaken) -> None:
        self.fire("step", "after", server, "", f"{event.procedure}/{event.step}")

    def at_sync(self, server: str, when: str, path: str) -> bool:
        return self.fire("sync", when, server, "", path.partition("/")[0])

    def _at_message(
        self, kind: str, when: str, sender: str, receiver: str, message: Message, first: Callable[[], None]
    ) -> None:
        due = self._due(kind, when, sender, receiver, (type(message).__name__,))
        if due:
            first()
        for armed in due:
            self._apply_fault(armed)

    def _striking(
        self, server: SimServer, multi: Callable[[list[Any]], Awaitable[Any]]
    ) -> Callable[[list[Any]], Awaitable[Any]]:
        machine = server.machine
        assert machine is not None

        async def faulted(changes: list[Any]) -> Any:
            names = [change.path.rpartition("/")[2] for change in changes]
            if self.fire("write", "before", server.name, "", *names):
                await machine.stalled()
            stats = await multi(changes)
            if self.fire("write", "after", server.name, "", *names):
                await machine.stalled()
            return stats

        return faulted


def _one_of(what: str, word: Any, words: tuple[str, ...]) -> str:
    """Checks a value of a trigger. Raises FaultUnsupported."""
    if word not in words:
        raise FaultUnsupported(f"{what} {word!r}: say one of {', '.join(words)}")
    return str(word)
