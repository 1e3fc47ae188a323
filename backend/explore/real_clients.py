"""Clients of a trial on real processes: those of the plan, and those of the audit."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from backend.explore.trial_fabric import TrialFabric
from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.explore.content import ContentRecord
from nodes.real.caller import CallProgress
from nodes.real.process import client_world
from nodes.trace.base import Event
from nodes.trace.present import Causeless

if TYPE_CHECKING:
    from backend.explore.real_stage import RealStage


class StageTrace(Causeless):
    """The trace of a client in this process; its events join the fabric's own."""

    def __init__(self, stage: RealStage, name: str):
        self._fabric = stage.fabric
        self._name = name
        self._count = 0

    def emit(self, event: Event) -> int:
        self._count += 1
        self._fabric.report(self._name, event)
        return self._count


class RealClient:
    """A smart client in this process, for probes and audits. The invariants check its calls, too."""

    def __init__(self, stage: RealStage, name: str, reports_calls: bool):
        """Must be called in the stage's event loop."""
        home, config = stage.fabric.home, stage.config
        self._loop = asyncio.get_running_loop()
        self._stage = stage
        self._world = world = client_world(name, config.cluster, home.client_keys, stage.fabric.peers())
        world.trace = StageTrace(stage, name)
        self.client = SmartClient(world, config, f"{name}.1", reports_calls)
        self.files = FileClient(world, config, self.client)

    @classmethod
    async def made(cls, stage: RealStage, name: str, reports_calls: bool) -> RealClient:
        return cls(stage, name, reports_calls)

    def begin(self, procedure: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = self._loop.create_task(procedure)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    def die(self) -> None:
        """Its connections and timers end; its session does not."""

        async def close() -> None:
            self._world.network.close()
            self._world.scope.close()

        self._stage.wait(close())


class RealCaller:
    """One life of a client of the plan, in a process of its own."""

    def __init__(self, stage: RealStage, name: str):
        assert isinstance(stage.fabric, TrialFabric)
        self._stage = stage
        self._fabric = stage.fabric
        self._dead = False
        self.name = name
        stage.begin(self._fabric.begin_calls(name))

    def _progress(self) -> CallProgress:
        return self._fabric.progress_of(self.name)

    @property
    def begun(self) -> int:
        return self._progress().begun

    @property
    def answered(self) -> int:
        return self._progress().answered

    @property
    def acknowledged(self) -> Mapping[str, ContentRecord]:
        return self._progress().acknowledged

    @property
    def done(self) -> bool:
        return self._dead or self._progress().done

    @property
    def under_way(self) -> Mapping[int, str]:
        return {} if self._dead else self._progress().under_way

    def die(self) -> None:
        if not self._dead:
            self._dead = True
            self._stage.faults.kill_client(self.name)
