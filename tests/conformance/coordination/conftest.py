"""Every test here runs against the embedded server and against a real ZooKeeper."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from kazoo.client import KazooClient

from tests.conformance.coordination import services

_roots = itertools.count(1)


@pytest.fixture(scope="session", params=["embedded", "zookeeper"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    if request.param == "zookeeper" and services.why_no_zookeeper():
        pytest.skip(services.why_no_zookeeper())
    start = services.embedded if request.param == "embedded" else services.zookeeper
    with start(tmp_path_factory.mktemp(request.param)) as number:
        yield number


@pytest.fixture
def connect(port: int) -> Iterator[Callable[..., KazooClient]]:
    """Creates connected clients; all are closed at the end."""
    made: list[KazooClient] = []

    def one(timeout_s: float = 10.0) -> KazooClient:
        client = KazooClient(f"127.0.0.1:{port}", timeout=timeout_s)
        made.append(client)
        client.start(10)
        return client

    yield one
    for client in made:
        client.stop()
        client.close()


@pytest.fixture
def client(connect: Callable[..., KazooClient]) -> KazooClient:
    return connect()


@pytest.fixture
def root(client: KazooClient) -> str:
    """A fresh, empty node for one test."""
    path = f"/test-{next(_roots)}"
    client.create(path)
    return path
