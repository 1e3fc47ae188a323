"""An image that forked copies of a real process make, on a real disk."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodes.metadata.namespace import Namespace
from nodes.protocols.vssp import pieces
from nodes.protocols.vssp.acknowledgement import STRATEGIES
from nodes.protocols.vssp.mechanism import PoolImageStore
from nodes.real import forked_copies
from nodes.real.disk import RealDisk
from nodes.real.process import RealWorld, client_world
from nodes.real.turn import Turn
from nodes.trace.events import Warned
from nodes.wire.keys import keys_of
from nodes.wire.messages import Mark
from nodes.world import Piece, Share, Shares
from tests.simulation.vssp.lab import namespace_of
from tests.simulation.vssp.test_copies import make

FILES = 12_000


class Node:
    """A pool node of its own."""

    def __init__(self, directory: Path):
        world = self.world = client_world("n1", "clover", keys_of(b"t" * 32, serves=False), {})
        world.disk = RealDisk(directory, Turn(asyncio.get_running_loop()))
        self.events: list[Any] = []
        world.trace.emit = lambda event: self.events.append(event) or 0  # type: ignore[func-returns-value]
        self.pool = PoolImageStore(STRATEGIES["vssp"], world, 8, list, lambda: 1)
        self.namespace = namespace_of(FILES)

    def image(self) -> tuple[Namespace, Mark]:
        stored = self.pool.newest(lambda mark: True)
        assert stored is not None
        return stored


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_copies, "cores", lambda: 2)
    assert FILES > pieces.APART_FROM


def test_the_image_of_copies_is_of_their_instant(tmp_path: Path) -> None:
    async def play() -> None:
        node, turns = Node(tmp_path), []
        digest = node.namespace.digest
        task = asyncio.ensure_future(
            node.pool.write(node.namespace, Mark(0, 1, 100, 7), ["n1"], lambda: turns.append(-1))
        )
        while not task.done():
            await asyncio.sleep(0.001)
            make(node.namespace, 90_000 + len(turns))
            turns.append(len(turns))
        assert task.result() == ["n1"] and turns[0] == -1 and len(turns) > 2
        image, mark = node.image()
        assert mark.sn == 100 and image.digest == digest == image.recompute_digest() != node.namespace.digest

    asyncio.run(play())


def killing(world: RealWorld) -> None:
    """The first copies of this process are killed in the middle of their shares."""
    copies = world.copies

    def once(share: Share, most: int) -> Shares | None:
        world.copies = copies  # type: ignore[method-assign]

        def broken(number: int, count: int) -> Iterator[Piece]:
            for place, piece in enumerate(share(number, count)):
                if place == 12:
                    os.kill(os.getpid(), signal.SIGKILL)
                yield piece

        return copies(broken, most)

    world.copies = once  # type: ignore[method-assign]


def test_after_a_killed_copy_the_next_image_is_made_in_the_process(tmp_path: Path) -> None:
    async def play() -> None:
        node, freed = Node(tmp_path), []
        killing(node.world)

        async def write(sn: int) -> list[str]:
            return await node.pool.write(node.namespace, Mark(0, 1, sn, 7), ["n1"], lambda: freed.append(sn))

        assert await write(100) == []
        [warned] = [event for event in node.events if isinstance(event, Warned)]
        assert warned.what.startswith("the image at sn 100 is given up")
        assert node.pool.stored() == [] and freed == [100]
        assert await write(200) == ["n1"] and await write(300) == ["n1"]
        image, mark = node.image()
        assert mark.sn == 300 and image.digest == node.namespace.digest and freed == [100, 200, 300]

    asyncio.run(play())


def test_a_refused_fork_costs_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)

    async def play() -> None:
        node = Node(tmp_path)
        assert await node.pool.write(node.namespace, Mark(0, 1, 100, 7), ["n1"], lambda: None) == ["n1"]
        assert node.image()[0].digest == node.namespace.digest
        [warned] = [event for event in node.events if isinstance(event, Warned)]
        assert "Resource temporarily unavailable" in warned.what

    asyncio.run(play())
