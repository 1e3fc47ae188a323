"""The page of a cluster in a browser: its size, how soon it reacts, and its frames and memory while 5,000 events a second arrive."""

from __future__ import annotations

import time
from itertools import pairwise
from statistics import median
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from backend.errors import Impossible, Malformed
from backend.key import key_of
from benchmarks._browser import FLAGS, chromium
from benchmarks._cluster import report
from benchmarks._control_plane import ask, simulated
from benchmarks.soak import growth

EVENTS_PER_S = 5_000
OPENINGS = 5
FRAMES_S = 10.0
FIRST_CALLS_PER_S = 200.0
SETTLE_S = 5.0
SAMPLES = 12
"""Of the heap, over the minutes."""
VIEWPORT = {"width": 1280, "height": 800}
LIMIT_MS = 30_000

PROBE = """
(() => {
  const look = () => {
    const card = document.querySelector("[data-server-card]");
    if (window.reacted_ms === undefined && card !== null) {
      const { x, y, width, height } = card.getBoundingClientRect();
      const clickable = card.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      if (document.querySelector("[role=dialog] .menu-title") !== null) window.reacted_ms = performance.now();
      else if (clickable && !window.clicked) {
        window.clicked = true;
        card.click();
      }
    }
    if (window.reacted_ms === undefined) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
"""Clicks on the first card of a server that nothing covers, and notes the frame in which its menu is there."""
SCRIPT_BYTES = """
() => performance.getEntriesByType("resource")
  .filter(({ name }) => new URL(name).pathname.endsWith(".js"))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
"""
FRAMES = """
seconds => new Promise(done => {
  const times = [];
  const frame = now => {
    times.push(now);
    if (now - times[0] < seconds * 1000) requestAnimationFrame(frame);
    else done(times);
  };
  requestAnimationFrame(frame);
})
"""
"""The time of each frame, in milliseconds."""


def opened(browser: Browser, port: int, probe: str = "") -> Page:
    """The page in a context of its own, with nothing cached and the key of the API."""
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="no-preference")  # type: ignore[arg-type]
    url = f"http://127.0.0.1:{port}/"
    context.add_cookies([{"name": f"cloverlab-key-{port}", "value": key_of(port), "url": url}])
    page = context.new_page()
    page.set_default_timeout(LIMIT_MS)
    if probe:
        page.add_init_script(probe)
    page.goto(url)
    return page


def openings(browser: Browser, port: int) -> dict[str, float]:
    times, size = [], 0
    for _ in range(OPENINGS):
        page = opened(browser, port, PROBE)
        times.append(page.wait_for_function("() => window.reacted_ms").json_value())
        size = page.evaluate(SCRIPT_BYTES)
        page.context.close()
    return {
        "page_kb": round(size / 1000, 1),
        "interactive_ms": round(median(times)),
        "interactive_ms_max": round(max(times)),
    }


class Arrivals:
    """The events of the live run, which the control plane numbers."""

    def __init__(self, port: int):
        self._port = port
        self._key = key_of(port)
        self.begin()

    def begin(self) -> None:
        self._began = self._newest()

    def per_s(self) -> float:
        """Since `begin`."""
        (began_s, first), (ended_s, last) = self._began, self._newest()
        return (last - first) / (ended_s - began_s)

    def _newest(self) -> tuple[float, int]:
        seq = ask(self._port, self._key, "GET", "runs")[0]["last_seq"]
        return time.monotonic(), seq

    def drive(self) -> float:
        """Sets the rate of calls by which 5,000 events a second arrive, and returns it."""
        self._call(FIRST_CALLS_PER_S)
        self.begin()
        time.sleep(SETTLE_S)
        calls_per_s = round(FIRST_CALLS_PER_S * EVENTS_PER_S / self.per_s())
        self._call(calls_per_s)
        return calls_per_s

    def _call(self, per_s: float) -> None:
        ask(self._port, self._key, "POST", "workload", {"rate_per_s": per_s})
        time.sleep(SETTLE_S)


def frames(page: Page, session: CDPSession, arrivals: Arrivals) -> dict[str, float]:
    busy_s = main_thread_s(session)
    arrivals.begin()
    times = page.evaluate(FRAMES, FRAMES_S)
    return {
        "events_per_s": round(arrivals.per_s()),
        "fps": per_s(times),
        "frame_ms_max": round(max(later - earlier for earlier, later in pairwise(times)), 1),
        "main_thread_share": round((main_thread_s(session) - busy_s) / FRAMES_S, 3),
    }


def per_s(times_ms: list[float]) -> float:
    return round((len(times_ms) - 1) / (times_ms[-1] - times_ms[0]) * 1000, 1)


def main_thread_s(session: CDPSession) -> float:
    """Time in which the page's main thread was at work."""
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def heap_mb(session: CDPSession) -> float:
    """What is still in use after a collection of garbage."""
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def memory(session: CDPSession, arrivals: Arrivals, minutes: int) -> dict[str, float]:
    arrivals.begin()
    samples = []
    for _ in range(SAMPLES):
        time.sleep(minutes * 60 / SAMPLES)
        samples.append(heap_mb(session))
    return {
        "heap_mb": round(samples[-1], 1),
        "heap_growth_mb": growth(samples),
        "heap_events_per_s": round(arrivals.per_s()),
    }


def measured(browser: Browser, port: int, minutes: int) -> tuple[dict[str, float], float]:
    """The figures, and the calls a second that the events came from."""
    figures = openings(browser, port)
    page = opened(browser, port)
    page.wait_for_selector("[data-connection=live]", state="attached")
    session = page.context.new_cdp_session(page)
    for domain in ("Performance", "HeapProfiler"):
        session.send(f"{domain}.enable")
    arrivals = Arrivals(port)
    calls_per_s = arrivals.drive()
    figures |= frames(page, session, arrivals)
    figures |= memory(session, arrivals, minutes)
    page.context.close()
    with browser.new_page() as empty:
        figures["fps_of_empty_page"] = per_s(empty.evaluate(FRAMES, FRAMES_S))
    return figures, calls_per_s


def main(minutes: str = "2") -> int:
    """`minutes`: how long the page's memory is watched."""
    if not minutes.isdigit() or not 1 <= int(minutes) <= 600:
        raise Malformed(f"bench page takes 1 to 600 minutes, not {minutes[:40]!r}")
    path = chromium()
    if path is None:
        raise Impossible("no Chromium on this machine; CLOVERLAB_CHROMIUM may name one")
    with simulated("page") as (port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        figures, calls_per_s = measured(browser, port, int(minutes))
        version = browser.version
        browser.close()
    config: dict[str, Any] = {
        "on": "simulated", "calls_per_s": calls_per_s, "frames_s": FRAMES_S, "minutes": int(minutes),
        "viewport": VIEWPORT, "chromium": version,
    }  # fmt: skip
    return report("page", config, figures, {})
