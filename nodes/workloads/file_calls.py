"""Files with content in a workload: put, append and get. The content of every get is compared with the written one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from nodes.client.files import FileClient
from nodes.config import MILLISECOND, WorkloadConfig
from nodes.errors import FsError
from nodes.trace.block_events import FileCalled
from nodes.workloads.contents import read_back, record
from nodes.world import World

PART_BYTES = 16_384
PART_NS = 5 * MILLISECOND
"""Pause between two parts: an application that writes some three megabytes a second."""
FILES_MAX = 256
WRONG = "EBADMSG"
"""The error of a get whose bytes differ from those written."""


class WrittenFile(msgspec.Struct):
    """One file as its writer knows it."""

    path: str
    last: int = 0
    """The number of the last record that was begun."""
    acked: dict[int, int] = {}
    """Acknowledged records, with the time of acknowledgement."""
    held: bool = False
    """An append to the file is under way."""


class FileCalls:
    """Calls of one workload on files with content. A file whose writer failed is not used any more."""

    def __init__(self, world: World, files: FileClient, config: WorkloadConfig, session: str):
        self._world = world
        self._files = files
        self._config = config
        self._session = session
        self._written: list[WrittenFile] = []

    async def call(self, verb: str, path: str) -> str:
        """One call; `path` is a new name for a put. Returns the POSIX name of its error, empty for none."""
        free = [file for file in self._written if not file.held]
        if verb == "put" or not free:
            return await self._put(path)
        file = self._world.rng.choice(free)
        return await (self._append(file) if verb == "append" else self._get(file))

    async def _put(self, path: str) -> str:
        file = WrittenFile(path)
        error = await self._write(file, "put")
        if not error:
            if len(self._written) == FILES_MAX:
                del self._written[0]
            self._written.append(file)
        return error

    async def _append(self, file: WrittenFile) -> str:
        error = await self._write(file, "append")
        if error:
            self._forget(file)
        return error

    async def _write(self, file: WrittenFile, verb: str) -> str:
        size = self._world.rng.randrange(self._config.size // 2, self._config.size * 3 // 2 + 1)
        file.held, file.last = True, file.last + 1
        number, began_ns, error = file.last, self._world.clock.monotonic_ns(), ""
        source = self._parts(record(file.path, number, size))
        write = self._files.put if verb == "put" else self._files.append
        try:
            await write(file.path, source, block_size=self._config.block_size)
            file.acked[number] = self._world.clock.monotonic_ns()
        except FsError as failed:
            error = failed.name
        file.held = False
        self._report(verb, file.path, size, began_ns, error)
        return error

    async def _parts(self, data: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(data), PART_BYTES):
            if start:
                await self._world.clock.sleep(PART_NS)
            yield data[start : start + PART_BYTES]

    async def _get(self, file: WrittenFile) -> str:
        began_ns, error = self._world.clock.monotonic_ns(), ""
        wanted = dict(file.acked)
        parts: list[bytes] = []
        try:
            async for data in self._files.get(file.path):
                parts.append(data)
        except FsError as failed:
            error = failed.name
        data = b"".join(parts)
        found = read_back(file.path, data)
        reported = error in ("", "ENOENT")
        lacking = [number for number in wanted if number not in found.numbers] if reported else []
        if found.wrong_at >= 0:
            error = WRONG
        newest_ns = max((wanted[number] for number in lacking), default=0)
        self._report("get", file.path, len(data), began_ns, error, found.wrong_at, newest_ns)
        if error in ("ENOENT", WRONG):
            self._forget(file)
        for number in lacking:
            file.acked.pop(number, None)
        return error

    def _forget(self, file: WrittenFile) -> None:
        if file in self._written:
            self._written.remove(file)

    def _report(
        self,
        verb: str,
        path: str,
        size: int,
        began_ns: int,
        error: str,
        wrong_at: int = -1,
        lacking_ns: int = 0,
    ) -> None:
        now_ns = self._world.clock.monotonic_ns()
        self._world.trace.emit(
            FileCalled(self._session, verb, path, size, began_ns, now_ns, error, wrong_at, lacking_ns)
        )
