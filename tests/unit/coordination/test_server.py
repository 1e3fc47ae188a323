"""The embedded server as a process: killed, restarted, sent invalid input, controlled."""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient, KazooState

from nodes.coordination.connection import HANDSHAKE_TIMEOUT_S
from tests.conformance.coordination.services import REPOSITORY, ask_word, ended, free_port, start_embedded
from tests.conformance.coordination.test_sessions import until
from tests.conformance.coordination.wire import OPEN_ACL, Wire, text, watch_of

EXISTS, GET, SET, CLOSE, PING = 3, 4, 5, -11, 11


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    process, port = start_embedded(tmp_path)
    with ended(process):
        yield port, tmp_path


class Control:
    def __init__(self, data: Path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        self._socket.connect(str(data / "control"))
        self._lines = self._socket.makefile("rb")

    def ask(self, **question: Any) -> dict[str, Any]:
        self._socket.sendall(json.dumps(question).encode() + b"\n")
        return self.read()

    def raw(self, line: bytes) -> dict[str, Any]:
        self._socket.sendall(line)
        return self.read()

    def read(self) -> dict[str, Any]:
        answer = json.loads(self._lines.readline())
        assert isinstance(answer, dict)
        return answer

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


@pytest.fixture
def control(server: tuple[int, Path]) -> Iterator[Control]:
    one = Control(server[1])
    yield one
    one.close()


# --- restarts -------------------------------------------------------------------------------------------


def test_what_was_answered_survives_kill_9(tmp_path: Path) -> None:
    port = free_port()
    process, _ = start_embedded(tmp_path, port)
    answered: list[str] = []
    zxids: list[int] = []

    def write() -> None:
        one = Wire(port)
        try:
            for number in range(100_000):
                zxids.append(one.create(f"/n{number}").zxid)
                answered.append(f"/n{number}")
        except ConnectionError:
            pass

    writers = threading.Thread(target=write)
    with ended(process):
        writers.start()
        until(lambda: len(answered) > 200)
        process.kill()
        writers.join(10)
    again, _ = start_embedded(tmp_path, port)
    with ended(again):
        reader = Wire(port)
        assert all(reader.call(EXISTS, text(path) + b"\0").code == 0 for path in answered)
        assert reader.call(EXISTS, text("/") + b"\0").zxid >= zxids[-1]


def test_sessions_survive_a_restart_and_their_time_outs_start_afresh(tmp_path: Path) -> None:
    port = free_port()
    process, _ = start_embedded(tmp_path, port)
    with ended(process):
        one = Wire(port, timeout_ms=1_000)
        one.create("/e", flags=1)
        process.kill()
        process.wait(5)
    time.sleep(1.2)
    again, _ = start_embedded(tmp_path, port)
    with ended(again):
        taken = Wire(port, session=one.session, password=one.password)
        assert taken.session == one.session
        other = Wire(port)
        assert other.call(EXISTS, text("/e") + b"\1").code == 0
        taken.close()
        assert watch_of(other.read()) == (2, "/e")


def test_kazoo_rides_over_a_restart(tmp_path: Path) -> None:
    port = free_port()
    process, _ = start_embedded(tmp_path, port)
    client = KazooClient(f"127.0.0.1:{port}", timeout=10)
    states: list[str] = []
    with ended(process):
        client.start(10)
        client.add_listener(states.append)
        client.create("/e", b"x", ephemeral=True)
        session = client.client_id
        process.kill()
        process.wait(5)
    until(lambda: states == [KazooState.SUSPENDED])
    again, _ = start_embedded(tmp_path, port)
    with ended(again):
        until(lambda: states[-1] == KazooState.CONNECTED)
        assert client.client_id == session and client.get("/e")[0] == b"x"
        assert KazooState.LOST not in states
        client.stop()
        client.close()


def test_a_graceful_stop_is_quick_and_clean(tmp_path: Path) -> None:
    process, port = start_embedded(tmp_path)
    with ended(process):
        Wire(port).create("/a")
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0 and time.monotonic() - began < 2
        assert not (tmp_path / "control").exists()


def test_a_pause_of_the_whole_server_expires_nobody(tmp_path: Path) -> None:
    process, port = start_embedded(tmp_path)
    with ended(process):
        one = Wire(port, timeout_ms=1_200)
        process.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.4)
        one.ask(PING)
        assert one.read().xid == -2


