"""A simulated cluster with its invariants, for directed schedules."""

from __future__ import annotations

import asyncio
from typing import Any

from nodes.config import MILLISECOND, SECOND, ClusterConfig, Holes, one_group
from nodes.invariants import registry
from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepare, Renew
from nodes.sim.cluster import SimCluster
from nodes.sim.loop import Stuck
from nodes.sim.network import HeldMessages
from nodes.trace.events import Serving, Stamped
from nodes.wire.messages import Message

SETTLE_NS = 120 * SECOND


class Lab:
    """A lab with open `holes`; everything else is the default variant."""

    def __init__(self, seed: int, *holes: str, standbys: int = 3, **settings: Any):
        config: ClusterConfig = one_group(standbys, holes=Holes(**dict.fromkeys(holes, True)), **settings)
        self.cluster = SimCluster(config, seed)
        self.invariants = registry.start(config)
        self.cluster.on_event(self.invariants.on_event)
        self.tasks: list[asyncio.Task[Any]] = []
        self.ada = self.cluster.start_client("ada")
        self.eve = self.cluster.start_client("eve")
        self.cluster.run_until(self.cluster.settled, SETTLE_NS)
        self.faults = self.cluster.faults

    @property
    def active(self) -> str:
        return next(name for name, letter in self.cluster.view().items() if letter in "AP")

    @property
    def standbys(self) -> list[str]:
        return [name for name, letter in self.cluster.view().items() if letter == "S"]

    def begin(self, client: Any, operation: Any) -> asyncio.Task[Any]:
        """Begins a call that continues while the cluster runs."""
        task = client.spawn(operation)
        self.tasks.append(task)
        return task  # type: ignore[no-any-return]

    def begin_and_wait(self, client: Any, operation: Any) -> asyncio.Task[Any]:
        """Begins a call and waits for its end, whatever the outcome."""
        task = self.begin(client, operation)
        self.cluster.run_until(task.done, 3 * SECOND)
        return task

    def copies(self, kind: type, receiver: str) -> list[tuple[str, str, Any]]:
        """Copies of the messages of this kind that a server is sent from now on, to be delivered late."""
        kept: list[tuple[str, str, Any]] = []

        def copied(sender: str, to: str, message: Any) -> bool:
            if type(message) is kind and to == receiver:
                kept.append((sender, to, message))
            return False

        self.cluster.hold(copied)
        return kept

    def deliver(self, copy: tuple[str, str, Any]) -> None:
        sender, receiver, message = copy
        self.cluster.net.carry(sender, receiver, [message])

    def run_ms(self, duration: int) -> None:
        self.cluster.run_for(duration * MILLISECOND)

    def serving(self) -> list[Stamped]:
        return [stamped for stamped in self.cluster.events if type(stamped.event) is Serving]

    def await_next_active(self) -> None:
        """Waits until a server serves in a later epoch than now."""
        before = len(self.serving())
        self.cluster.run_until(lambda: len(self.serving()) > before, SETTLE_NS)

    def hold_journals(self, *receivers: str) -> HeldMessages:
        """Holds journal groups on their way to these servers."""
        return self.cluster.hold(
            lambda sender, receiver, message: type(message) is Prepare and receiver in receivers
        )

    def renewed(self, member: str, behind: int) -> tuple[str, Message]:
        """Crashes and restarts a member so many groups later; returns who renewed it and the message that opened this session."""
        opened: list[tuple[str, Message]] = []

        def seen(sender: str, receiver: str, message: Message) -> bool:
            if type(message) is Renew and receiver == member:
                opened.append((sender, message))
            return False

        self.cluster.hold(seen)
        self.faults.crash(member)
        self.run_ms(12_000)
        for number in range(behind):
            self.ada.call(Mkdir(f"/b{number}"))
        self.faults.restart(member)
        self.cluster.run_until(lambda: bool(opened) and self.cluster.settled())
        return opened[0]

    def mend(self) -> None:
        """Ends all faults and starts every server."""
        for held in list(self.cluster.net.holds):
            held.drop()
        for name, server in self.cluster.servers.items():
            server.store.slow_ns, server.store.fails = 0, False
            if server.group:
                self.cluster.coordination_of(name).release_watches()
            if server.gone:
                continue
            if server.process == "paused":
                self.faults.resume(name)
            elif server.process == "stopped":
                self.faults.restart(name)
        self.faults.heal_all()

    def finish(self) -> None:
        """Repairs the cluster, waits until every call has returned, and judges every invariant. Raises Stuck."""
        self.mend()
        self.run_ms(1_000)
        self.cluster.run_until(self.cluster.settled, SETTLE_NS)
        self.cluster.run_until(lambda: all(task.done() for task in self.tasks), SETTLE_NS)
        self.run_ms(2_000)
        self.invariants.finish()

    def broken(self) -> dict[str, str]:
        """The violated invariants."""
        return {each.invariant: each.explanation for each in reversed(self.invariants.failures)}

    def finish_somehow(self) -> None:
        """Finishes although a cluster with an open hole may not settle."""
        try:
            self.finish()
        except Stuck:
            self.invariants.finish()
