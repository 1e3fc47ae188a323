"""A file that is open at a barrier, whose pipeline is rebuilt behind it: after the recovery data nodes have later stamps than the namespace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from tests.simulation.recovery.content import append, parts_of, with_data
from tests.simulation.recovery.lab import Checkpoints

SIZE = 1 << 16
DATA = Random(7).randbytes(60 * SIZE)


def went_back_behind_two_pipelines(lab: Checkpoints) -> asyncio.Task[int]:
    """The task of the writer, which continues after the recovery."""
    allowed = 2

    async def parts() -> AsyncIterator[bytes]:
        world: Any = lab.cluster.servers["eve"].world
        for number in range(60):
            while number >= allowed:
                await world.clock.sleep(20 * MILLISECOND)
            yield DATA[number * SIZE : (number + 1) * SIZE]

    writing: asyncio.Task[int] = lab.eve.begin(lab.eve.files.put("/f", parts(), block_size=1 << 22))
    lab.run_ms(500)
    lab.mark("one")
    for node in ("dn1", "dn2"):
        lab.cluster.faults.crash(node)
        allowed += 20
        lab.run_ms(12_000)
        lab.cluster.faults.restart(node)
        lab.run_ms(3_000)
    lab.recover("one")
    lab.run_ms(3_000)
    allowed = 60
    return writing


def read(lab: Checkpoints, path: str) -> bytes:
    """Reads as ada."""

    async def gather() -> bytes:
        return b"".join([data async for data in lab.ada.files.get(path)])

    task = lab.ada.begin(gather())
    lab.cluster.run_until(task.done, 60 * SECOND)
    return bytes(task.result())


def test_the_next_writer_takes_the_file_over() -> None:
    lab = with_data(15, 1)
    writing = went_back_behind_two_pipelines(lab)
    lab.cluster.faults.crash("eve")
    assert not writing.done()
    taking = lab.ada.begin(lab.ada.files.append("/f", parts_of(b"end"), force=True))
    lab.cluster.run_until(taking.done, 60 * SECOND)
    taking.result()
    got = read(lab, "/f")
    assert got == DATA[: len(got) - 3] + b"end" and len(got) > 22 * SIZE
    append(lab, "/f", b" and more")
    lab.finish()


def test_its_writer_is_refused_as_one_whose_file_was_taken_back() -> None:
    lab = with_data(15, 1)
    writing = went_back_behind_two_pipelines(lab)
    lab.cluster.run_until(writing.done, 60 * SECOND)
    with pytest.raises(
        FsError, match="ESTALE: the file was taken back: its last block has stamp 1 and not 3"
    ):
        writing.result()
    lab.finish()
