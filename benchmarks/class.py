"""A class at work: so many students, each with a simulated cluster and a page that shows it live, and the instructor's wall."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise
from pathlib import Path

from websockets.asyncio.client import connect

from backend.classes.record import STUDENTS_MAX
from backend.errors import Malformed
from backend.key import authorization, key_of
from benchmarks._cluster import quantile, report
from benchmarks._control_plane import ask, simulated
from benchmarks.simulated import rss_bytes

STUDENTS = 50
WARM_S = 10.0
MEASURED_S = 30.0
WALL_EVERY_S = 1.0


class StudentPage:
    """One page: when each of its updates came."""

    def __init__(self, cluster: str, key: str):
        self.cluster = cluster
        self._key = key
        self.came_s: list[float] = []
        self.virtual_ns: list[int] = []

    async def live(self, port: int) -> None:
        """Reads the stream as a browser does, until it is cancelled."""
        address = f"ws://127.0.0.1:{port}/api/clusters/{self.cluster}/stream"
        async with connect(
            address, additional_headers=authorization(self._key), max_size=1 << 26, proxy=None
        ) as stream:
            async for message in stream:
                frame = json.loads(message)
                if frame["type"] == "clock":
                    self.came_s.append(time.monotonic())
                    self.virtual_ns.append(frame["now_ns"])

    def gaps_ms(self, from_s: float) -> list[float]:
        """Times between two updates, each of which brings virtual time forward."""
        came = [each for each in self.came_s if each >= from_s]
        return [1e3 * (later - earlier) for earlier, later in pairwise(came)]

    def speed(self, from_s: float) -> float:
        """Virtual time over time; 1 keeps up."""
        seen = [each for each in zip(self.came_s, self.virtual_ns, strict=True) if each[0] >= from_s]
        (began_s, began_ns), (ended_s, ended_ns) = seen[0], seen[-1]
        return (ended_ns - began_ns) / 1e9 / (ended_s - began_s)


async def pages(port: int, students: int) -> list[StudentPage]:
    """All students join, and each gets a cluster."""
    code = (await asyncio.to_thread(ask, port, key_of(port), "POST", "class", {"name": "bench"}))["code"]
    made = []
    for number in range(students):
        body = {"code": code, "name": f"student {number}"}
        key = (await asyncio.to_thread(ask, port, "", "POST", "class/join", body))["key"]
        cluster = (await asyncio.to_thread(ask, port, key, "POST", "class/me/cluster"))["name"]
        made.append(StudentPage(cluster, key))
    return made


async def watch_wall(port: int, took_ms: list[float]) -> None:
    while True:
        began_s = time.monotonic()
        await asyncio.to_thread(ask, port, key_of(port), "GET", "class/wall")
        took_ms.append(1e3 * (time.monotonic() - began_s))
        await asyncio.sleep(WALL_EVERY_S)


async def measured(port: int, pid: int, students: int) -> dict[str, float]:
    began_s = time.monotonic()
    made, wall_ms = await pages(port, students), list[float]()
    joined_s = time.monotonic() - began_s
    tasks = [asyncio.create_task(each.live(port)) for each in made]
    tasks.append(asyncio.create_task(watch_wall(port, wall_ms)))
    await asyncio.sleep(WARM_S)
    from_s = time.monotonic()
    await asyncio.sleep(MEASURED_S)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    gaps = [gap for each in made for gap in each.gaps_ms(from_s)]
    return {
        "students": students,
        "joined_s": round(joined_s, 1),
        "update_ms_p95": round(quantile(gaps, 0.95), 1),
        "update_ms_max": round(max(gaps), 1),
        "slowest_speed": round(min(each.speed(from_s) for each in made), 3),
        "wall_ms_p95": round(quantile(wall_ms, 0.95), 1),
        "rss_mb": round(sum(map(rss_bytes, family(pid))) / 2**20, 1),
    }


def family(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def main(students: str = str(STUDENTS)) -> int:
    """`students`: how many there are."""
    if not students.isdigit() or not 1 <= int(students) <= STUDENTS_MAX:
        raise Malformed(f"bench class takes 1 to {STUDENTS_MAX} students, not {students[:40]!r}")
    with simulated("class") as (port, pid):
        figures = asyncio.run(measured(port, pid, int(students)))
    return report("class", {"warm_s": WARM_S, "measured_s": MEASURED_S}, figures, {})
