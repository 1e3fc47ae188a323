"""A client of a trial at work: it makes its calls in its own style, in any world."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.errors import FsError
from nodes.explore.calls import Call, Caller, WithContent, parse
from nodes.explore.content import ContentRecord, record
from nodes.metadata.operations import CloseSession
from nodes.world import Clock

MICROSECOND = 1_000
BLOCK_SIZES = (512, 4_096, 65_536)


class Script:
    """One process of one client."""

    def __init__(
        self,
        caller: Caller,
        client: SmartClient,
        files: FileClient,
        clock: Clock,
        on_progress: Callable[[Script], None] = lambda script: None,
    ):
        """`on_progress` is called when a call begins, when it has returned, and when all have."""
        self._caller = caller
        self._client = client
        self._files = files
        self._clock = clock
        self._on_progress = on_progress
        self._calls: Iterator[tuple[int, Call]] = enumerate(map(parse, caller.calls), 1)
        self._open = 1 if caller.every_us else caller.lanes
        self._spawn: Callable[[Coroutine[Any, Any, Any]], Any]
        self.begun = 0
        self.answered = 0
        self.acknowledged: dict[str, ContentRecord] = {}
        """Acknowledged records of content by their tag."""
        self.under_way: dict[int, Call] = {}
        """Calls that have not returned, by their number in the plan; 0 ends the session."""

    def begin(self, spawn: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        """Begins the calls; `spawn` runs a procedure on the client's world."""
        self._spawn = spawn
        if self._caller.every_us:
            spawn(self._beginner())
            return
        for _ in range(self._caller.lanes):
            spawn(self._lane())

    @property
    def done(self) -> bool:
        return not self._open

    # --- styles ----------------------------------------------------------------------------------------------------

    async def _lane(self) -> None:
        for number, call in self._calls:
            await self._carry_out(number, call)
            if self._caller.pause_us:
                await self._clock.sleep(self._caller.pause_us * MICROSECOND)
        await self._end()

    async def _beginner(self) -> None:
        """Open loop: begins calls in time, however many are open."""
        for number, call in self._calls:
            self._open += 1
            self._spawn(self._alone(number, call))
            await self._clock.sleep(self._caller.every_us * MICROSECOND)
        await self._end()

    async def _alone(self, number: int, call: Call) -> None:
        await self._carry_out(number, call)
        await self._end()

    async def _end(self) -> None:
        """The last lane to finish closes the session, if the client leaves."""
        if self._open == 1 and self._caller.leaves:
            await self._carry_out(0, CloseSession())
        self._open -= 1
        self._on_progress(self)

    # --- calls -----------------------------------------------------------------------------------------------------

    async def _carry_out(self, number: int, call: Call) -> None:
        self.begun += 1
        self.under_way[number] = call
        self._on_progress(self)
        try:
            if isinstance(call, WithContent):
                await self._with_content(number, call)
            else:
                await self._client.call(call)
            self.answered += 1
        except FsError:
            pass
        finally:
            del self.under_way[number]
        self._on_progress(self)

    async def _with_content(self, number: int, call: WithContent) -> None:
        """A put or append writes one record that names its writer."""
        if call.verb == "get":
            async for _ in self._files.get(call.path):
                pass
            return
        tag = f"{self._caller.name}/{number}"
        places: list[ContentRecord] = []
        write = self._files.put if call.verb == "put" else self._files.append
        source = once(record(tag, call.size))

        def note(inode: int, append: int) -> None:
            places.append(ContentRecord(inode, append))

        await write(call.path, source, block_size=BLOCK_SIZES[number % 3], on_opened=note)
        self.acknowledged[tag] = places[0]


async def once(data: bytes) -> AsyncIterator[bytes]:
    yield data
