"""Attacks of somebody who has the network but no token, on real processes: relay, reflection, replay, changed frames, weak keys, floods."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from nodes.protocols.mams.messages import Recover
from nodes.real.connection import GREETING_S, UNGREETED_MAX, PeerConnection, identity_of
from nodes.trace.events import Warned
from nodes.wire import framing
from nodes.wire.framing import DIALLER, Challenge, Ends, Frames, HandshakeReply, Hello
from nodes.wire.keys import Keys, Realm
from tests.processes.backend.running import until
from tests.processes.real.running import KEYS, LIMIT_S, Server, closed, connect, greeted

ANSWER = framing.frame(msgspec.msgpack.encode([[], []]))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    server.ready()
    yield server
    assert server.process is not None
    assert server.process.poll() is None, server.end()
    server.process.kill()
    server.process.communicate()


def warnings(server: Server) -> str:
    return " ".join(event.what for event in server.events() if type(event) is Warned)


class Member:
    """A member of the cluster that dials and is dialled, as a server's own connections are."""

    def __init__(self, name: str = "mds2"):
        self.identity = identity_of("clover", name, KEYS)
        self.opened: list[str] = []
        self.warned: list[str] = []
        self.made: list[PeerConnection] = []

    def connection(self, expected: str = "") -> PeerConnection:
        made = PeerConnection(
            self.identity, expected, lambda open: self.opened.append(open.peer), lambda *_: None, lambda _: None,
            lambda peer, line: self.warned.append(line),
        )  # fmt: skip
        self.made.append(made)
        return made


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def dialled(member: Member, expected: str, attacker: Handler) -> AsyncIterator[PeerConnection]:
    """The member dials `expected`, and reaches the attacker's port."""
    listening = await asyncio.start_server(attacker, "127.0.0.1", 0)
    host, port = listening.sockets[0].getsockname()
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: member.connection(expected), host, port
    )
    try:
        yield connection
    finally:
        connection.close()
        listening.close()


async def pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, change: Callable[[bytes], bytes]
) -> None:
    while data := await reader.read(65536):
        writer.write(change(data))
    writer.close()


def relay_to(port: int, change: Callable[[bytes], bytes] = bytes, seen: list[bytes] | None = None) -> Handler:
    """Somebody in the middle; what the dialling side sends is changed."""

    def noted(data: bytes) -> bytes:
        if seen is not None:
            seen.append(data)
        return change(data)

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(there[0], writer, bytes), pump(reader, there[1], noted))

    return relay


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():
            await asyncio.sleep(0.01)


def test_the_greeting_of_a_member_to_another_server_is_not_good_here(server: Server) -> None:
    """The attacker holds the port of mds3 and passes the challenge of mds1 on to mds2, who dials mds3."""

    async def play() -> None:
        member = Member()
        async with dialled(member, "mds3", relay_to(server.port)):
            await eventually(lambda: "looks for 'mds3'" in warnings(server))
        assert member.opened == []

    asyncio.run(play())


def test_the_greeting_of_a_member_is_not_good_at_that_member(server: Server) -> None:
    async def play() -> None:
        member = Member()
        own = await asyncio.get_running_loop().create_server(member.connection, "127.0.0.1", 0)
        port = own.sockets[0].getsockname()[1]
        async with dialled(member, "mds1", relay_to(port)):
            await eventually(lambda: len(member.warned) > 0)
        own.close()
        assert "looks for 'mds1'" in member.warned[0] and member.opened == []

    asyncio.run(play())


