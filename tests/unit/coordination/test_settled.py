"""`settled` waits for the changes made before it, not for later ones, and not for a disk that has failed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from nodes.coordination import operations as ops
from nodes.coordination.service import ZooKeeperService
from tests.unit.coordination.test_commits import Sent, SlowLog, opened, play, turns


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fails a loop that gives the event loop no turn, where no time-out of asyncio would fire."""

    def ends(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"no turn of the event loop for {seconds} s")

    before = signal.signal(signal.SIGALRM, ends)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_changes_made_later_are_not_waited_for(tmp_path: Path) -> None:
    """A server that stops under load would never end."""

    async def story(service: ZooKeeperService, log: SlowLog, failures: list[OSError]) -> None:
        session = opened(service, Sent())
        await turns()
        service.submit(session, ops.CreateZnode("/before"))
        settled = asyncio.ensure_future(service.commits.settled())
        await turns()
        service.submit(session, ops.CreateZnode("/shares the sync"))
        log.may_end.release()
        while not log.batches:
            await asyncio.sleep(0)
        await turns()
        assert not settled.done()
        service.submit(session, ops.CreateZnode("/later"))
        log.may_end.release()
        try:
            await asyncio.wait_for(asyncio.shield(settled), 2)
            assert [len(batch) for batch in log.batches] == [1, 2]
        finally:
            log.may_end.release(9)
        await service.commits.settled()
        assert [len(batch) for batch in log.batches] == [1, 2, 1]

    play(tmp_path, story)


def test_a_failed_disk_is_not_waited_for(tmp_path: Path) -> None:
    async def story(service: ZooKeeperService, log: SlowLog, failures: list[OSError]) -> None:
        opened(service, Sent())
        settled = asyncio.ensure_future(service.commits.settled())
        await turns()
        log.fails = True
        log.may_end.release()
        await settled
        assert failures[0].errno == 28

    with within(3):
        play(tmp_path, story)


def test_a_disk_that_failed_before_is_not_waited_for(tmp_path: Path) -> None:
    async def story(service: ZooKeeperService, log: SlowLog, failures: list[OSError]) -> None:
        opened(service, Sent())
        log.fails = True
        log.may_end.release()
        while not failures:
            await asyncio.sleep(0)
        await service.commits.settled()

    with within(3):
        play(tmp_path, story)
