"""A server's own session (nodes/real/zookeeper.py): its timeout, and the nodes that remain after an orderly end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError

from nodes.real.zookeeper import Zookeeper
from nodes.wire.keys import COORDINATION_USER
from nodes.world import CreateNode
from tests.conformance.coordination import services

PASSWORD = "no secret"


async def connected(hosts: str, timeout_ms: int) -> Zookeeper:
    session = Zookeeper(hosts, timeout_ms, PASSWORD)
    there = asyncio.Event()
    session.on_state(lambda state: there.set() if state == "connected" else None)
    session.start()
    await asyncio.wait_for(there.wait(), 10)
    return session


def test_the_time_out_is_the_one_that_was_negotiated(tmp_path: Path) -> None:
    async def play(port: int) -> tuple[int, int]:
        long = await connected(f"127.0.0.1:{port}", 600_000)
        short = await connected(f"127.0.0.1:{port}", 7_000)
        timeouts = (long.session_timeout_ns, short.session_timeout_ns)
        await long.close()
        await short.close()
        return timeouts

    with services.embedded(tmp_path) as port:
        assert asyncio.run(play(port)) == (60_000_000_000, 7_000_000_000)


def test_what_is_to_be_written_at_the_end_is(
    port: int, connect: Callable[..., KazooClient], root: str
) -> None:
    async def play() -> None:
        session = await connected(f"127.0.0.1:{port}", 10_000)
        session.on_close(
            lambda: [CreateNode(f"{root}/stopped", b"yes"), CreateNode(f"{root}/mine", ephemeral=True)]
        )
        await session.close()

    asyncio.run(play())
    client = connect()
    with pytest.raises(NoAuthError):
        client.get(f"{root}/stopped")
    client.add_auth("digest", f"{COORDINATION_USER}:{PASSWORD}")
    assert client.get(f"{root}/stopped")[0] == b"yes"
    assert client.exists(f"{root}/mine") is None


def test_an_end_without_a_connection_is_not_held_up(tmp_path: Path) -> None:
    async def play(port: int) -> float:
        session = Zookeeper(f"127.0.0.1:{port}", 10_000, PASSWORD)
        session.on_close(lambda: [CreateNode("/never")])
        session.start()
        began = asyncio.get_running_loop().time()
        await session.close()
        return asyncio.get_running_loop().time() - began

    assert asyncio.run(play(1)) < 2
