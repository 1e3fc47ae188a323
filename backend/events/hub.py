"""The live stream: events collected for 50 ms, encoded once for all pages, and never more than a page can take."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine
from typing import Any

import msgspec

from backend.clusters import service, views
from backend.clusters.models import NodeProcess
from backend.errors import Unavailable
from backend.events import frames
from backend.events.messages import MessageLines
from backend.fabrics.counters import counted
from backend.faults.served_table import served
from backend.running_cluster import Running
from backend.store.encoding import OF_ONE_GROUP, named
from backend.vocabulary import lanes, terms_of
from nodes.trace.events import Stamped
from nodes.trace.prose import Terms

BATCH_S = 0.05
RATE_S = 0.2
MESSAGES_S = 0.1
COUNTERS_S = 1.0
BATCH_EVENTS = 1_000
PAGES_MAX = 16
"""Each page may get a copy of the whole ring when it joins."""
QUEUE_FRAMES = 40
"""Frames that may wait for a slow page (two seconds); then it is cut to the newest picture."""

Numbered = tuple[int, Stamped]


class PageSocket:
    """One socket: frames wait in `queue` until they are sent."""

    def __init__(self) -> None:
        self.queue: deque[bytes] = deque()
        self.ready = asyncio.Event()
        self.messages = False
        self.behind = 0
        """Events left out since the page stopped keeping up."""

    def put(self, frame: bytes) -> None:
        self.queue.append(frame)
        self.ready.set()

    async def next(self) -> bytes:
        while not self.queue:
            self.ready.clear()
            await self.ready.wait()
        return self.queue.popleft()


class Hub:
    """Pushes frames to every connected page."""

    def __init__(self, lab: Running):
        self._lab = lab
        self._pages: list[PageSocket] = []
        self._ring: deque[Numbered] = deque(maxlen=lab.settings.ring)
        self._fresh: list[Numbered] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._invariants: Any = None
        self._reported = (0, 0)
        self._rated_ns = lab.fabric.now_ns
        """Time of the last rate."""
        self._lines = MessageLines()
        self._pictured = views.picture(lab.fabric.picture)
        """As the pages know it."""
        self._terms = terms_of(lab.home.file.cluster.protocol)
        self.failovers: deque[dict[str, Any]] = deque(maxlen=64)

    def start(self) -> None:
        steps: tuple[Coroutine[Any, Any, None], ...] = (
            self._batches(), self._rates(), self._message_lines(), self._counters(),
        )  # fmt: skip
        self._tasks = [asyncio.create_task(step) for step in steps]
        self._lab.fabric.on_states.subscribe(self.processes_changed)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def is_full(self) -> bool:
        return len(self._pages) >= PAGES_MAX

    # --- pages ------------------------------------------------------------------------------------

    def join(self, after: int | None) -> PageSocket:
        """Adds a page: it gets the present picture first, then the events after `after` that are still kept."""
        page = PageSocket()
        self._flush()
        self._pictured = views.picture(self._lab.fabric.picture)
        page.put(self._hello(0))
        missed = [each for each in self._ring if after is not None and each[0] > after]
        if missed:
            left_out = max(0, missed[0][0] - 1 - (after or 0))
            page.put(msgspec.json.encode(events_frame(missed, left_out, {}, self._terms)))
        self._pages.append(page)
        return page

    def leave(self, page: PageSocket) -> None:
        with contextlib.suppress(ValueError):
            self._pages.remove(page)

    def _hello(self, left_out: int) -> bytes:
        lab, picture = self._lab, self._pictured
        hello = frames.HelloFrame(
            run=lab.store.run,
            seq=picture["seq"],
            picture=picture,
            verbs=served(lab.family, lab.fabric.kind),
            lanes=lanes(lab.home.file.cluster),
            invariants=lab.checks.invariants(),
            now_ns=lab.fabric.now_ns,
            clock=lab.fabric.virtual_clock,
            left_out=left_out,
        )
        return msgspec.json.encode(hello)

    def publish(self, numbered: list[Numbered]) -> None:
        self._ring.extend(numbered)
        if self._pages:
            self._fresh.extend(numbered)

    def processes_changed(self) -> None:
        if self._pages:
            # A page that shows a paused clock shows what it has paused at.
            self._flush()
            self._report(processes_frame(self._lab))
            self._report_clock()

    def _report_clock(self) -> None:
        clock = self._lab.fabric.virtual_clock
        if clock is not None:
            self._report(frames.ClockFrame(**msgspec.structs.asdict(clock)))

    def _report(self, frame: frames.StreamFrame, events: int = 0) -> None:
        data = msgspec.json.encode(frame)
        for page in self._pages:
            if len(page.queue) >= QUEUE_FRAMES:
                page.queue.clear()
                page.behind = 1
            if page.behind:
                page.behind += events
            else:
                page.put(data)
            if page.behind and not page.queue:
                page.put(self._hello(page.behind - 1))
                page.behind = 0

    def _put_all(self, frame: bytes) -> None:
        for page in self._pages:
            page.put(frame)

    # --- messages ---------------------------------------------------------------------------------

    async def _batches(self) -> None:
        while True:
            await asyncio.sleep(BATCH_S)
            self._flush()
            invariants = self._lab.checks.invariants() if self._pages else self._invariants
            if invariants != self._invariants and self._pages:
                self._invariants = invariants
                self._report(frames.InvariantsFrame(invariants))

    def _flush(self) -> None:
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            before, self._pictured = self._pictured, views.picture(self._lab.fabric.picture)
            kept, changes = thinned(fresh), views.changes(before, self._pictured)
            self._report(events_frame(kept, len(fresh) - len(kept), changes, self._terms), len(fresh))
            if before["servers"].keys() - self._pictured["servers"].keys():
                # The changes name no row that has gone.
                self._put_all(self._hello(0))
        while self.failovers:
            self._report(frames.FailoverFrame(**self.failovers.popleft()))

    async def _rates(self) -> None:
        while True:
            await asyncio.sleep(RATE_S)
            if not self._pages:
                continue
            self._report_clock()
            buckets, now_ns = self._lab.buckets, self._lab.fabric.now_ns
            span_ms, self._rated_ns = round((now_ns - self._rated_ns) / 1e6), now_ns
            if not span_ms:
                continue
            recent = buckets.since(now_ns - 1_000_000_000)
            ok, failed = buckets.ok_total - self._reported[0], buckets.failed_total - self._reported[1]
            self._reported = (buckets.ok_total, buckets.failed_total)
            p50_ms, p99_ms = (recent.latencies.quantile_ms(each) for each in (0.5, 0.99))
            self._report(frames.RateFrame(now_ns, ok, failed, span_ms, p50_ms, p99_ms))

    async def _counters(self) -> None:
        """Queries the counters whether a page is connected or not: the API and Prometheus report them, too."""
        lab = self._lab
        while True:
            await asyncio.sleep(COUNTERS_S)
            lab.counted = await counted(lab.fabric)
            self._report(frames.CountersFrame(**msgspec.structs.asdict(lab.counted)))

    async def _message_lines(self) -> None:
        """Switches message tracing on in the processes only while a page shows it."""
        on = False
        while True:
            await asyncio.sleep(MESSAGES_S)
            wanted = any(page.messages for page in self._pages)
            if wanted or on:
                names = [
                    name
                    for name, state in self._lab.fabric.states().items()
                    if state == "running" and name not in self._lab.fabric.spread(["coordination"])
                ]
                await asyncio.gather(*(self._take_messages(name, wanted) for name in names))
            on = wanted
            lines, dropped = self._lines.take()
            if wanted and lines:
                self._report(frames.MessagesFrame(lines, dropped))

    async def _take_messages(self, name: str, wanted: bool) -> None:
        ask = self._lab.fabric.ask
        with contextlib.suppress(Unavailable):
            await ask(name, {"do": "messages", "on": wanted}, 0.3)
            if wanted:
                self._lines.add(name, await ask(name, {"do": "take_messages"}, 0.3))


def thinned(fresh: list[Numbered]) -> list[Numbered]:
    """The events without the older ones of a burst: only the newest events of single journal groups are kept, and all other events."""
    excess = len(fresh) - BATCH_EVENTS
    if excess <= 0:
        return fresh
    kept: list[Numbered] = []
    for each in fresh:
        if excess > 0 and isinstance(each[1].event, OF_ONE_GROUP):
            excess -= 1
        else:
            kept.append(each)
    return kept


def events_frame(
    numbered: list[Numbered], left_out: int, changes: dict[str, Any], terms: Terms
) -> frames.EventsFrame:
    """`changes`: what the events did to the picture."""
    events = [named(stamped, seq, terms) for seq, stamped in numbered]
    return frames.EventsFrame(events, numbered[-1][0], left_out, changes)


def processes_frame(running: Running) -> frames.ProcessesFrame:
    rows = [*service.servers(running), *service.nodes(running)]
    return frames.ProcessesFrame(
        [{key: row[key] for key in NodeProcess.model_fields} for row in rows],
        service.clients(running),
        service.coordination(running),
        service.links(running),
    )
