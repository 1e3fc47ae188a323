"""Export: a walk over the tree of a checkpoint, group by group where a directory has its objects."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from nodes.backup.records import (
    BackupDamaged,
    BackupEnd,
    BackupHeader,
    Content,
    DirectoryBegin,
    DirectoryEnd,
    FileBegin,
    FurtherName,
    Record,
    Totals,
)
from nodes.backup.sources import Sources
from nodes.metadata.operations import Attributes, Block
from nodes.units import ROOT, home_group

ReadBlock = Callable[[Block], AsyncIterator[bytes]]


class OpenDirectory:
    """A directory on the way from the root to the present object."""

    def __init__(self, attributes: Attributes):
        self.attributes = attributes
        self.ahead: deque[tuple[str, Attributes]] = deque()
        """Names of the page that was read last, in order, with their objects."""
        self.after = ""
        self.more = True


class Export:
    """Memory is bounded by a page of names for each level of the tree, and one number for each file with several names."""

    def __init__(
        self, header: BackupHeader, barriers: dict[int, dict[str, int]], sources: Sources, read: ReadBlock
    ):
        """`barriers`: the `sn` and `epoch` of the checkpoint's barrier by the number of the group."""
        self._header = header
        self._barriers = barriers
        self._sources = sources
        self._read = read
        self._linked: dict[int, int] = {}
        """The number in the backup of each file with several names, by inode."""
        self.totals = Totals()

    async def records(self) -> AsyncIterator[Record]:
        """The backup's records in order. Raises NoSource, what `read` raises, and BackupDamaged when the state contradicts itself."""
        yield self._header
        (root,) = await self._objects([ROOT])
        yield self._begin("", root)
        way = [OpenDirectory(root)]
        while way:
            here = way[-1]
            if not here.ahead and here.more:
                await self._read_page(here)
            elif not here.ahead:
                yield DirectoryEnd(here.attributes.mtime_ns, here.attributes.atime_ns)
                way.pop()
            else:
                name, found = here.ahead.popleft()
                if found.kind == "directory":
                    yield self._begin(name, found)
                    way.append(OpenDirectory(found))
                else:
                    async for record in self._file(name, found):
                        yield record
        yield BackupEnd(self.totals)

    async def _read_page(self, here: OpenDirectory) -> None:
        inode = here.attributes.inode
        answer = await self._ask(home_group(inode), "checkpoint_names", inode=inode, after=here.after)
        names: list[tuple[str, int]] = [(name, child) for name, child in answer["names"]]
        objects = await self._objects([child for _, child in names])
        here.ahead.extend((name, found) for (name, _), found in zip(names, objects, strict=True))
        here.more = answer["more"]
        here.after = names[-1][0] if names else ""

    async def _objects(self, inodes: list[int]) -> list[Attributes]:
        """The attributes of objects of any groups, in their order."""
        found: dict[int, Attributes] = {}
        for group in sorted({home_group(inode) for inode in inodes}):
            wanted = [inode for inode in inodes if home_group(inode) == group]
            answer = await self._ask(group, "checkpoint_objects", inodes=wanted)
            found.update((each["inode"], Attributes(**each)) for each in answer["objects"])
        return [found[inode] for inode in inodes]

    async def _ask(self, group: int, word: str, **fields: Any) -> dict[str, Any]:
        question = {"do": word, "name": self._header.checkpoint, **self._barriers[group], **fields}
        return await self._sources.ask(group, question)

    def _begin(self, name: str, found: Attributes) -> DirectoryBegin:
        self._count(directories=1)
        return DirectoryBegin(name, found.mode, found.owner, found.group)

    async def _file(self, name: str, found: Attributes) -> AsyncIterator[Record]:
        link = self._linked.get(found.inode, 0)
        if link:
            self._count(names=1)
            yield FurtherName(name, link)
            return
        if found.nlink > 1:
            link = self._linked[found.inode] = len(self._linked) + 1
        page = await self._page_of_blocks(found.inode, 0)
        self._count(files=1, size=found.length)
        yield FileBegin(
            name, found.mode, found.owner, found.group, found.mtime_ns, found.atime_ns, found.replication,
            page["block_size"], found.length, link,
        )  # fmt: skip
        size = 0
        async for data in self._content(found.inode, page):
            size += len(data)
            yield Content(data)
        if size != found.length:
            raise BackupDamaged(f"the blocks of {name!r} have {size} bytes; the file has {found.length}")

    async def _page_of_blocks(self, inode: int, first: int) -> dict[str, Any]:
        return await self._ask(home_group(inode), "checkpoint_blocks", inode=inode, first=first)

    async def _content(self, inode: int, page: dict[str, Any]) -> AsyncIterator[bytes]:
        first = 0
        while True:
            for number, stamp, length in page["blocks"]:
                async for data in self._read(Block(number, stamp, length)):
                    yield data
            if not page["more"]:
                return
            first += len(page["blocks"])
            page = await self._page_of_blocks(inode, first)

    def _count(self, **more: int) -> None:
        self.totals = self.totals.plus(**more)
