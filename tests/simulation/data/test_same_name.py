"""A put creates a file and then writes it: between the two, another client's file may take the name."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from nodes.errors import FsError
from nodes.metadata.operations import Append, Delete, Open, Rename
from nodes.wire.messages import Request
from tests.simulation.data.lab import DataLab, content

MINE, THEIRS, MORE = content(1, 3_000), content(2, 5_000), content(3, 2_000)


async def part(data: bytes) -> AsyncIterator[bytes]:
    yield data


def put_by_eve(lab: DataLab, path: str) -> None:
    task = lab.eve.begin(lab.eve.files.put(path, part(THEIRS)))
    lab.until(task.done)
    assert task.result() == len(THEIRS)


@pytest.mark.parametrize("how", ["delete", "rename"])
@pytest.mark.parametrize("protocol", ["mams", "packed-paxos"])
def test_a_put_never_goes_into_another_clients_file(protocol: str, how: str) -> None:
    """Eve's file is acknowledged, and she alone may change it."""
    lab = DataLab(1, standbys=2, protocol=protocol)
    held = lab.cluster.hold(
        lambda sender, receiver, message: (
            sender == "ada" and type(message) is Request and type(message.operation) is Append
        )
    )
    put = lab.begin_put("/f", MINE)
    lab.until(lambda: bool(held.messages))
    if how == "delete":
        lab.eve.call(Delete("/f"))
        put_by_eve(lab, "/f")
    else:
        put_by_eve(lab, "/tmp")
        lab.eve.call(Rename("/tmp", "/f", True))
    held.release()
    lab.until(put.done)
    assert lab.get("/f") == THEIRS
    with pytest.raises(FsError, match="ESTALE: '/f' is another file now"):
        put.result()
    assert not lab.eve.call(Open("/f")).result.writing  # type: ignore[union-attr]
    lab.append("/f", MORE, lab.eve)
    assert lab.get("/f") == THEIRS + MORE
