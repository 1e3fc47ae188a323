"""`python -m benchmarks._pool NAME DIRECTORY`: one pool node in a process of its own, driven by JSON lines on its standard input."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import uvloop

from nodes.config import NO_KNOBS
from nodes.mechanisms import IMAGE_STORES, MESSAGES, OF_CLIENTS
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Made
from nodes.metadata.records import MakeRecord
from nodes.mutations import NO_MUTATIONS
from nodes.real.clock import RealClock, monotonic_ns
from nodes.real.connection import identity_of
from nodes.real.disk import RealDisk
from nodes.real.network import RealNetwork
from nodes.real.process import RealWorld
from nodes.real.ring import MessageRing
from nodes.real.turn import Turn
from nodes.scope import Scope
from nodes.slots import ImageStore
from nodes.trace.base import Event
from nodes.trace.pool_events import ImageWritten, Repairing
from nodes.trace.present import Causeless
from nodes.units import DIRECTORY, ROOT, OpId
from nodes.wire.codec import Codec
from nodes.wire.keys import keys_of
from nodes.wire.messages import Mark, Message

TICK_NS = 1_000_000
IMAGES = "image"
"""Directory of a pool node's images."""
[RECOVER_FILE] = (kind for kind in MESSAGES if kind.__name__ == "RecoverFile")


