"""A file that is open at a barrier, whose pipeline is rebuilt behind it: after the recovery data nodes have later stamps than the namespace."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from tests.simulation.recovery.content import allowed_parts, append, get, parts_of, with_data, written
from tests.simulation.recovery.lab import Checkpoints

SIZE = 1 << 16
DATA = Random(7).randbytes(60 * SIZE)


def went_back_behind_two_pipelines(lab: Checkpoints) -> asyncio.Task[int]:
    """The task of the writer, which continues after the recovery."""
    allowed = 2

    parts = allowed_parts(lab, DATA, SIZE, lambda: allowed)
    writing: asyncio.Task[int] = lab.eve.begin(lab.eve.files.put("/f", parts, block_size=1 << 22))
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


def test_the_next_writer_takes_the_file_over() -> None:
    lab = with_data(15, 1)
    writing = went_back_behind_two_pipelines(lab)
    lab.cluster.faults.crash("eve")
    assert not writing.done()
    written(lab, lab.ada.files.append("/f", parts_of(b"end"), force=True))
    got = get(lab, "/f", lab.ada)
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