def refused_start(*options: str) -> str:
    """The one line of a server that does not start."""
    run = subprocess.run(
        [sys.executable, "-m", "nodes.coordination", *options],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=10,
    )  # fmt: skip
    assert run.returncode != 0 and run.stdout == "" and "Traceback" not in run.stderr
    return run.stderr.strip()


def test_what_cannot_be_served_is_refused_in_one_line(server: tuple[int, Path], tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert "in use" in refused_start("--data", str(server[1]), "--port", "0")
    assert "cannot listen" in refused_start("--data", str(other), "--port", str(server[0]))
    (other / "log-00000001").write_bytes(b"strange")
    line = refused_start("--data", str(other), "--port", "0")
    assert "wrong magic at offset 0" in line and "\n" not in line
    assert "--port" in refused_start("--data", str(other), "--port", "70000")


# --- invalid clients ------------------------------------------------------------------------------------

CONNECT = struct.pack("!iqiqi", 0, 0, 5_000, 0, 16) + bytes(17)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!i", 2**31 - 1),
        struct.pack("!i", -1),
        struct.pack("!i", 0),
        struct.pack("!i", 4) + b"abcd",
        struct.pack("!i", len(CONNECT)) + b"\1" + CONNECT[1:],
        struct.pack("!i", len(CONNECT)) + CONNECT + struct.pack("!iii", 8, 1, 4),
        struct.pack("!i", len(CONNECT)) + CONNECT + struct.pack("!iiii", 12, 1, 4, 999),
        struct.pack("!i", len(CONNECT)) + CONNECT + struct.pack("!iiii", 12, 1, 4, 1) + b"\xff",
        struct.pack("!i", len(CONNECT)) + CONNECT + struct.pack("!iiiqi", 20, 1, 101, 0, 2**30),
        struct.pack("!i", len(CONNECT)) + CONNECT + struct.pack("!i", 1024 * 1024 + 1),
    ],
)  # fmt: skip
def test_a_malformed_frame_is_a_close_and_the_others_go_on(server: tuple[int, Path], data: bytes) -> None:
    """At once: long before the timeout of the handshake or of a session."""
    with socket.create_connection(("127.0.0.1", server[0]), HANDSHAKE_TIMEOUT_S / 2) as unknown_peer:
        unknown_peer.sendall(data)
        while unknown_peer.recv(65536):
            pass
    assert ask_word(server[0], b"ruok") == b"imok"


def test_a_unknown_peer_that_says_nothing_is_closed(server: tuple[int, Path]) -> None:
    with socket.create_connection(("127.0.0.1", server[0]), 10) as unknown_peer:
        unknown_peer.sendall(b"\0\0")
        assert unknown_peer.recv(1) == b""


def resident_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0])


def test_a_client_that_asks_and_does_not_read_costs_little_and_loses_nothing(tmp_path: Path) -> None:
    process, port = start_embedded(tmp_path)
    with ended(process):
        one = Wire(port)
        one.create("/large")
        one.call(SET, text("/large") + text("x" * 900_000) + struct.pack("!i", -1))
        for number in range(300):
            one.ask(GET, text("/large") + b"\0")
            if number % 100 == 0:
                one.ask(1, text(f"/n{number}") + text("") + OPEN_ACL + struct.pack("!i", 0))
        assert ask_word(port, b"ruok") == b"imok"
        assert resident_kib(process.pid) < 150_000
        assert [len(one.read().body) > 900_000 for _ in range(303)].count(True) == 300


def test_an_unknown_operation_is_answered(server: tuple[int, Path]) -> None:
    assert Wire(server[0]).call(4711).code == -6


