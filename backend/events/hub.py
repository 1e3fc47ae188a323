"""The live stream: events gathered for 50 ms, encoded once for all pages, and never more than a page can
take."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import msgspec

from backend.clusters import service, views
from backend.clusters.counters import counted
from backend.errors import Unavailable
from backend.events.messages import MessageLines
from backend.faults.served import served
from backend.store.encoding import OF_ONE_GROUP, named
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Stamped

if TYPE_CHECKING:
    from backend.lab import Lab

BATCH_S = 0.05
RATE_S = 0.2
MESSAGES_S = 0.1
COUNTERS_S = 1.0
RING = 20_000
"""Events held for pages that come back after a broken connection."""
BATCH_EVENTS = 1_000
QUEUE_FRAMES = 40
"""Frames that may wait for a slow page (two seconds); then it is cut to the newest picture."""

Numbered = tuple[int, Stamped]


class Page:
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
    """Everything that pages are told unasked."""

    def __init__(self, lab: Lab):
        self._lab = lab
        self._pages: list[Page] = []
        self._ring: deque[Numbered] = deque(maxlen=RING)
        self._fresh: list[Numbered] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._lamps: Any = None
        self._told = (0, 0)
        self._lines = MessageLines()
        self.failovers: deque[dict[str, Any]] = deque(maxlen=64)

    def start(self) -> None:
        steps: tuple[Coroutine[Any, Any, None], ...] = (
            self._batches(), self._rates(), self._message_lines(), self._counters(),
        )  # fmt: skip
        self._tasks = [asyncio.create_task(step) for step in steps]
        self._lab.fabric.on_states = self.processes_changed

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- pages ------------------------------------------------------------------------------------

    def join(self, after: int | None) -> Page:
        """A new page: first the present picture, then what it missed since `after` as far as it is held."""
        page = Page()
        self._flush()
        page.put(self._hello(0))
        missed = [each for each in self._ring if after is not None and each[0] > after]
        if missed:
            page.put(frame(events_frame(missed, max(0, missed[0][0] - 1 - (after or 0)))))
        self._pages.append(page)
        return page

    def leave(self, page: Page) -> None:
        with contextlib.suppress(ValueError):
            self._pages.remove(page)

    def _hello(self, left_out: int) -> bytes:
        lab = self._lab
        picture = lab.fabric.picture
        told = {"type": "hello", "run": lab.store.run, "seq": picture.seq, "picture": views.picture(picture)}
        told["verbs"] = served(lab.family, lab.fabric.kind)
        return frame({**told, "now_ns": monotonic_ns(), "lamps": lab.checks.lamps(), "left_out": left_out})

    def publish(self, numbered: list[Numbered]) -> None:
        self._ring.extend(numbered)
        if self._pages:
            self._fresh.extend(numbered)

    def processes_changed(self) -> None:
        if self._pages:
            self._tell({"type": "processes", **service.processes(self._lab)})

    def _tell(self, told: dict[str, Any], events: int = 0) -> None:
        octets = frame(told)
        for page in self._pages:
            if len(page.queue) >= QUEUE_FRAMES:
                page.queue.clear()
                page.behind = 1
            if page.behind:
                page.behind += events
            else:
                page.put(octets)
            if page.behind and not page.queue:
                page.put(self._hello(page.behind - 1))
                page.behind = 0

    # --- what is told -----------------------------------------------------------------------------

    async def _batches(self) -> None:
        while True:
            await asyncio.sleep(BATCH_S)
            self._flush()
            lamps = self._lab.checks.lamps() if self._pages else self._lamps
            if lamps != self._lamps and self._pages:
                self._lamps = lamps
                self._tell({"type": "lamps", "lamps": lamps})

    def _flush(self) -> None:
        if self._fresh:
            fresh, self._fresh = self._fresh, []
            kept = thinned(fresh)
            self._tell(events_frame(kept, len(fresh) - len(kept)), len(fresh))
        while self.failovers:
            split = self.failovers.popleft()
            self._tell({"type": "failover", **split, "from": split["old"], "to": split["new"]})

    async def _rates(self) -> None:
        while True:
            await asyncio.sleep(RATE_S)
            if not self._pages:
                continue
            buckets, now_ns = self._lab.buckets, monotonic_ns()
            recent = buckets.since(now_ns - 1_000_000_000)
            ok, failed = buckets.ok_total - self._told[0], buckets.failed_total - self._told[1]
            self._told = (buckets.ok_total, buckets.failed_total)
            told = {"ok": ok, "failed": failed, "span_ms": int(RATE_S * 1000)}
            quantiles = {
                "p50_ms": recent.latencies.quantile_ms(0.5),
                "p99_ms": recent.latencies.quantile_ms(0.99),
            }
            self._tell({"type": "rate", "at_ns": now_ns, **told, **quantiles})

    async def _counters(self) -> None:
        """Asked for whether a page looks or not: the API and Prometheus tell them too."""
        lab = self._lab
        while True:
            await asyncio.sleep(COUNTERS_S)
            lab.counted = await counted(lab.fabric)
            self._tell({"type": "counters", **msgspec.to_builtins(lab.counted)})

    async def _message_lines(self) -> None:
        """Message tracing runs in the processes only while a page looks at it."""
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
            told = self._lines.take()
            if wanted and told["list"]:
                self._tell(told)

    async def _take_messages(self, name: str, wanted: bool) -> None:
        ask = self._lab.fabric.ask
        with contextlib.suppress(Unavailable):
            await ask(name, {"do": "messages", "on": wanted}, 0.3)
            if wanted:
                self._lines.add(name, await ask(name, {"do": "take_messages"}, 0.3))


def thinned(fresh: list[Numbered]) -> list[Numbered]:
    """Of a burst only the newest events of single journal groups; all others are kept."""
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


def events_frame(numbered: list[Numbered], left_out: int) -> dict[str, Any]:
    events = [named(stamped, seq) for seq, stamped in numbered]
    return {"type": "events", "events": events, "next": numbered[-1][0], "left_out": left_out}


def frame(told: dict[str, Any]) -> bytes:
    return msgspec.json.encode(told)
