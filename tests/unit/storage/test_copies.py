"""Copies on a disk: one is a replica when it is whole, and what was there before stays until then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from nodes.storage.block_file import size_of
from nodes.storage.block_store import BlockRefused, BlockStore
from nodes.storage.chunks import sums_of
from tests.unit.storage.memory_disk import MachineDied, MemoryDisk
from tests.unit.storage.test_block_store import BLOCK, opened, refused, whole, written

OLD, NEW = b"o" * 700, b"n" * 1_500
DATA, STATE, COPY = (f"blocks/{BLOCK:016x}.{ending}" for ending in ("blk", "rep", "cpy"))


class MovingDisk(MemoryDisk):
    """`moving`: what happens to the next renaming. The machine dies before or after it, or it fails with or without effect."""

    moving = ""

    async def move(self, path: str, to: str) -> None:
        how, self.moving = self.moving, ""
        if how == "dies before":
            raise MachineDied
        if how != "fails without effect":
            await super().move(path, to)
        if how == "dies after":
            raise MachineDied
        if how:
            raise OSError(5, "Input/output error", path)


def dies(step: Awaitable[object]) -> None:
    async def run() -> None:
        await step

    with pytest.raises(MachineDied):
        asyncio.run(run())


def begun(store: BlockStore, data: bytes = NEW, stamp: int = 2) -> None:
    asyncio.run(store.begin(BLOCK, stamp, 0, is_copy=True))
    for start in range(0, len(data), 512):
        part = data[start : start + 512]
        store.append(BLOCK, start, part, sums_of(part))


def before(how: str) -> MovingDisk:
    """A disk with a replica of an earlier stamp, with one that a writer left unfinished under the copy's stamp, or with none."""
    disk = MovingDisk()
    store = opened(disk)
    if how == "earlier":
        asyncio.run(written(store, OLD))
    elif how == "unfinished":
        asyncio.run(store.begin(BLOCK, 2, 0))
        store.append(BLOCK, 0, OLD, sums_of(OLD))
        store.leave(BLOCK)
        disk.durable = {path: bytes(data) for path, data in disk.files.items()}
    return disk


def copying(how: str) -> tuple[MovingDisk, BlockStore]:
    """Such a disk, and its store while a copy with a later stamp is written."""
    disk = before(how)
    store = opened(disk)
    begun(store)
    return disk, store


def is_as_before(store: BlockStore, how: str) -> None:
    if how == "none":
        assert store.replicas == {} and store.used == 0
        return
    replica = store.replicas[BLOCK]
    assert (replica.stamp, replica.final) == ((1, True) if how == "earlier" else (2, False))
    assert whole(store) == OLD and store.used == len(OLD)


BEFORE = pytest.mark.parametrize("how", ["earlier", "unfinished", "none"])


@BEFORE
@pytest.mark.parametrize("power", [True, False])
def test_an_interrupted_copy_is_no_replica(how: str, power: bool) -> None:
    disk = before(how)
    begun(opened(disk))
    if power:
        disk.lose_power(2_000)
    store = opened(disk)
    is_as_before(store, how)
    asyncio.run(store.keep_found())
    assert COPY not in disk.files
    is_as_before(store, how)


@BEFORE
def test_what_was_there_stays_until_the_copy_is_whole(how: str) -> None:
    disk, store = copying(how)
    if how == "none":
        assert store.replicas == {}
        refused(lambda: store.read(BLOCK, 0, 512))
    else:
        assert whole(store) == OLD
    assert store.used == len(NEW) + (0 if how == "none" else len(OLD))
    asyncio.run(store.finish(BLOCK))
    disk.lose_power()
    for each in (store, opened(disk)):
        assert whole(each) == NEW and each.used == len(NEW) and each.replicas[BLOCK].final
    assert set(disk.files) == {DATA, STATE}


@BEFORE
@pytest.mark.parametrize("when", ["dies before", "dies after"])
def test_a_crash_around_the_renaming_leaves_the_former_replica_or_a_whole_one(how: str, when: str) -> None:
    disk, store = copying(how)
    disk.moving = when
    dies(store.finish(BLOCK))
    again = opened(disk)
    if when == "dies before":
        is_as_before(again, how)
        return
    replica = again.replicas[BLOCK]
    assert (replica.stamp, replica.final, replica.damaged) == (2, False, False) and whole(again) == NEW
    asyncio.run(again.begin(BLOCK, 3, len(NEW)))
    asyncio.run(again.finish(BLOCK))
    assert whole(opened(disk)) == NEW and opened(disk).replicas[BLOCK].stamp == 3


