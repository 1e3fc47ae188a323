"""A response leaves only when the changes that it may show are durable; changes share a sync."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from nodes.coordination import operations as ops
from nodes.coordination.log import Logged, TransactionLog
from nodes.coordination.requests import Connect
from nodes.coordination.service import ZooKeeperService
from nodes.coordination.tree import ZnodeTree


class SlowLog(TransactionLog):
    """A log whose writes finish only when the test releases them."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.may_end = threading.Semaphore(0)
        self.batches: list[list[Logged]] = []
        self.fails = False

    def write(self, batch: list[Logged]) -> None:
        assert self.may_end.acquire(timeout=10)
        if self.fails:
            raise OSError(28, "No space left on device")
        super().write(batch)
        self.batches.append(batch)


class Sent:
    """A connection that records its output."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def send(self, data: bytes) -> None:
        self.frames.append(data)

    def close(self) -> None: ...


def play(
    directory: Path, story: Callable[[ZooKeeperService, SlowLog, list[OSError]], Awaitable[None]]
) -> None:
    async def whole() -> None:
        failures: list[OSError] = []
        tree, log = ZnodeTree(), SlowLog(directory)
        log.open(tree, 0)
        await asyncio.wait_for(story(ZooKeeperService(tree, log, failures.append), log, failures), 10)
        log.close()

    asyncio.run(whole())


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def opened(service: ZooKeeperService, line: Sent) -> int:
    session = service.connect(Connect(0, 5_000, 0, b""), line)
    assert session is not None
    return session.number


def test_a_read_of_what_is_not_yet_durable_waits_for_it(tmp_path: Path) -> None:
    async def story(service: ZooKeeperService, log: SlowLog, failures: list[OSError]) -> None:
        line, reported = Sent(), []
        session = opened(service, line)
        service.submit(session, ops.Get("/", watch=True))
        service.submit(session, ops.SetData("/", b"new"))
        assert service.submit(session, ops.Get("/")).data == b"new"
        service.commits.after(lambda: reported.append(len(line.frames)))
        await turns()
        assert reported == [] and line.frames == []
        log.may_end.release(2)
        await service.commits.settled()
        assert reported == [1]

    play(tmp_path, story)


def test_changes_made_during_a_sync_share_the_next(tmp_path: Path) -> None:
    async def story(service: ZooKeeperService, log: SlowLog, failures: list[OSError]) -> None:
        session = opened(service, Sent())
        await turns()
        for number in range(50):
            service.submit(session, ops.CreateZnode(f"/{number}"))
        log.may_end.release(2)
        await service.commits.settled()
        assert [len(batch) for batch in log.batches] == [1, 50]

    play(tmp_path, story)


def test_a_full_disk_answers_nobody_and_is_reported(tmp_path: Path) -> None:
    async def story(service: ZooKeeperService, log: SlowLog, failures: list[OSError]) -> None:
        reported: list[int] = []
        opened(service, Sent())
        service.commits.after(lambda: reported.append(1))
        log.fails = True
        log.may_end.release()
        while not failures:
            await asyncio.sleep(0)
        await turns()
        assert reported == [] and failures[0].errno == 28

    play(tmp_path, story)