def test_a_recorded_greeting_and_its_frames_are_not_good_again(server: Server) -> None:
    async def play() -> list[bytes]:
        member, seen = Member(), list[bytes]()
        async with dialled(member, "mds1", relay_to(server.port, seen=seen)) as connection:
            await eventually(lambda: member.opened == ["mds1"])
            connection.send(msgspec.msgpack.encode([[], []]))
            await eventually(lambda: len(seen) >= 2)
        return seen

    recorded = b"".join(asyncio.run(play()))
    again = connect(server)
    again.sendall(recorded)
    assert closed(again)
    until(lambda: "does not prove" in warnings(server), LIMIT_S)


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1] + b"?", lambda data: data + data, lambda data: data + ANSWER]
)
def test_a_frame_that_was_changed_on_its_way_ends_the_connection(
    server: Server, change: Callable[[bytes], bytes]
) -> None:
    """The one in the middle of the right address lets the greeting pass, and alters, repeats or adds a frame."""

    async def play() -> None:
        member, frames = Member(), list[bytes]()

        def later(data: bytes) -> bytes:
            frames.append(data)
            return data if len(frames) == 1 else change(data)

        async with dialled(member, "mds1", relay_to(server.port, later)) as connection:
            await eventually(lambda: member.opened == ["mds1"])
            connection.send(msgspec.msgpack.encode([[], []]))
            await eventually(lambda: "wrong authentication code" in warnings(server))

    asyncio.run(play())


def received(connection: socket.socket) -> bytes:
    """The next frame."""
    frames = Frames()
    while True:
        for payload in frames.feed(connection.recv(65536)):
            return payload


def said(
    server: Server, key: bytes, realm: str, dialler: str = "mds2", nonce: bytes = b"n" * 16
) -> tuple[socket.socket, Ends]:
    """A connection after a hello with this key, and what it is bound to."""
    connection = connect(server)
    challenge = framing.greeting(received(connection), Challenge)
    ends = Ends("clover", realm, dialler, "mds1", challenge.nonce, nonce)
    proof = framing.proof(key, DIALLER, ends)
    hello = Hello(framing.MAGIC, framing.VERSION, "clover", realm, dialler, "mds1", nonce, proof)
    connection.sendall(framing.frame(msgspec.msgpack.encode(hello)))
    return connection, ends


def test_without_the_right_key_and_name_nothing_opens(server: Server) -> None:
    for connection, _ in (
        said(server, b"", "peer"),
        said(server, b"", ""),
        said(server, KEYS.client, "peer"),
        said(server, KEYS.peer, "supervisor"),
        said(server, KEYS.peer, "peer", dialler="mds1"),
        said(server, KEYS.peer, "peer", dialler="x\0mds2"),
        said(server, KEYS.peer, "peer", nonce=b"n" * 17),
    ):
        assert closed(connection) and connection.recv(1) == b""


def test_a_client_cannot_send_what_servers_send(server: Server) -> None:
    """Its key opens a connection, on which a step of a journal is no known message."""
    connection, ends = said(server, KEYS.client, Realm.CLIENT, dialler="ada")
    framing.check_welcome(framing.greeting(received(connection), HandshakeReply), KEYS.client, ends)
    recover = msgspec.msgpack.encode([[Recover(9)], []])
    connection.sendall(framing.seal(KEYS.client, DIALLER, ends).sealed(recover))
    assert closed(connection)
    until(lambda: "not an array of known messages" in warnings(server), LIMIT_S)


def test_a_flood_of_silent_connections_leaves_descriptors_and_lets_members_in(server: Server) -> None:
    assert server.process is not None
    flood = [connect(server) for _ in range(4 * UNGREETED_MAX)]
    try:
        open_files = Path(f"/proc/{server.process.pid}/fd")
        if open_files.exists():
            until(lambda: len(os.listdir(open_files)) < UNGREETED_MAX + 40, GREETING_S / 2)
        assert closed(flood[0])
        connection, ends = greeted(server)
        framing.check_welcome(framing.greeting(received(connection), HandshakeReply), KEYS.peer, ends)
    finally:
        for each in flood:
            each.close()


@pytest.mark.parametrize("keys", [Keys(), Keys(peer=KEYS.peer)])
def test_a_process_without_keys_does_not_start(tmp_path: Path, keys: Keys) -> None:
    server = Server(tmp_path)
    (tmp_path / "keys").write_bytes(msgspec.json.encode(keys))
    server.start()
    code, errors = server.end()
    assert code == 2 and "has no keys" in errors and len(errors.splitlines()) == 1
