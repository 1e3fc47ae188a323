"""Messages between processes over TCP: one frame per turn and peer, one connection dialled to each peer.

A peer without an address (a client) is answered on the connection that it dialled.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable

from nodes.real.connection import PeerConnection, ProcessIdentity, Ungreeted
from nodes.real.links import DirectionFaults, LinkRules
from nodes.real.ring import MessageRing
from nodes.real.turn import Turn
from nodes.trace.present import (
    OF_CALLS,
    REQUESTS,
    UNKNOWN,
    Causal,
    Cause,
    Caused,
    Present,
    carried,
    causes_of,
    runs_of,
)
from nodes.wire.codec import Codec
from nodes.wire.framing import FRAME_MAX, UnknownPeer
from nodes.wire.keys import Realm
from nodes.wire.messages import Message

WAITING_MAX = 4096
"""Messages kept for a peer that is being dialled; older ones are dropped first."""
DIAL_AGAIN_S = (0.02, 0.5)
DIAL_S = 1.0
"""Timeout of a dial, shorter than the kernel's first retransmission, so that a healed link is noticed soon."""
SECOND = 1_000_000_000


class Peer:
    """The known facts about another process."""

    def __init__(self, name: str):
        self.name = name
        self.address = ""
        self.dialled: PeerConnection | None = None
        self.accepted: PeerConnection | None = None
        self.dialling = False
        self.failures = 0
        self.waiting: deque[tuple[Message, Cause]] = deque(maxlen=WAITING_MAX)
        self.late_until_s = 0.0

    @property
    def connection(self) -> PeerConnection | None:
        return self.dialled if self.address else self.accepted


