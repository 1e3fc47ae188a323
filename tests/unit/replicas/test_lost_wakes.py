"""A confirmation that changes while it is read is read again: its watch fired, and no other is set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import msgspec

from nodes.replicas.confirmations import Confirmation, Confirmations
from nodes.world import Clock, ConnectionLoss, Coordination, NodeStat

HOLDER = "mds1"


class Service:
    """A service with the holder's node. Like kazoo's, its replies and events come in turns of their own."""

    def __init__(self) -> None:
        self.version = 1
        self.watches: list[Callable[[str], None]] = []
        self.before_reader: Callable[[], None] = lambda: None
        """Runs when a reply is there and its reader has not taken it yet."""

    def write(self) -> None:
        self.version += 1
        watches, self.watches = self.watches, []
        for watch in watches:
            watch(HOLDER)

    async def get(self, path: str, watch: Callable[[str], None] | None = None) -> tuple[bytes, NodeStat]:
        reply: asyncio.Future[tuple[bytes, NodeStat]] = asyncio.get_running_loop().create_future()

        def answered() -> None:
            if watch is not None:
                self.watches.append(watch)
            data = msgspec.json.encode(Confirmation(1, stopped=False))
            reply.set_result((data, NodeStat(self.version, 0, 0, 0)))
            before_reader, self.before_reader = self.before_reader, lambda: None
            before_reader()

        asyncio.get_running_loop().call_soon(answered)
        return await reply


class Failing(Service):
    """Its first read fails."""

    failed = False

    async def get(self, path: str, watch: Callable[[str], None] | None = None) -> tuple[bytes, NodeStat]:
        if not self.failed:
            self.failed = True
            raise ConnectionLoss
        return await super().get(path, watch)


class Turns:
    """A clock on which every pause is one turn."""

    def monotonic_ns(self) -> int:
        return 0

    async def sleep(self, duration_ns: int) -> None:
        await asyncio.sleep(0)


async def seen(service: Service, writes: int) -> int:
    """The version that a server knows after this many further writes."""
    known = Confirmations(cast(Coordination, service), "/confirmations", "mds2")
    reading = asyncio.create_task(known.keep_up(cast(Clock, Turns())))
    known.follow(HOLDER)
    for write in range(writes + 1):
        if write:
            service.write()
        for _ in range(20):
            await asyncio.sleep(0)
    reading.cancel()
    sighting = known.sighting(HOLDER)
    assert sighting is not None
    return sighting.version


def test_a_write_between_a_reply_and_its_reader_is_seen() -> None:
    service = Service()
    service.before_reader = service.write
    assert asyncio.run(seen(service, writes=0)) == service.version == 2


def test_writes_after_one_that_met_a_read_are_seen() -> None:
    service = Service()
    service.before_reader = service.write
    assert asyncio.run(seen(service, writes=5)) == service.version == 7


def test_a_read_that_failed_is_repeated() -> None:
    service = Failing()
    assert asyncio.run(seen(service, writes=1)) == service.version == 2
