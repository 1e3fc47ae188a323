"""The clients of a trial at work: each carries out its calls in its own style, and remembers what content was acknowledged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from nodes.errors import FsError
from nodes.explore.calls import Call, WithContent, parse
from nodes.explore.content import record
from nodes.explore.plan import Caller
from nodes.metadata.operations import CloseSession

if TYPE_CHECKING:
    from nodes.sim.cluster import SimClient, SimCluster

MICROSECOND = 1_000
BLOCK_SIZES = (512, 4_096, 65_536)


class Client:
    """One life of one client."""

    def __init__(self, cluster: SimCluster, caller: Caller):
        self._cluster = cluster
        self._caller = caller
        self._client: SimClient = cluster.start_client(caller.name, reports_calls=True)
        self._calls: Iterator[tuple[int, Call]] = enumerate(map(parse, caller.calls), 1)
        self._open = caller.lanes
        self.name = caller.name
        self.begun = 0
        self.answered = 0
        self.errors: dict[str, int] = {}
        self.acknowledged: dict[str, int] = {}
        """Records of content that were acknowledged: tag to the inode of the file."""
        self.dead = False
        self._under_way: dict[int, Call] = {}
        lanes = self._beginner() if caller.every_us else None
        if lanes is not None:
            self._open = 1
            self._client.begin(lanes)
        else:
            for _ in range(caller.lanes):
                self._client.begin(self._lane())

    @property
    def done(self) -> bool:
        """Every call has returned, or nobody waits for it any more."""
        return self.dead or not self._open

    @property
    def under_way(self) -> dict[int, Call]:
        """Calls that somebody still waits for, by their number in the plan; 0 ends the session."""
        return {} if self.dead else self._under_way

    def die(self) -> None:
        """Its process is killed."""
        if not self.dead:
            self.dead = True
            self._cluster.faults.crash(self._caller.name)

    # --- styles ----------------------------------------------------------------------------------------------------

    async def _lane(self) -> None:
        for number, call in self._calls:
            await self._carry_out(number, call)
            if self._caller.pause_us:
                await self._client.clock.sleep(self._caller.pause_us * MICROSECOND)
        await self._end()

    async def _beginner(self) -> None:
        """Open loop: begins calls in time, however many are open."""
        for number, call in self._calls:
            self._open += 1
            self._client.begin(self._alone(number, call))
            await self._client.clock.sleep(self._caller.every_us * MICROSECOND)
        await self._end()

    async def _alone(self, number: int, call: Call) -> None:
        await self._carry_out(number, call)
        await self._end()

    async def _end(self) -> None:
        """The last one to come here ends the session, if that is to be."""
        if self._open == 1 and self._caller.leaves:
            await self._carry_out(0, CloseSession())
        self._open -= 1

    # --- calls -----------------------------------------------------------------------------------------------------

    async def _carry_out(self, number: int, call: Call) -> None:
        self.begun += 1
        self._under_way[number] = call
        try:
            if isinstance(call, WithContent):
                await self._with_content(number, call)
            else:
                await self._client.client.call(call)
            self.answered += 1
        except FsError as error:
            self.errors[error.name] = self.errors.get(error.name, 0) + 1
        finally:
            del self._under_way[number]

    async def _with_content(self, number: int, call: WithContent) -> None:
        """A put or append writes one record that says of itself whose it is."""
        if call.verb == "get":
            async for _ in self._client.files.get(call.path):
                pass
            return
        tag = f"{self._caller.name}/{number}"
        inodes: list[int] = []
        write = self._client.files.put if call.verb == "put" else self._client.files.append
        source = once(record(tag, call.size))
        await write(call.path, source, block_size=BLOCK_SIZES[number % 3], on_opened=inodes.append)
        self.acknowledged[tag] = inodes[0]


async def once(octets: bytes) -> AsyncIterator[bytes]:
    yield octets
