"""Which hosts and origins are this control plane's, and whose tries are counted as whose."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.types import Scope

from backend.cli import entry
from backend.errors import Malformed
from backend.reach import LOCAL_REACH, NetworkReach, PublicAddress, checked_listen, join_address, reach_of
from backend.startup import hosts_of

NETWORK = reach_of("0.0.0.0", None)
PROXIED = reach_of("127.0.0.1", "https://lab.example.org")


@pytest.mark.parametrize(
    ("reach", "host", "port"),
    [
        (LOCAL_REACH, "127.0.0.1:8080", 8080),
        (LOCAL_REACH, "10.0.0.7:8080", None),
        (NETWORK, "10.0.0.7:8080", 8080),
        (NETWORK, "10.0.0.7", 80),
        (NETWORK, "localhost:8080", 8080),
        (NETWORK, "evil.example:8080", None),
        (NETWORK, "10.0.0.700:8080", None),
        (NETWORK, "10.0.0.7.evil.example", None),
        (PROXIED, "lab.example.org", 443),
        (PROXIED, "LAB.example.org:443", 443),
        (PROXIED, "lab.example.org:80", None),
        (PROXIED, "lab.example.org.evil.example", None),
        (PROXIED, "10.0.0.7:8080", None),
    ],
)
def test_hosts(reach: NetworkReach, host: str, port: int | None) -> None:
    assert reach.port_of(host) == port


@pytest.mark.parametrize(
    ("reach", "origin", "host", "same"),
    [
        (NETWORK, "http://10.0.0.7:8080", "10.0.0.7:8080", True),
        (NETWORK, "http://10.0.0.8:8080", "10.0.0.7:8080", False),
        (NETWORK, "http://127.0.0.1:8080", "10.0.0.7:8080", False),
        (NETWORK, "https://10.0.0.7:8080", "10.0.0.7:8080", False),
        (NETWORK, "http://[::1]:8080", "[::1]:8080", True),
        (PROXIED, "https://lab.example.org", "lab.example.org", True),
        (PROXIED, "http://lab.example.org", "lab.example.org", False),
        (PROXIED, "https://evil.example", "lab.example.org", False),
        (PROXIED, "https://lab.example.org", "127.0.0.1:8080", False),
        (PROXIED, "null", "lab.example.org", False),
    ],
)
def test_origins(reach: NetworkReach, origin: str, host: str, same: bool) -> None:
    assert reach.same_place(origin, host) is same


@pytest.mark.parametrize(
    "text",
    [
        "lab.example.org",
        "https://",
        "https://a/b",
        "ftp://a",
        "https://a:x",
        "https://u@a",
        "https://a?b",
        "https://a_b",
    ],
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="--public"):
        PublicAddress.read(text)


def test_addresses_to_listen_on() -> None:
    assert checked_listen("192.168.1.5") == "192.168.1.5"
    for wrong in ("", "school", "::1", "192.168.1.500"):
        with pytest.raises(Malformed, match="--listen"):
            checked_listen(wrong)
    assert hosts_of("127.0.0.1") == ["127.0.0.1"] and hosts_of("0.0.0.0") == ["0.0.0.0"]
    assert hosts_of("192.168.1.5") == ["192.168.1.5", "127.0.0.1"]


def request(peer: str, host: str, forwarded: str = "") -> Scope:
    headers = [(b"host", host.encode())]
    if forwarded:
        headers.append((b"x-forwarded-for", forwarded.encode()))
    return {"type": "http", "client": (peer, 5), "headers": headers}


def test_only_the_proxy_on_this_machine_says_for_whom_it_asks() -> None:
    host = "lab.example.org"
    assert PROXIED.caller_of(request("127.0.0.1", host, "9.9.9.9, 10.0.0.4")) == "10.0.0.4"
    assert PROXIED.caller_of(request("127.0.0.1", host)) == "127.0.0.1"
    both = NetworkReach(True, PublicAddress.read("https://lab.example.org"))
    assert both.caller_of(request("10.0.0.4", host, "1.2.3.4")) == "10.0.0.4"
    assert NETWORK.caller_of(request("127.0.0.1", "127.0.0.1", "1.2.3.4")) == "127.0.0.1"


def test_near_is_this_machine_where_others_reach_the_port() -> None:
    assert NETWORK.is_near(request("127.0.0.1", "x")) and not NETWORK.is_near(request("10.0.0.4", "x"))
    assert LOCAL_REACH.is_near(request("172.17.0.1", "x")), "the bridge of a container"
    assert not NETWORK.is_near(request("testclient", "x"))


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--listen", "school"], "IPv4 address"), (["--public", "lab.example.org"], "https://NAME"), (["--public", "https://a/b"], "--public")],
)  # fmt: skip
def test_a_wrong_address_is_one_line(
    words: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert entry(["up", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_where_students_join() -> None:
    assert join_address("127.0.0.1", 8080, LOCAL_REACH) == "http://127.0.0.1:8080/join"
    assert join_address("10.0.0.7", 8080, reach_of("10.0.0.7", None)) == "http://10.0.0.7:8080/join"
    assert join_address("127.0.0.1", 8080, PROXIED) == "https://lab.example.org/join"
    assert "0.0.0.0" not in join_address("0.0.0.0", 8080, NETWORK)