def test_four_letter_words(server: tuple[int, Path]) -> None:
    one = Wire(server[0])
    one.create("/a", flags=1)
    assert b"Mode: standalone" in ask_word(server[0], b"srvr")
    assert b"zk_ephemerals_count\t1" in ask_word(server[0], b"mntr")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (b"isro", rb"rw"),
        (b"stat", rb"Clients:\n /127\.0\.0\.1:\d+\(sid=0x[0-9a-f]+,to=\d+\)\n(?s:.*)Mode: standalone\n"),
        (b"cons", rb" /127\.0\.0\.1:\d+\(sid=0x[0-9a-f]+,to=\d+\)\n"),
        (b"conf", rb"tickTime=\d+\nminSessionTimeout=\d+\nmaxSessionTimeout=\d+\n"),
        (b"envi", rb"Environment:\nzookeeper\.version="),
        (b"dump", rb"Sessions with Ephemerals \(1\):\n0x[0-9a-f]+:\n\t/a\n"),
        (b"wchs", rb"1 connections watching 1 paths\nTotal watches:1\n"),
    ],
)
def test_every_word_that_tools_ask(server: tuple[int, Path], word: bytes, says: bytes) -> None:
    one = Wire(server[0])
    one.create("/a", flags=1)
    one.call(GET, text("/a") + b"\1")
    assert re.search(says, ask_word(server[0], word))
    assert one.password not in ask_word(server[0], word)


# --- the control socket ---------------------------------------------------------------------------------


def test_expire_ends_a_session_now(server: tuple[int, Path], control: Control) -> None:
    one, other = Wire(server[0]), Wire(server[0])
    one.create("/e", flags=1)
    other.call(EXISTS, text("/e") + b"\1")
    assert control.ask(do="expire", session=one.session) == {"ok": True}
    assert watch_of(other.read()) == (2, "/e")
    with pytest.raises(ConnectionError):
        one.read()
    assert Wire(server[0], session=one.session, password=one.password).session == 0
    assert control.ask(do="expire", session=one.session)["ok"] is False


def test_a_refused_session_is_cut_off_until_accepted(server: tuple[int, Path], control: Control) -> None:
    one = Wire(server[0])
    assert control.ask(do="refuse", session=one.session) == {"ok": True}
    for _ in range(2):
        with pytest.raises(ConnectionError):
            Wire(server[0], session=one.session, password=one.password)
    assert control.ask(do="accept", session=one.session) == {"ok": True}
    assert Wire(server[0], session=one.session, password=one.password).session == one.session


def test_sessions_and_tree_are_shown(server: tuple[int, Path], control: Control) -> None:
    one = Wire(server[0])
    one.create("/e", flags=1)
    one.call(EXISTS, text("/e") + b"\1")
    (session,) = control.ask(do="sessions")["sessions"]
    assert (session["session"], session["connected"], session["ephemerals"]) == (one.session, True, ["/e"])
    (node,) = [node for node in control.ask(do="tree")["nodes"] if node["path"] == "/e"]
    assert node["owner"] == one.session and node["watches"] == {"data": [one.session]}


def test_follow_reports_the_tree_and_then_each_change(server: tuple[int, Path], control: Control) -> None:
    one = Wire(server[0], timeout_ms=400)
    one.create("/a")
    control.raw(b'{"do":"follow"}\n')
    while (line := control.read())["path"] != "/a":
        assert line["op"] == "is"
    one.create("/e", flags=1)
    one.call(SET, text("/a") + text("new") + struct.pack("!i", -1))
    made, changed = control.read(), control.read()
    assert (made["op"], made["kind"], made["path"], made["session"]) == (
        "create",
        "created",
        "/e",
        one.session,
    )
    assert (changed["op"], changed["data"], changed["by"]) == ("set", "new", one.session)
    assert changed["zxid"] == made["zxid"] + 1
    one.close()
    gone, expired = control.read(), control.read()
    assert (gone["op"], gone["path"], gone["data"], gone["session"]) == ("expire", "/e", None, one.session)
    assert (expired["kind"], expired["path"], expired["at_ns"]) == ("expire", "", gone["at_ns"])


def test_nonsense_on_the_control_socket_is_one_line(server: tuple[int, Path], control: Control) -> None:
    for line in (b"what\n", b"[]\n", b'{"do":"dance"}\n', b'{"do":"expire","session":"x"}\n', b'{"x":1}\n'):
        answer = control.raw(line)
        assert answer["ok"] is False and "\n" not in answer["error"]
    assert control.ask(do="sessions")["ok"] is True
