"""A metadata server as a process: unauthenticated peers at its port, invalid files, signals; one line each, no traceback."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nodes.config import one_group
from nodes.metadata.operations import Mkdir
from nodes.sim.cluster import SimCluster
from nodes.storage.records import HEADER, MAGIC
from nodes.trace.events import Started, Stopped, Warned
from nodes.wire import framing
from nodes.wire.framing import DIALLER, Frames, HandshakeReply
from tests.processes.backend.running import until
from tests.processes.real.running import KEYS, LIMIT_S, Server, closed, connect, greeted


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    if server.process is not None and server.process.poll() is None:
        server.process.kill()
        server.process.communicate()


def test_unknown_peers_are_shown_out_and_the_server_lives(server: Server) -> None:
    server.start()
    server.ready()
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 100,
        framing.frame(b"hello"),
        (1 << 30).to_bytes(4, "little"),
    ):
        connection = connect(server)
        connection.sendall(data)
        assert closed(connection)
    for changes in ({"proof": b"x"}, {"cluster": "other"}, {"version": 9}):
        assert closed(greeted(server, **changes)[0])
    until(lambda: any(type(event) is Warned for event in server.events()), LIMIT_S)
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    code, errors = server.end()
    assert code == 0 and "Traceback" not in errors


def test_a_member_that_sends_rubbish_is_shown_out(server: Server) -> None:
    server.start()
    server.ready()
    for payload in (b"\xc1", msgspec.msgpack.encode([["Explode"]]), b"\x91" * 5000):
        (connection, ends), frames = greeted(server), Frames()
        payloads: list[bytes] = []
        while not payloads:
            payloads = list(frames.feed(connection.recv(65536)))
        framing.check_welcome(framing.greeting(payloads[0], HandshakeReply), KEYS.peer, ends)
        connection.sendall(framing.seal(KEYS.peer, DIALLER, ends).sealed(payload))
        assert closed(connection)
    connection, _ = greeted(server)
    connection.recv(65536)
    connection.sendall(((16 << 20) + 17).to_bytes(4, "little"))
    assert closed(connection)


def test_a_silent_unknown_peer_is_shown_out(server: Server) -> None:
    server.start()
    server.ready()
    began = time.monotonic()
    assert closed(connect(server))
    assert time.monotonic() - began < LIMIT_S


def test_sigterm_ends_it_and_a_kill_loses_no_event(server: Server) -> None:
    server.start()
    server.ready()
    assert server.process is not None
    server.process.kill()
    assert server.end()[0] == -signal.SIGKILL
    assert type(server.events()[0]) is Started
    server.start()
    server.ready()
    server.process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert server.end()[0] == 0
    assert time.monotonic() - began < 4
    assert [type(event) for event in server.events()].count(Started) == 2
    assert type(server.events()[-1]) is Stopped


def one_line(server: Server, words: str, code: int = 2) -> None:
    found, errors = server.end()
    assert found == code, errors
    lines = [line for line in errors.splitlines() if " info " not in line]
    assert len(lines) == 1 and words in lines[0], errors


def test_a_data_directory_has_one_holder(server: Server, tmp_path: Path) -> None:
    server.start()
    server.ready()
    other = Server(tmp_path)
    assert server.process is not None
    holder = server.process.pid
    other.start(control=str(tmp_path / "d.sock"))
    one_line(other, f"held by process {holder}")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"role": "workload"}, "is of a workload, not of a server"),
        ({"colour": "red"}, "colour"),
        ({"listen": 7}, "listen"),
        ({"config": {"name": "mds1"}}, "group"),
        ({"keys_file": "/nowhere/keys"}, "No such file"),
    ],
)
def test_wrong_files_get_one_line(server: Server, changes: dict[str, Any], words: str) -> None:
    server.start(**changes)
    one_line(server, words)


def test_a_taken_port_gets_one_line(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server.start(listen=f"127.0.0.1:{taken.getsockname()[1]}")
        one_line(server, "cannot listen")


def test_a_corrupt_journal_is_moved_aside_and_the_server_goes_on(server: Server) -> None:
    directory = server.data / "journal"
    directory.mkdir(parents=True)
    name = f"{1:020d}.seg"
    (directory / name).write_bytes(b"not a journal at all, but long enough")
    server.start()
    server.ready()
    aside = server.data / "aside" / "damaged-01" / "journal" / name
    until(lambda: aside.exists() and (server.data / "unfit").exists())
    assert aside.read_bytes() == b"not a journal at all, but long enough"
    assert server.process is not None and server.process.poll() is None
    assert "JournalCorrupt" in [type(event).__name__ for event in server.events()]


def test_rot_that_is_noticed_while_serving_begins_the_process_anew(server: Server) -> None:
    """The same process continues: its supervisor sees only the events."""
    cluster = SimCluster(one_group(0, "clover"), 1)
    ada = cluster.start_client("ada")
    ada.call(Mkdir("/rotten"))
    ada.call(Mkdir("/later"))
    name = f"journal/{1:020d}.seg"
    data = bytearray(cluster.servers["mds1"].store.files[name].data)
    journal = server.data / name
    journal.parent.mkdir(parents=True)
    journal.write_bytes(data)
    server.start()
    server.ready()
    data[data.index(b"rotten")] ^= 1
    with journal.open("r+b") as file:
        file.write(data)
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(server.reported["control"]))
        for sn in range(1, 20):
            control.sendall(b'{"do": "group", "sn": %d}\n' % sn)
        assert closed(control)
    aside = server.data / "aside" / "damaged-01" / name
    until(lambda: aside.exists() and len(begun(server)) == 2, LIMIT_S)
    assert (server.data / "unfit").exists() and aside.read_bytes() == data
    assert {event.pid for event in begun(server)} == {begun(server)[0].pid}
    assert server.process is not None
    server.process.send_signal(signal.SIGTERM)
    code, errors = server.end()
    assert code == 0 and "Traceback" not in errors and errors.count(" error mds1: CorruptJournal: ") == 1


def begun(server: Server) -> list[Any]:
    return [event for event in server.events() if type(event) is Started]


def test_a_journal_of_another_version_stops_the_server_with_both_numbers(server: Server) -> None:
    directory = server.data / "journal"
    directory.mkdir(parents=True)
    (directory / f"{1:020d}.seg").write_bytes(HEADER.pack(MAGIC, 9, 1))
    server.start()
    one_line(server, "has format 9; this version reads format 1", code=70)
    assert (directory / f"{1:020d}.seg").exists()
