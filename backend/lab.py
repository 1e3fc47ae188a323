"""One running cluster and the consumers of its events: store, pictures, rates, failover phases, invariants, live stream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import msgspec

from backend.checkpoints.operation_counts import Counting
from backend.compare.service import Comparisons
from backend.errors import LabError
from backend.events.failovers import Failover, Failovers
from backend.events.hub import Hub
from backend.evidence import TakeoverEvidence
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.home import Home
from backend.log_rotation import keep_rotated
from backend.memory_watch import MemoryWatch
from backend.picture import Picture
from backend.running_cluster import Running
from backend.scenario_runs.service import ScenarioRuns
from backend.searches import search_file
from backend.searches.service import Searches
from backend.settings import Settings
from backend.simulated.workers import Workers
from backend.store import queries
from backend.store.store import EventStore
from backend.trace_trimmer import keep_trimmed
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Called, Stamped

PICTURE_EVERY_NS = 10_000_000_000
PICTURE_EVERY_EVENTS = 20_000
NS_PER_MS = 1_000_000


class Lab(Running):
    """Made by `open`; `start` brings the cluster up, `stop` ends all of it."""

    def __init__(self, settings: Settings, home: Home, store: EventStore, last: Picture, workers: Workers):
        super().__init__(settings, home, store, last, self._on_events, workers)
        self.workers = workers
        """They carry this cluster, if it is simulated, and may carry others."""
        session_ms = home.file.cluster.timing.session_timeout_ms
        self.failovers = Failovers(self._failed_over, session_ms * NS_PER_MS)
        self.hub = Hub(self)
        self.comparisons = Comparisons()
        self.searches = Searches(home.path / search_file.FILE)
        self.scenario_runs = ScenarioRuns()
        self.counting = Counting()
        self.began_s = time.monotonic()
        self._tasks: list[asyncio.Task[None]] = []
        self._pictured_ns = 0
        self._pictured_seq = store.seq

    @classmethod
    async def open(
        cls,
        settings: Settings,
        on_trouble: Callable[[str], None] = lambda line: None,
        workers: Workers | None = None,
    ) -> Lab:
        """`workers` carry a simulated cluster. Raises CannotStart in one line; nothing is left held then."""
        home = Home.open(
            settings.data, settings.shape, settings.zookeeper, settings.token_file, settings.simulated,
            settings.seed,
        )  # fmt: skip
        try:
            store = await EventStore.open(
                home.path / "events.db", settings.kept_events, settings.kept_s, on_trouble
            )
        except LabError:
            home.close()
            raise
        last = await queries.last_picture(store.reader)
        await store.begin_run(home.file.cluster.protocol, 0 if settings.simulated else monotonic_ns())
        return cls(settings, home, store, last, workers or Workers())

    async def start(self) -> None:
        """Raises CannotStart or Unavailable when the cluster does not start."""
        self._keep_picture()
        self.hub.start()
        self._tasks = [asyncio.create_task(MemoryWatch(self.fabric).run(), name="memory")]
        if isinstance(self.fabric, ClusterFabric):
            self._tasks += [
                asyncio.create_task(keep_trimmed(self.fabric, self.store), name="traces' trimming"),
                asyncio.create_task(keep_rotated(self.home.path / "logs"), name="logs' rotation"),
            ]
        await self.fabric.start()

    async def stop(self) -> None:
        try:
            for task in self._tasks:
                task.cancel()
            await self.comparisons.stop()
            await self.searches.close()
            await self.scenario_runs.stop()
            await self.fabric.stop()
            await self.hub.stop()
            self._keep_picture()
        finally:
            try:
                await self.store.close()
            finally:
                self.home.close()

    def _on_events(self, events: list[Stamped]) -> None:
        numbered = self.store.append(events)
        for stamped in events:
            self.failovers.on_event(stamped)
            if isinstance(stamped.event, Called) and stamped.event.returned_ns:
                self.buckets.add(stamped.event)
                self.calls.add(stamped.event)
                self.call_durations.add((stamped.event.returned_ns - stamped.event.invoked_ns) / 1e9)
        self.checks.on_events(events)
        for follow in self.followers:
            follow(events)
        self.store.keep_buckets(self.buckets.changed())
        picture = self.fabric.picture
        picture.seq = self.store.seq
        self.hub.publish(numbered)
        if self.start_s is None and self.fabric.settled():
            self.start_s = round(time.monotonic() - self.began_s, 3)
        many = picture.seq - self._pictured_seq >= PICTURE_EVERY_EVENTS
        if many or picture.at_ns - self._pictured_ns >= PICTURE_EVERY_NS:
            self._keep_picture()

    def _keep_picture(self) -> None:
        picture = self.fabric.picture
        self._pictured_ns, self._pictured_seq = picture.at_ns, picture.seq
        self.store.keep_picture(picture)

    def _failed_over(self, fault_ns: int, split: Failover) -> None:
        self.store.keep_failover(fault_ns, split)
        self.calls.keep(taken_over(split))
        self.hub.failovers.append(msgspec.structs.asdict(split))
        for part, durations in self.takeovers.items():
            took_ms = getattr(split, f"{part}_ms")
            if took_ms is not None:
                durations.add(took_ms / 1e3)


def taken_over(split: Failover) -> TakeoverEvidence:
    until_serving_ms = split.detection_ms + split.election_ms + split.switch_ms
    serving_ns = split.fault_ns + round(until_serving_ms * NS_PER_MS)
    return TakeoverEvidence(split.group, split.epoch, split.old, split.new, split.fault_ns, serving_ns)
