"""The relay in front of coordination: connections that have lost one end."""

from __future__ import annotations

import asyncio

from nodes.real.relay import Relay


class Silent(asyncio.Protocol):
    """The onward end, which counts connections."""

    there: set[asyncio.BaseTransport] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.there.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.there.discard(self._transport)


async def port_of(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


def test_a_near_end_that_goes_while_the_onward_one_is_dialled_leaves_none_behind() -> None:
    async def play() -> None:
        loop = asyncio.get_running_loop()
        target = await loop.create_server(Silent, "127.0.0.1", 0)
        free = await loop.create_server(Silent, "127.0.0.1", 0)
        port = await port_of(free)
        free.close()
        await free.wait_closed()
        relay = Relay(port, f"127.0.0.1:{await port_of(target)}")
        await relay.start()
        pipe = relay._accepted()
        await asyncio.sleep(0)
        pipe._pair.end()
        while relay._dials:
            await asyncio.sleep(0)
        async with asyncio.timeout(5):
            while Silent.there or relay.pairs:
                await asyncio.sleep(0.01)
        relay.close()
        target.close()

    asyncio.run(play())