@BEFORE
def test_a_state_that_a_failing_disk_does_not_write_leaves_a_whole_replica(how: str) -> None:
    disk, store = copying(how)
    disk.fails_at = STATE
    with pytest.raises(OSError, match="Input/output"):
        asyncio.run(store.finish(BLOCK))
    for each in (store, opened(disk)):
        replica = each.replicas[BLOCK]
        assert (replica.stamp, replica.final, whole(each), each.used) == (2, False, NEW, len(NEW))


@BEFORE
def test_a_failed_sync_gives_the_copy_up(how: str) -> None:
    disk, store = copying(how)
    disk.fails = True
    with pytest.raises(OSError, match="Input/output"):
        asyncio.run(store.finish(BLOCK))
    disk.fails = False
    is_as_before(store, how)
    is_as_before(opened(disk), how)
    assert COPY not in disk.files


@BEFORE
@pytest.mark.parametrize("moving", ["fails without effect", "fails with effect"])
def test_after_a_renaming_in_doubt_the_replica_is_damaged_and_can_be_replaced(how: str, moving: str) -> None:
    disk, store = copying(how)
    disk.moving = moving
    with pytest.raises(OSError, match="Input/output"):
        asyncio.run(store.finish(BLOCK))
    assert store.replicas[BLOCK].damaged and COPY not in disk.files
    refused(lambda: store.read(BLOCK, 0, 512))
    begun(store)
    asyncio.run(store.finish(BLOCK))
    assert whole(opened(disk)) == NEW and store.used == opened(disk).used == len(NEW)
    store.remove(BLOCK)
    assert disk.files == {} and store.used == 0


@BEFORE
def test_a_copy_gives_way_to_another_copy_and_to_a_writer(how: str) -> None:
    disk = before(how)
    store = opened(disk)
    begun(store, b"x" * 900)
    begun(store, NEW[:600])
    asyncio.run(store.begin(BLOCK, 3, 0))
    assert COPY not in disk.files and store.used == 0
    store.append(BLOCK, 0, NEW, sums_of(NEW))
    refused(lambda: store.begin(BLOCK, 3, 0, is_copy=True))
    asyncio.run(store.finish(BLOCK))
    assert whole(opened(disk)) == NEW and store.used == len(NEW) and store.replicas[BLOCK].stamp == 3
    refused(lambda: store.begin(BLOCK, 3, 0, is_copy=True))


def test_a_writer_goes_on_with_the_replica_beside_a_copy() -> None:
    disk = before("earlier")
    store = opened(disk)
    begun(store)
    asyncio.run(store.begin(BLOCK, 3, len(OLD)))
    asyncio.run(store.finish(BLOCK))
    assert whole(opened(disk)) == OLD and store.used == len(OLD) and COPY not in disk.files


@BEFORE
@pytest.mark.parametrize("ending", ["leave", "remove", "set aside"])
def test_what_ends_a_copy_removes_its_bytes(how: str, ending: str) -> None:
    disk, store = copying(how)
    if ending == "set aside" and how != "none":
        assert asyncio.run(store.set_aside(BLOCK)) == len(OLD)
    elif ending == "remove":
        store.remove(BLOCK)
        assert disk.files == {} and store.used == 0
    else:
        store.leave(BLOCK)
        is_as_before(store, how)
    assert COPY not in disk.files and store.used == (0 if how == "none" or ending == "remove" else len(OLD))


def test_leftovers_are_removed_beside_a_new_copy() -> None:
    disk = before("none")
    begun(opened(disk), b"x" * 900)
    store = opened(disk)
    begun(store)
    asyncio.run(store.keep_found())
    asyncio.run(store.finish(BLOCK))
    assert whole(opened(disk)) == NEW


def test_a_damaged_replica_gives_its_room_to_a_copy() -> None:
    disk = MemoryDisk(capacity=100_000)
    asyncio.run(written(opened(disk), b"x" * 10_240))
    disk.files[DATA][3] ^= 1
    store = opened(disk)
    disk.files["trace"] = bytearray(disk.free() - store.reserve)
    begun(store, b"y" * 9_728)
    asyncio.run(store.finish(BLOCK))
    assert whole(opened(disk)) == b"y" * 9_728


def test_a_copy_that_finds_no_room_costs_nothing() -> None:
    disk = before("earlier")
    store = opened(disk, size_of(0) + 1_500)
    with pytest.raises(OSError, match="no room"):
        begun(store)
    store.leave(BLOCK)
    is_as_before(store, "earlier")
    with pytest.raises(BlockRefused, match="is not here"):
        asyncio.run(store.begin(BLOCK, 2, 512, is_copy=True))
