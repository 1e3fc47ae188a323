"""The stage of a trial in virtual time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from nodes.config import ClusterConfig
from nodes.explore.calls import Call, Caller
from nodes.explore.content import ContentRecord
from nodes.explore.script import Script
from nodes.explore.stage import in_words
from nodes.mechanisms import start_server
from nodes.sim.cluster import SimCluster, StartServer
from nodes.sim.conditions import Conditions
from nodes.sim.loop import Machine
from nodes.sim.triggers import Armed, Trigger
from nodes.wire.messages import Message


class SimStage(SimCluster):
    """A simulated cluster with further parts that a trial needs."""

    def __init__(
        self,
        config: ClusterConfig,
        seed: int,
        conditions: Conditions,
        start: StartServer = start_server,
        messages: Sequence[type[Message]] = (),
    ):
        """Raises BadConditions."""
        super().__init__(config, seed, conditions=conditions, start=start, messages=messages)
        self._armed: list[Armed] = []
        self._asked: list[tuple[str, Machine, asyncio.Task[Any]]] = []

    def reaches(self, at_ns: int, true: Callable[[], bool]) -> bool:
        return self.loop.run(at_ns, true)

    def await_events(self) -> None:
        """Does nothing: events arrive at once."""

    def at(self, at_ns: int, step: Callable[..., Any], *arguments: Any) -> None:
        self.loop.at(at_ns, step, *arguments)

    def arm(self, trigger: Trigger, step: Callable[[], Any]) -> None:
        self._armed.append(self.triggers.arm(trigger, step))

    def disarm_all(self) -> None:
        for armed in self._armed:
            self.triggers.disarm(armed)

    def begin_asking(self, name: str, question: dict[str, Any]) -> asyncio.Task[Any]:
        task = super().begin_asking(name, question)
        machine = self.servers[name].machine
        assert machine is not None
        self._asked.append((in_words(name, question), machine, task))
        return task

    @property
    def unanswered(self) -> list[str]:
        return [words for words, machine, task in self._asked if not (machine.dead or task.done())]

    def clear_up(self) -> None:
        self.net.links.clear_up()

    def mend_disk(self, name: str) -> None:
        self.servers[name].store.mend()

    def prepare(self, callers: Sequence[Caller]) -> None:
        """Does nothing: a simulated client starts in no time."""

    def start_caller(self, caller: Caller) -> SimCaller:
        return SimCaller(self, caller)

    def log_sha256(self) -> str:
        log = hashlib.sha256()
        encoder = msgspec.msgpack.Encoder()
        for stamped in self.events:
            log.update(encoder.encode(stamped))
        return log.hexdigest()


class SimCaller:
    """One process of a client of the plan."""

    def __init__(self, cluster: SimStage, caller: Caller):
        self._cluster = cluster
        self.name = caller.name
        self._dead = False
        client = cluster.start_client(caller.name, reports_calls=True)
        self._script = Script(caller, client.client, client.files, client.clock)
        self._script.begin(client.begin)

    @property
    def begun(self) -> int:
        return self._script.begun

    @property
    def answered(self) -> int:
        return self._script.answered

    @property
    def done(self) -> bool:
        return self._dead or self._script.done

    @property
    def under_way(self) -> Mapping[int, Call]:
        return {} if self._dead else self._script.under_way

    @property
    def acknowledged(self) -> Mapping[str, ContentRecord]:
        return self._script.acknowledged

    def die(self) -> None:
        if not self._dead:
            self._dead = True
            self._cluster.faults.crash(self.name)