class RealNetwork:
    """`Network` of nodes/world.py."""

    def __init__(
        self,
        identity: ProcessIdentity,
        codec: Codec,
        of_clients: Codec,
        turn: Turn,
        rng: random.Random,
        warn: Callable[[str, str], None],
        ring: MessageRing,
        causal: Causal | None = None,
    ):
        self.name = identity.name
        self.address = ""
        self.rules = LinkRules()
        self._identity = identity
        self._codec = codec
        self._of_clients = of_clients
        """Knows only what clients send, so that a client's key changes no journal."""
        self._rng = rng
        self._warn = warn
        self._ring = ring
        self._turn = turn
        self._causal = causal or Present()
        self._peers: dict[str, Peer] = {}
        self._outbox: dict[str, Caused] = {}
        self._ungreeted = Ungreeted()
        self._step: Callable[[str, Message], None] = lambda peer, message: None
        self._server: asyncio.Server | None = None
        self._loop = asyncio.get_running_loop()
        self._dials: set[asyncio.Task[None]] = set()
        """Dials under way. The event loop itself keeps no strong reference to a task."""
        self.closed = False
        turn.at_end(self.flush)

    # --- life ------------------------------------------------------------------------------------------------------

    async def listen(self, address: str, advertise: str = "") -> None:
        """Raises OSError when the port is taken."""
        host, _, port = address.rpartition(":")
        self._server = await self._loop.create_server(self._accepting, host, int(port), backlog=128)
        self.address = advertise or f"{host}:{self._server.sockets[0].getsockname()[1]}"

    def _accepting(self) -> PeerConnection:
        return self._ungreeted.add(
            PeerConnection(self._identity, "", self._on_open, self._on_payload, self._on_closed, self._warn)
        )

    def close(self) -> None:
        self.closed = True
        if self._server is not None:
            self._server.close()
        for peer in self._peers.values():
            for connection in (peer.dialled, peer.accepted):
                if connection is not None:
                    connection.close()

    # --- Network ---------------------------------------------------------------------------------------------------

    def send(self, to: str, message: Message) -> None:
        outbox = self._outbox
        if not outbox:
            self._turn.wanted()
        cause = UNKNOWN if type(message) in OF_CALLS else self._causal.cause
        caused = outbox.get(to)
        if caused is None:
            outbox[to] = [message], [cause]
        else:
            caused[0].append(message)
            caused[1].append(cause)

    def receive(self, step: Callable[[str, Message], None]) -> None:
        self._step = step

    def know(self, peer: str, address: str) -> None:
        known = self._peer(peer)
        if not address:
            return
        if known.connection is None:
            known.failures = 0
        if address != known.address:
            known.address = address
            if known.dialled is not None:
                known.dialled.close()

    # --- sending ---------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Ends a turn: one frame for each peer."""
        outbox, self._outbox = self._outbox, {}
        for to, caused in outbox.items():
            way = self.rules.way(to, "to")
            if way is None:
                self._hand_over(self._peer(to), caused)
            else:
                self._through_rule(self._peer(to), way, caused)

    def _through_rule(self, peer: Peer, way: DirectionFaults, caused: Caused) -> None:
        rng, now_s = self._rng, self._loop.time()
        at_s = max(now_s + way.takes_ns(rng) / SECOND, peer.late_until_s)
        in_order: Caused = ([], [])
        for message, cause in zip(*way.passed(caused, rng), strict=True):
            late_ns = way.late_ns(rng)
            if late_ns:
                self._loop.call_at(at_s + late_ns / SECOND, self._hand_over, peer, ([message], [cause]))
            else:
                in_order[0].append(message)
                in_order[1].append(cause)
        if not in_order[0]:
            return
        peer.late_until_s = at_s
        if at_s <= now_s:
            self._hand_over(peer, in_order)
        else:
            self._loop.call_at(at_s, self._hand_over, peer, in_order)

    def _hand_over(self, peer: Peer, caused: Caused) -> None:
        connection = peer.connection
        if peer.address and peer.dialled is None:
            self._dial(peer)
        if connection is None:
            if peer.address:
                peer.waiting.extend(zip(*caused, strict=True))
            return
        messages, causes = caused
        payload = self._codec.frame(messages, runs_of(causes))
        if len(payload) > FRAME_MAX and len(messages) > 1:
            half = len(messages) // 2
            self._hand_over(peer, (messages[:half], causes[:half]))
            self._hand_over(peer, (messages[half:], causes[half:]))
            return
        connection.send(payload)
        if self._ring.on:
            self._ring.sent(peer.name, caused, len(payload))

    # --- dialling --------------------------------------------------------------------------------------------------

    def _peer(self, name: str) -> Peer:
        peer = self._peers.get(name)
        if peer is None:
            peer = self._peers[name] = Peer(name)
        return peer

    def _dial(self, peer: Peer) -> None:
        if peer.dialling or self.closed:
            return
        peer.dialling = True
        low, high = DIAL_AGAIN_S
        delay_s = 0.0 if not peer.failures else min(high, low * 2**peer.failures) * (0.5 + self._rng.random())
        self._loop.call_later(delay_s, self._begin_dialling, peer)

    def _begin_dialling(self, peer: Peer) -> None:
        dial = self._loop.create_task(self._dialling(peer))
        self._dials.add(dial)
        dial.add_done_callback(self._dials.discard)

    async def _dialling(self, peer: Peer) -> None:
        host, _, port = peer.address.rpartition(":")
        try:
            await asyncio.wait_for(
                self._loop.create_connection(
                    lambda: PeerConnection(
                        self._identity,
                        peer.name,
                        self._on_open,
                        self._on_payload,
                        self._on_closed,
                        self._warn,
                    ),
                    host,
                    int(port),
                ),
                DIAL_S,
            )
        except (OSError, TimeoutError, ValueError):
            self._dial_failed(peer)

    def _dial_failed(self, peer: Peer) -> None:
        """The next message to this peer dials again."""
        peer.dialling = False
        peer.failures = min(peer.failures + 1, 8)
        peer.waiting.clear()

    # --- connections -----------------------------------------------------------------------------------------------

    def _on_open(self, connection: PeerConnection) -> None:
        """Raises UnknownPeer."""
        self._ungreeted.remove(connection)
        peer = self._peer(connection.peer)
        if connection.realm is Realm.CLIENT and not connection.dialled and peer.address:
            raise UnknownPeer(f"a client has the name of {peer.name}")
        if connection.dialled:
            peer.dialled, peer.dialling, peer.failures = connection, False, 0
        else:
            peer.accepted = connection
        if peer.waiting:
            messages, causes = zip(*peer.waiting, strict=True)
            peer.waiting.clear()
            self._hand_over(peer, (list(messages), list(causes)))

    def _on_payload(self, connection: PeerConnection, payload: bytes) -> None:
        """Raises BadFrame."""
        name, causal, step = connection.peer, self._causal, self._step
        by_client = connection.realm is Realm.CLIENT and not connection.dialled
        messages, runs = (self._of_clients if by_client else self._codec).framed(payload)
        way = self.rules.way(name, "from")
        try:
            for message, cause in zip(messages, causes_of(runs), strict=False):
                if way is not None and way.loses(self._rng):
                    continue
                if type(message) in REQUESTS:
                    cause = (message.session, message.number)  # type: ignore[attr-defined]
                causal.cause = causal.began = carried(cause, message)
                step(name, message)
        finally:
            causal.cause = causal.began = UNKNOWN

    def _on_closed(self, connection: PeerConnection) -> None:
        self._ungreeted.remove(connection)
        peer = self._peers.get(connection.expected or connection.peer)
        if peer is None:
            return
        if peer.dialled is connection:
            peer.dialled = None
        elif peer.accepted is connection:
            peer.accepted = None
        elif connection.dialled and peer.dialling:
            self._dial_failed(peer)
