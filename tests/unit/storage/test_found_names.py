"""Names that a crash left un-synced are made durable before they count."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from nodes.config import SECOND
from nodes.sim.disk import MediumStore, SimDisk
from nodes.sim.loop import Loop, Machine
from nodes.storage.found_names import keep_names


class Named(random.Random):
    """Draws for a disk: each renaming that a crash interrupts has taken place, and no directory is synced."""

    def random(self) -> float:
        return 0.0


def run(store: MediumStore, procedure: Callable[[SimDisk], Coroutine[Any, Any, None]]) -> list[str]:
    """Runs a procedure of a new process for half a second: ["done"], [the name of its error] or []."""
    loop, ends = Loop(random.Random(1)), []  # type: ignore[abstract]
    machine = Machine(loop, "a")

    async def guarded() -> None:
        try:
            await procedure(SimDisk(machine, store))
            ends.append("done")
        except OSError as error:
            ends.append(errno.errorcode[error.errno or 0])

    machine.call(lambda: loop.create_task(guarded()))
    loop.run(SECOND // 2)
    return ends


def keep(disk: SimDisk) -> Coroutine[Any, Any, None]:
    return keep_names(disk, "d")


def content(store: MediumStore) -> dict[str, bytes]:
    return {path: bytes(file.data) for path, file in store.files.items()}


def found() -> MediumStore:
    """A disk on which a process crashed between the renaming of a file and the sync of its directory."""
    store = MediumStore(random.Random(1))

    async def write(disk: SimDisk) -> None:
        await disk.replace("d/a", b"durable")
        await disk.replace("d/b", b"old")
        store.slow_ns = SECOND
        await disk.replace("d/b", b"new")

    assert run(store, write) == []
    store.crash(Named())
    store.mend()
    assert content(store) == {"d/a": b"durable", "d/b": b"new"}
    return store


@pytest.mark.parametrize("kept", [True, False])
def test_a_name_that_a_crash_left_survives_a_power_loss_once_it_is_kept(kept: bool) -> None:
    store = found()
    if kept:
        assert run(store, keep) == ["done"]
    store.lose_power("nothing")
    assert content(store) == {"d/a": b"durable", "d/b": b"new" if kept else b"old"}


def test_keeping_alters_no_file_and_needs_no_room() -> None:
    store = found()
    before = content(store)
    store.capacity = store.used()
    assert run(store, keep) == ["done"]
    assert content(store) == before


@pytest.mark.parametrize("emptied", [True, False])
def test_an_empty_or_absent_directory_is_no_error(emptied: bool) -> None:
    store = MediumStore(random.Random(1))

    async def begin(disk: SimDisk) -> None:
        if emptied:
            await disk.replace("d/a", b"1")
            disk.remove("d/a")
        await disk.replace("d/deeper/a", b"2")
        await keep(disk)

    assert run(store, begin) == ["done"]
    assert content(store) == {"d/deeper/a": b"2"}


def test_a_disk_that_fails_is_an_error_and_may_be_tried_again() -> None:
    store = found()
    store.failing["sync"] = 1
    assert run(store, keep) == ["EIO"]
    assert run(store, keep) == ["done"]
    store.lose_power("nothing")
    assert content(store)["d/b"] == b"new"
