"""One metadata server as a process without peers, and raw connections to it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from nodes.config import ServerConfig, one_group
from nodes.trace.reader import TraceReader
from nodes.wire import framing
from nodes.wire.framing import DIALLER, Challenge, Ends, Frames, Hello
from nodes.wire.keys import Realm, keys_of

ROOT = Path(__file__).resolve().parents[3]
TOKEN = b"0123456789abcdef" * 4
KEYS = keys_of(TOKEN, serves=True)
LIMIT_S = 15.0


class Server:
    """One process without any peer."""

    def __init__(self, directory: Path):
        self.data = directory / "data"
        self.file = directory / "mds1.json"
        (directory / "keys").write_bytes(msgspec.json.encode(KEYS))
        self.reported: dict[str, Any] = {
            "role": "server", "config": ServerConfig("mds1", "g1", one_group(0, "clover")), "data": str(self.data),
            "listen": "127.0.0.1:0", "coordination": "127.0.0.1:1", "peers": {},
            "keys_file": str(directory / "keys"), "control": str(directory / "c.sock"),
        }  # fmt: skip
        self.process: subprocess.Popen[str] | None = None
        self.port = 0

    def start(self, **changes: Any) -> subprocess.Popen[str]:
        self.file.write_bytes(msgspec.json.encode({**self.reported, **changes}))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nodes", "server", "--config", str(self.file)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        return self.process

    def ready(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        reported = json.loads(self.process.stdout.readline())
        self.port = int(reported["address"].rpartition(":")[2])

    def events(self) -> list[Any]:
        return [stamped.event for stamped in TraceReader(self.data / "trace").read()]

    def end(self) -> tuple[int, str]:
        assert self.process is not None
        _, errors = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, errors


def connect(server: Server) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S)
    return made


def closed(connection: socket.socket) -> bool:
    """Whether the other side closes, whatever it sends before."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def greeted(server: Server, **changes: Any) -> tuple[socket.socket, Ends]:
    """A connection after the test's hello, and what it is bound to."""
    connection, frames = connect(server), Frames()
    payloads: list[bytes] = []
    while not payloads:
        payloads = list(frames.feed(connection.recv(65536)))
    challenge = framing.greeting(payloads[0], Challenge)
    ends = Ends("clover", Realm.PEER, "mds2", "mds1", challenge.nonce, b"n" * 16)
    hello = Hello(
        framing.MAGIC, framing.VERSION, "clover", Realm.PEER, "mds2", "mds1", b"n" * 16,
        framing.proof(KEYS.peer, DIALLER, ends),
    )  # fmt: skip
    said = msgspec.structs.replace(hello, **changes)
    connection.sendall(framing.frame(msgspec.msgpack.encode(said)))
    return connection, ends
