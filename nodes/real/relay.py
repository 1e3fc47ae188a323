"""A TCP relay in front of the coordination service, one for each server, which injects cuts, delay and stalls.

A cut direction carries nothing, but its connections stay open: held data continues after a heal, as TCP would send it again.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque

HELD_MAX = 4 << 20
DIAL_S = 1.0
"""Timeout for a relayed connection to be established."""


class RelayDirection:
    """One direction of one relayed connection."""

    def __init__(self, relay: Relay, outward: bool):
        self._relay = relay
        self._outward = outward
        self.sink: asyncio.Transport | None = None
        self._held: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._until_s = 0.0
        """Time when the last held data passes: a connection keeps its order."""
        self._timer: asyncio.TimerHandle | None = None

    def take(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        relay = self._relay
        delay_s = (relay.delay_ms + random.random() * relay.jitter_ms) / 1000
        if relay.loss and random.random() < relay.loss:
            delay_s += 0.2
        self._size += len(data)
        if self._size > HELD_MAX and self.sink is not None:
            self.sink.abort()
        self._until_s = max(self._until_s, loop.time() + delay_s)
        self._held.append((self._until_s, data))
        self.go_on()

    def go_on(self) -> None:
        """Passes on due data, unless the direction is cut."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        cut = self._relay.cut_to if self._outward else self._relay.cut_from
        if cut or self.sink is None:
            return
        loop = asyncio.get_running_loop()
        while self._held:
            at_s, data = self._held[0]
            if at_s > loop.time():
                self._timer = loop.call_at(at_s, self.go_on)
                return
            self._held.popleft()
            self._size -= len(data)
            if not self.sink.is_closing():
                self.sink.write(data)


class Pipe(asyncio.Protocol):
    """One end of a relayed connection."""

    def __init__(self, pair: RelayedPair, onward: RelayDirection, backward: RelayDirection):
        self._pair = pair
        self._onward = onward
        self._backward = backward

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._pair.made(transport)
        self._backward.sink = transport
        self._backward.go_on()

    def data_received(self, data: bytes) -> None:
        self._onward.take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pair.end()


class RelayedPair:
    """A server's connection and its continuation."""

    def __init__(self, relay: Relay):
        self._relay = relay
        self._over = False
        self.transports: list[asyncio.Transport] = []
        self.to, self.back = RelayDirection(relay, True), RelayDirection(relay, False)

    def near(self) -> Pipe:
        return Pipe(self, self.to, self.back)

    def far(self) -> Pipe:
        return Pipe(self, self.back, self.to)

    def made(self, transport: asyncio.Transport) -> None:
        """Connects the far end. It may come when the near one has gone."""
        if self._over:
            transport.abort()
        else:
            self.transports.append(transport)

    def end(self) -> None:
        self._over = True
        self._relay.pairs.discard(self)
        for transport in self.transports:
            transport.abort()


class Relay:
    """Listens on `port` of this machine's own interface and passes on to `target` (`host:port`)."""

    def __init__(self, port: int, target: str):
        self.port = port
        self._host, _, target_port = target.rpartition(":")
        self._target_port = int(target_port)
        self.cut_to = False
        self.cut_from = False
        self.delay_ms = 0.0
        self.jitter_ms = 0.0
        self.loss = 0.0
        self.pairs: set[RelayedPair] = set()
        self._server: asyncio.Server | None = None
        self._dials: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Raises OSError when the port is taken."""
        self._server = await asyncio.get_running_loop().create_server(self._accepted, "127.0.0.1", self.port)

    def _accepted(self) -> Pipe:
        pair = RelayedPair(self)
        self.pairs.add(pair)
        near = pair.near()
        dial = asyncio.get_running_loop().create_task(self._dial(pair))
        self._dials.add(dial)
        dial.add_done_callback(self._dials.discard)
        return near

    async def _dial(self, pair: RelayedPair) -> None:
        """Dials the far end. The timeout is shorter than the kernel's first retransmission: the caller tries again, and a healed link is noticed
        soon."""
        dialling = asyncio.get_running_loop().create_connection(pair.far, self._host, self._target_port)
        try:
            await asyncio.wait_for(dialling, DIAL_S)
        except (OSError, TimeoutError):
            pair.end()

    def rules(
        self,
        cut_to: bool = False,
        cut_from: bool = False,
        delay_ms: float = 0,
        jitter_ms: float = 0,
        loss: float = 0.0,
    ) -> None:
        """`to` is the direction towards coordination; the rules replace the previous ones."""
        self.cut_to, self.cut_from, self.loss = cut_to, cut_from, loss
        self.delay_ms, self.jitter_ms = delay_ms, jitter_ms
        for pair in list(self.pairs):
            pair.to.go_on()
            pair.back.go_on()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for pair in list(self.pairs):
            pair.end()
