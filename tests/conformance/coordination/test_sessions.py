"""Sessions: timeouts, resumption with the password, expiry and the end of ephemeral nodes."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest
from kazoo.client import KazooClient, KazooState

from tests.conformance.coordination.wire import Wire, text, watch_of

EXISTS, CLOSE, PING = 3, -11, 11


def until(condition: Callable[[], object], timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def test_the_time_out_is_negotiated(port: int) -> None:
    for asked, given in ((1, 200), (5_000, 5_000), (10**8, 60_000)):
        one = Wire(port, timeout_ms=asked)
        assert one.timeout_ms == given
        one.close()


def test_a_session_is_taken_up_with_its_password(port: int, root: str) -> None:
    one = Wire(port)
    one.create(f"{root}/e", flags=1)
    one.close()
    again = Wire(port, session=one.session, password=one.password)
    assert (again.session, again.password) == (one.session, one.password)
    assert again.call(EXISTS, text(f"{root}/e") + b"\0").code == 0
    again.call(CLOSE)


@pytest.mark.parametrize("lie", ["password", "session"])
def test_a_wrong_password_or_number_is_an_expired_session(port: int, lie: str) -> None:
    one = Wire(port)
    session = one.session + (77 if lie == "session" else 0)
    password = one.password if lie == "session" else b"x" * 16
    other = Wire(port, session=session, password=password)
    assert (other.session, other.timeout_ms) == (0, 0)
    one.close()


def test_ephemeral_nodes_go_when_the_session_is_closed(port: int, client: KazooClient, root: str) -> None:
    one, gone = Wire(port), threading.Event()
    one.create(f"{root}/e", flags=1)
    one.create(f"{root}/f", flags=1)
    one.create(f"{root}/kept")
    assert client.exists(f"{root}/e", watch=lambda event: gone.set())
    assert one.call(CLOSE).code == 0
    assert gone.wait(5)
    client.sync(root)
    assert client.get_children(root) == ["kept"]


def test_ephemeral_nodes_stay_until_the_time_out_and_then_go(port: int, root: str) -> None:
    one, other = Wire(port, timeout_ms=600), Wire(port)
    one.create(f"{root}/e", flags=1)
    began = time.monotonic()
    assert other.call(EXISTS, text(f"{root}/e") + b"\1").code == 0
    one.close()
    assert watch_of(other.read()) == (2, f"{root}/e")
    took_s = time.monotonic() - began
    assert 0.5 <= took_s < 0.6 + 0.4
    late = Wire(port, session=one.session, password=one.password)
    assert late.session == 0
    other.call(CLOSE)


def test_pings_keep_a_session(port: int, root: str) -> None:
    one = Wire(port, timeout_ms=400)
    one.create(f"{root}/e", flags=1)
    deadline = time.monotonic() + 1.2
    while time.monotonic() < deadline:
        one.ask(PING)
        assert one.read().xid == -2
        time.sleep(0.1)
    assert one.call(EXISTS, text(f"{root}/e") + b"\0").code == 0
    one.call(CLOSE)


def test_kazoo_reconnects_into_the_same_session(connect: Callable[..., KazooClient], root: str) -> None:
    client, states = connect(), []
    client.add_listener(states.append)
    client.create(f"{root}/e", ephemeral=True)
    before = client.client_id
    client._connection._socket.shutdown(socket.SHUT_RDWR)
    until(lambda: states[:2] == [KazooState.SUSPENDED, KazooState.CONNECTED])
    assert client.client_id == before
    assert client.exists(f"{root}/e").ephemeralOwner == before[0]
    assert KazooState.LOST not in states


def test_a_connection_taken_over_is_closed(port: int) -> None:
    one = Wire(port)
    again = Wire(port, session=one.session, password=one.password)
    with pytest.raises((ConnectionError, struct.error)):
        one.ask(PING)
        one.read()
        one.read()
    again.call(CLOSE)


def test_the_end_of_a_session_moves_the_parents_pzxid(port: int, client: KazooClient, root: str) -> None:
    """Otherwise a child watch that is set again after a reconnect would miss the removal of the node."""
    one = Wire(port)
    one.create(f"{root}/e", flags=1)
    before = client.exists(root)
    one.call(CLOSE)
    client.sync(root)
    after = client.exists(root)
    assert after.pzxid > before.pzxid and after.numChildren == 0 and after.cversion == before.cversion + 1
