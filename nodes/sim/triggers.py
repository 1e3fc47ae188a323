"""Faults tied to progress: something is done exactly before or after the n-th sync, write, message or step of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from nodes.faults.check import FaultUnsupported
from nodes.trace.events import StepTaken
from nodes.wire.messages import Message

if TYPE_CHECKING:
    from nodes.sim.cluster import Server, SimCluster

KINDS = ("sync", "write", "sent", "delivered", "step")
WHEN = ("before", "after")


class Trigger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place in what a server does. Raises nothing by itself: `Triggers.arm` checks it.

    - `sync`: before, nothing of it is durable; after, it is, and the server has not heard so. `name`: the first part of the path, `journal`
      for instance.
    - `write`: a change of the coordination tree. Before, it never leaves a server that is struck down; after, it has landed and the server
      has not heard so. `name`: the last part of the path of one of its changes, `lock` for instance.
    - `sent`: a message from `server` to `peer`. Before, neither it nor anything behind it leaves; after, it is on its way. `name`: its type.
    - `delivered`: a message from `server` at `peer`. Before, `peer` has not seen it; after, `peer` has handled it.
    - `step`: a `StepTaken` event; always after. `name`: `procedure/step`.
    """

    kind: str
    server: str
    ordinal: int = 1
    """Counted from 1, from when it is armed on, over all lives of the server."""
    when: str = "after"
    name: str = ""
    """Which kind of them; empty for all."""
    peer: str = ""
    """The receiver of messages; empty for all."""


class Armed:
    """A trigger that waits, or has fired."""

    def __init__(self, trigger: Trigger, act: Callable[[], Any]):
        self.trigger = trigger
        self._act = act
        self.seen = 0
        self.fired_ns = -1
        """-1 while it waits."""
        self.refused = ""
        """Why its act was impossible."""

    def counts(self, server: str, peer: str, names: tuple[str, ...]) -> bool:
        """Whether this place is the one."""
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

    An act runs inside the server's own step: a crash takes hold at once, a pause when the server waits for something next. It must not run
    the cluster.
    """

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._armed: dict[tuple[str, str], list[Armed]] = {}

    def arm(self, trigger: Trigger, act: Callable[[], Any]) -> Armed:
        """`act` runs once, at the place. Raises FaultUnsupported."""
        _one_of("kind", trigger.kind, KINDS)
        _one_of("when", trigger.when, WHEN)
        if trigger.kind == "step" and trigger.when == "before":
            raise FaultUnsupported("a step is known when it is taken: say after")
        if trigger.ordinal < 1:
            raise FaultUnsupported(f"ordinal {trigger.ordinal}: they are counted from 1")
        armed = Armed(trigger, act)
        self._armed.setdefault((trigger.kind, trigger.when), []).append(armed)
        if trigger.kind in ("sent", "delivered"):
            self._cluster.net.reached = self._at_message
        if trigger.kind == "step":
            self._cluster.at_step = self._at_step
        for server in self._cluster.servers.values():
            self.attach(server)
        return armed

    def disarm(self, armed: Armed) -> None:
        """It waits no longer; nothing happens when it has fired."""
        waiting = self._armed[armed.trigger.kind, armed.trigger.when]
        if armed in waiting:
            waiting.remove(armed)

    def attach(self, server: Server) -> None:
        """To a server that was there, was added, or begins a life."""
        wanted = {
            armed.trigger.kind
            for each in self._armed.values()
            for armed in each
            if armed.trigger.server == server.name
        }
        if "sync" in wanted:
            server.store.on_sync = lambda when, path: self._at_sync(server.name, when, path)
        world = server.world
        if "write" in wanted and world is not None and world.coordination is not None:
            coordination = world.coordination
            if "multi" not in vars(coordination):
                coordination.multi = self._striking(server, coordination.multi)

    def fire(self, kind: str, when: str, server: str, peer: str = "", *names: str) -> bool:
        """Whether anything fired here."""
        due = self._due(kind, when, server, peer, names)
        for armed in due:
            self._strike(armed)
        return bool(due)

    def _strike(self, armed: Armed) -> None:
        """What the server goes on with does not follow from the act."""
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

    def _at_step(self, server: str, event: StepTaken) -> None:
        self.fire("step", "after", server, "", f"{event.procedure}/{event.step}")

    def _at_sync(self, server: str, when: str, path: str) -> None:
        self.fire("sync", when, server, "", path.partition("/")[0])

    def _at_message(
        self, kind: str, when: str, sender: str, receiver: str, message: Message, first: Callable[[], None]
    ) -> None:
        due = self._due(kind, when, sender, receiver, (type(message).__name__,))
        if due:
            first()
        for armed in due:
            self._strike(armed)

    def _striking(
        self, server: Server, multi: Callable[[list[Any]], Awaitable[Any]]
    ) -> Callable[[list[Any]], Awaitable[Any]]:
        machine = server.machine
        assert machine is not None

        async def struck(changes: list[Any]) -> Any:
            names = [change.path.rpartition("/")[2] for change in changes]
            if self.fire("write", "before", server.name, "", *names):
                await machine.stalled()
            stats = await multi(changes)
            if self.fire("write", "after", server.name, "", *names):
                await machine.stalled()
            return stats

        return struck


def _one_of(what: str, word: Any, words: tuple[str, ...]) -> str:
    """Raises FaultUnsupported."""
    if word not in words:
        raise FaultUnsupported(f"{what} {word!r}: say one of {', '.join(words)}")
    return str(word)
