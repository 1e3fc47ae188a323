"""Restoring a backup: its tree is created by an ordinary client, in a cluster of any family and number of groups."""

from __future__ import annotations

from collections.abc import AsyncIterator

from nodes.backup.records import (
    BackupHeader,
    Content,
    DirectoryBegin,
    DirectoryEnd,
    FileBegin,
    FurtherName,
    Record,
    Totals,
)
from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.errors import FsError
from nodes.metadata.operations import (
    BLOCK_SIZE,
    Attributes,
    Create,
    Delete,
    Link,
    Mkdir,
    SetOwner,
    SetPermission,
    SetReplication,
    SetTimes,
    Stat,
)
from nodes.metadata.paths import shown
from nodes.metadata.tree import OWNER, REPLICATION


class TargetTaken(Exception):
    """The place for the tree is taken; one line says by what."""


class Restore:
    """Creates one object after the other, so that `totals` says at any time what is there. Modes, owners, times, replication and further names
    are those of the backup; inode and block numbers are new."""

    def __init__(self, smart: SmartClient, files: FileClient, into: str, again: bool = False):
        """`into`: the directory that takes the place of the backup's root. `again`: an earlier restoring of this backup there broke off. Whole
        objects stay, and half a file is made anew."""
        self._smart = smart
        self._files = files
        self._into = into
        self._again = again
        self._way: list[str] = []
        """Paths of the open directories."""
        self._linked: dict[int, str] = {}
        """The first path of each file with several names."""
        self.totals = Totals()

    async def prepare(self) -> None:
        """Creates the directory unless it exists. Raises TargetTaken, FsError."""
        try:
            await self._smart.call(Mkdir(self._into, parents=True))
        except FsError as error:
            if error.name in ("EEXIST", "ENOTDIR"):
                raise TargetTaken(f"{shown(self._into)} is no directory") from None
            raise
        found = await self._stat(self._into)
        if found.entries and not self._again:
            raise TargetTaken(f"{shown(self._into)} has {found.entries} entries")

    async def restore(self, records: AsyncIterator[Record]) -> Totals:
        """Creates what the records say, which must be checked (nodes/backup/decoder.py). Raises FsError, and what `records` raises."""
        async for record in records:
            if type(record) is DirectoryBegin:
                await self._begin(record)
            elif type(record) is FileBegin:
                await self._create(record, records)
            elif type(record) is FurtherName:
                await self._link(self._linked[record.link], self._below(record.name))
                self.totals = self.totals.plus(names=1)
            elif type(record) is DirectoryEnd:
                path = self._way.pop()
                await self._smart.call(SetTimes(path or "/", record.mtime_ns, record.atime_ns))
            elif type(record) is BackupHeader:
                await self.prepare()
        return self.totals

    def _below(self, name: str) -> str:
        return f"{self._way[-1]}/{name}"

    async def _begin(self, record: DirectoryBegin) -> None:
        if self._way:
            path = self._below(record.name)
            await self._make_directory(path, record.mode)
            await self._own(path, record)
        else:
            path = self._into.rstrip("/")
            await self._smart.call(SetPermission(path or "/", record.mode))
            await self._smart.call(SetOwner(path or "/", record.owner, record.group))
        self._way.append(path)
        self.totals = self.totals.plus(directories=1)

    async def _create(self, record: FileBegin, records: AsyncIterator[Record]) -> None:
        path = self._below(record.name)
        whole = self._again and await self._stands(path, record)
        if not whole:
            await self._smart.call(Create(path, record.mode))
        self.totals = self.totals.plus(files=1)
        if record.link:
            self._linked[record.link] = path
        if whole:
            async for _ in self._content(record.length, records):
                """Here already."""
            return
        if record.replication != REPLICATION:
            await self._smart.call(SetReplication(path, record.replication))
        if record.length:
            source = self._content(record.length, records)
            await self._files.append(path, source, block_size=record.block_size or BLOCK_SIZE)
        await self._own(path, record)
        await self._smart.call(SetTimes(path, record.mtime_ns, record.atime_ns))

    async def _stands(self, path: str, record: FileBegin) -> bool:
        """Whether the file is whole: its times are set last. Half a file is removed."""
        try:
            found = await self._stat(path)
        except FsError as error:
            if error.name == "ENOENT":
                return False
            raise
        if found.kind != "file" or (found.length, found.mtime_ns) == (record.length, record.mtime_ns):
            return found.kind == "file"
        await self._smart.call(Delete(path))
        return False

    async def _make_directory(self, path: str, mode: int) -> None:
        try:
            await self._smart.call(Mkdir(path, mode=mode))
        except FsError as error:
            stands = self._again and error.name == "EEXIST" and (await self._stat(path)).kind == "directory"
            if not stands:
                raise
            await self._smart.call(SetPermission(path, mode))

    async def _link(self, first: str, further: str) -> None:
        try:
            await self._smart.call(Link(first, further))
        except FsError as error:
            if not self._again or error.name != "EEXIST":
                raise
            await self._smart.call(Delete(further))
            await self._smart.call(Link(first, further))

    async def _stat(self, path: str) -> Attributes:
        found = (await self._smart.call(Stat(path))).result
        assert isinstance(found, Attributes)
        return found

    async def _own(self, path: str, record: DirectoryBegin | FileBegin) -> None:
        if (record.owner, record.group) != (OWNER, OWNER):
            await self._smart.call(SetOwner(path, record.owner, record.group))

    async def _content(self, length: int, records: AsyncIterator[Record]) -> AsyncIterator[bytes]:
        while length:
            record = await anext(records)
            assert type(record) is Content
            yield record.data
            length -= len(record.data)
            self.totals = self.totals.plus(size=len(record.data))