def namespace_of(inodes: int) -> Namespace:
    """A namespace of `inodes` inodes, with one directory for every fifty."""
    namespace = Namespace()
    namespace.sessions.open("bench", 0, None)
    directories = max(1, inodes // 50)
    for number in range(1, inodes):
        is_directory = number <= directories
        parent = ROOT if is_directory else ROOT + 1 + number % directories
        inode = ROOT + number if is_directory else (ROOT + number) & ~DIRECTORY
        call = OpId("bench", number)
        name = f"client1.abcdef0123-{number}"
        record = MakeRecord(
            call,
            number,
            10**18 + number,
            Made(inode),
            parent,
            [name],
            inode,
            is_directory,
            0o644,
        )
        namespace.apply(record)
    return namespace


KEYS = keys_of(b"a token of the benchmark, no secret", serves=True)


class ImageTrace(Causeless):
    """A trace that keeps the last image's event, and notes the end of a repair."""

    def __init__(self) -> None:
        self.last: ImageWritten | None = None
        self.repaired = asyncio.Event()

    def emit(self, event: Event) -> int:
        if isinstance(event, ImageWritten):
            self.last = event
        elif isinstance(event, Repairing) and event.offset >= event.size:
            self.repaired.set()
        return 0


class MeasuredPoolNode:
    """One pool node; it can write with any mechanism and any number of partitions."""

    def __init__(self, name: str, directory: Path):
        loop = asyncio.get_running_loop()
        self.trace, self.turn = ImageTrace(), Turn(loop)
        rng = random.Random(name)
        self.network = RealNetwork(
            identity_of("bench", name, KEYS), Codec(MESSAGES), Codec(OF_CLIENTS), self.turn, rng, self._warn, MessageRing(name, monotonic_ns)
        )  # fmt: skip
        disk = RealDisk(directory, self.turn)
        self.world = RealWorld(
            name, rng, RealClock(loop), self.turn, self.network, disk, None, self.trace, Scope(name, on_error=self._fail)
        )  # fmt: skip
        self.stores: dict[tuple[str, int], ImageStore] = {}
        self._current = self._store("vssp", 8)
        self.network.receive(self._on_message)
        self.world.scope.spawn(self._current.run(), "pool")
        self.namespace = Namespace()
        self._sn = 0
        self._late_ns = self._busy_ns = self._stall_ns = 0
        self._ticked_ns, self._used_ns = monotonic_ns(), time.thread_time_ns()
        self._called_ns, self._frozen = self._ticked_ns, False
        self._tick()

    def _warn(self, peer: str, line: str) -> None:
        print(line, file=sys.stderr)

    def _fail(self, error: BaseException) -> None:
        raise error

    def _store(self, strategy: str, partitions: int) -> ImageStore:
        store = self.stores.get((strategy, partitions))
        if store is None:
            make = IMAGE_STORES[strategy]
            store = self.stores[strategy, partitions] = make(
                self.world, partitions, list, lambda: 1, NO_MUTATIONS, NO_KNOBS
            )
        return store

    def _on_message(self, peer: str, message: Message) -> None:
        self._current.handlers[type(message)](peer, message)

    def _tick(self) -> None:
        """Records the longest time in which no other task could run here, the share of it that used the processor, and the longest time in which
        no call could change the namespace."""
        now, used = monotonic_ns(), time.thread_time_ns()
        self._late_ns = max(self._late_ns, now - self._ticked_ns - TICK_NS)
        self._busy_ns = max(self._busy_ns, used - self._used_ns)
        self._ticked_ns, self._used_ns = now, used
        if not self._frozen:
            self._stall_ns = max(self._stall_ns, now - self._called_ns - TICK_NS)
            self._called_ns = now
        self.world.clock.call_later(TICK_NS, self._tick)

    # --- requests --------------------------------------------------------------------------------------------------

    def fill(self, inodes: int) -> dict[str, Any]:
        """Fills the namespace, as a server does before it serves."""
        self.namespace = namespace_of(inodes)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        return {"inodes": len(self.namespace.tree.inodes)}

    def pause(self) -> dict[str, Any]:
        """Longest pause since the last request, in milliseconds."""
        late_ns, self._late_ns = self._late_ns, 0
        busy_ns, self._busy_ns = self._busy_ns, 0
        stall_ns, self._stall_ns = self._stall_ns, 0
        return {"pause_ms": late_ns / 1e6, "busy_ms": busy_ns / 1e6, "stall_ms": stall_ns / 1e6}

    async def write(self, strategy: str, partitions: int, replicas: list[str]) -> dict[str, Any]:
        store = self._current = self._store(strategy, partitions)
        self._sn += 1
        mark = Mark(0, 1, self._sn, 1)
        began_ns, frozen_ns = monotonic_ns(), 0

        def dumped() -> None:
            nonlocal frozen_ns
            frozen_ns = monotonic_ns() - began_ns
            self._frozen = False

        self._frozen = True
        holders = await store.write(self.namespace, mark, replicas, dumped)
        reported = self.trace.last
        assert reported is not None
        return {
            "replicated_s": reported.replicated_ms / 1e3, "s": reported.took_ms / 1e3, "size": reported.size,
            "holders": holders, "frozen_s": frozen_ns / 1e9,
        }  # fmt: skip

    async def read(self, sources: list[str]) -> dict[str, Any]:
        """Reads an image from the sources into an empty directory."""
        for path in self.world.disk.names(IMAGES):
            self.world.disk.remove(f"{IMAGES}/{path}")
        gc.collect()
        began_ns = monotonic_ns()
        read = await self._current.read(sources, lambda: None)
        took_ns = monotonic_ns() - began_ns
        assert read is not None
        return {"s": took_ns / 1e9, "inodes": len(read[0].tree.inodes)}

    def load(self) -> dict[str, Any]:
        """Loads the newest image from this node's own disk, as a starting server does. `load_s` is processor time; `free_s` is that of the parts
        that threads could take: reading and checksums."""
        disk = self.world.disk
        began_ns, entered_ns = time.thread_time_ns(), monotonic_ns()
        loaded = self._current.newest(lambda mark: True)
        load_ns, took_ns = time.thread_time_ns() - began_ns, monotonic_ns() - entered_ns
        assert loaded is not None
        inodes = len(loaded[0].tree.inodes)
        del loaded
        newest = max(name for name in disk.names(IMAGES) if name.endswith(".manifest")).removesuffix(
            "manifest"
        )
        began_ns = time.thread_time_ns()
        for name in disk.names(IMAGES):
            if name.startswith(f"{newest}p"):
                crc32(disk.read(f"{IMAGES}/{name}"))
        free_ns = time.thread_time_ns() - began_ns
        return {"s": took_ns / 1e9, "load_s": load_ns / 1e9, "free_s": free_ns / 1e9, "inodes": inodes}

    async def repair(self, source: str, share: float) -> dict[str, Any]:
        """Damages the last `share` of this node's replica of a partition, and repairs it from `source`."""
        disk = self.world.disk
        name = max(name for name in disk.names(IMAGES) if ".p" in name)
        size = disk.size(f"{IMAGES}/{name}")
        with (disk.root / IMAGES / name).open("r+b") as file:
            file.seek(offset := int(size * (1 - share)))
            file.write(bytes(size - offset))
        self.trace.repaired.clear()
        began_ns = monotonic_ns()
        self._on_message(source, RECOVER_FILE(name, source, 0, size))
        await self.trace.repaired.wait()
        return {"s": (monotonic_ns() - began_ns) / 1e9, "size": size}


async def serve(name: str, directory: Path) -> None:
    """Answers until its standard input ends."""
    node = MeasuredPoolNode(name, directory)
    await node.network.listen("127.0.0.1:0")
    print(json.dumps({"address": node.network.address}), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        question: dict[str, Any] = json.loads(line)
        do = question.pop("do")
        if do == "peers":
            for peer, address in question["peers"].items():
                if peer != name:
                    node.network.know(peer, address)
            answer: dict[str, Any] = {}
        else:
            step: Callable[..., Any] = getattr(node, do)
            answer = step(**question)
            if asyncio.iscoroutine(answer):
                answer = await answer
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], Path(sys.argv[2])))
