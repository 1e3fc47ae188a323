"""A connection whose other end is silent is closed, so that a new one can be opened."""

from __future__ import annotations

import asyncio
import socket
import time

from nodes.real.connection import UNHEARD_MS, WRITE_MAX, PeerConnection, identity_of
from nodes.wire.keys import keys_of


def test_a_peer_that_takes_nothing_is_given_up() -> None:
    """Its machine acknowledges no more bytes, as over a cut cable; the kernel alone would continue for a quarter of an hour."""

    async def play() -> float:
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            closed = asyncio.Event()
            connection = PeerConnection(
                identity_of("clover", "mds1", keys_of(b"t" * 32, serves=True)), "mds2", lambda _: None, lambda *_: None,
                lambda _: closed.set(), lambda *_: None,
            )  # fmt: skip
            connection.peer = "mds2"
            await asyncio.get_running_loop().create_connection(lambda: connection, *deaf.getsockname())
            assert connection._timer is not None
            connection._timer.cancel()
            connection._write(bytes(WRITE_MAX // 2))
            began = time.monotonic()
            await asyncio.wait_for(closed.wait(), 10 * UNHEARD_MS / 1000)
            return time.monotonic() - began

    assert asyncio.run(play()) >= UNHEARD_MS / 1000 / 2
