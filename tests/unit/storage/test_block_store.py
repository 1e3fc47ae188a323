"""Replicas on a disk: a finished one survives a power loss, a damaged one is never read out."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.format_number import stored
from nodes.storage.block_file import BlockDamaged, UnknownBlockFormat, length_of, size_of
from nodes.storage.block_store import WRITING_MAX, BlockRefused, BlockStore
from nodes.storage.chunks import first_bad, sums_of
from tests.unit.storage.memory_disk import MemoryDisk

BLOCK = (1 << 48) | 7
LARGE = 1 << 30


def opened(disk: MemoryDisk, capacity: int = LARGE) -> BlockStore:
    return BlockStore.open(disk, capacity)  # type: ignore[arg-type]


async def written(store: BlockStore, data: bytes, block: int = BLOCK, stamp: int = 1) -> None:
    await store.begin(block, stamp, 0)
    put(store, data, block)
    await store.finish(block)


def put(store: BlockStore, data: bytes, block: int = BLOCK, packet: int = 1024) -> None:
    for start in range(0, len(data), packet):
        part = data[start : start + packet]
        store.append(block, store.replicas[block].length, part, sums_of(part))


def whole(store: BlockStore, block: int = BLOCK) -> bytes:
    found = b""
    while len(found) < store.replicas[block].length:
        data, sums = store.read(block, len(found), 1 << 16)
        assert first_bad(data, sums) == -1
        found += data
    return found


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=5000), st.integers(0, 700))
def test_a_finished_replica_survives_the_loss_of_power(data: bytes, torn: int) -> None:
    disk = MemoryDisk()
    asyncio.run(written(opened(disk), data))
    disk.lose_power(torn)
    store = opened(disk)
    assert whole(store) == data and store.used == len(data)
    assert store.replicas[BLOCK].final and not store.replicas[BLOCK].damaged


@settings(max_examples=60, deadline=None)
@given(
    st.binary(min_size=1, max_size=4000),
    st.integers(0, 1 << 20),
    st.integers(0, 7),
    st.sampled_from(["blk", "rep"]),
)
def test_one_flipped_bit_is_found(data: bytes, place: int, bit: int, kind: str) -> None:
    disk = MemoryDisk()
    asyncio.run(written(opened(disk), data))
    file = disk.files[next(name for name in disk.files if name.endswith(kind))]
    file[place % len(file)] ^= 1 << bit
    try:
        store = opened(disk)
    except UnknownBlockFormat as unknown:
        assert "\n" not in str(unknown)
        return
    if not store.replicas[BLOCK].damaged:
        with pytest.raises(BlockDamaged) as caught:
            whole(store)
        assert "\n" not in str(caught.value)
    with pytest.raises(BlockRefused):
        store.read(BLOCK, 0, 512)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=6000), st.integers(0, 5), st.integers(0, 6000))
def test_what_was_being_written_is_known_as_far_as_it_is_valid(data: bytes, chunks: int, torn: int) -> None:
    disk = MemoryDisk()
    store = opened(disk)
    asyncio.run(store.begin(BLOCK, 1, 0))
    put(store, data)
    del next(iter(disk.files.values()))[-torn or LARGE :]
    again = opened(disk)
    replica = again.replicas[BLOCK]
    if replica.damaged:
        assert torn > size_of(len(data)) - size_of(0)
        return
    assert (
        not replica.final and data.startswith(whole(again)) and replica.length % 512 in (0, len(data) % 512)
    )
    keep = min(chunks * 512, replica.length // 512 * 512)
    if not keep:
        return
    asyncio.run(again.begin(BLOCK, 2, keep))
    put(again, b"x" * 700)
    asyncio.run(again.finish(BLOCK))
    disk.lose_power()
    assert whole(opened(disk)) == data[:keep] + b"x" * 700 and opened(disk).replicas[BLOCK].stamp == 2


def refused(run: Any) -> str:
    with pytest.raises(BlockRefused) as caught:
        found = run()
        if found is not None:
            asyncio.run(found)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_stamps_only_rise() -> None:
    store = opened(MemoryDisk())
    asyncio.run(written(store, b"abc", stamp=3))
    for stamp in (1, 2, 3):
        refused(lambda stamp=stamp: store.begin(BLOCK, stamp, 0))
    asyncio.run(store.begin(BLOCK, 4, 3))
    refused(lambda: store.begin(BLOCK, 4, 0))
    asyncio.run(store.finish(BLOCK))
    asyncio.run(store.begin(BLOCK, 5, 0))
    assert store.replicas[BLOCK].length == store.used == 0


def test_what_makes_no_sense_is_refused_in_one_line() -> None:
    disk = MemoryDisk()
    store = opened(disk, 2000)
    for block, stamp in ((7, 1), (BLOCK, 0), (BLOCK, 1 << 32), (1 << 70, 1), (-1, 1)):
        refused(lambda block=block, stamp=stamp: store.begin(block, stamp, 0))
    refused(lambda: store.begin(BLOCK, 1, 512))
    refused(lambda: store.append(BLOCK, 0, b"a", sums_of(b"a")))
    asyncio.run(store.begin(BLOCK, 1, 0))
    refused(lambda: store.append(BLOCK, 512, b"a", sums_of(b"a")))
    refused(lambda: store.append(BLOCK, 0, b"a", sums_of(b"b")))
    put(store, b"a")
    refused(lambda: store.append(BLOCK, 1, b"a", sums_of(b"a")))
    for offset, length in ((-512, 1), (1, 1), (1024, 1), (0, 0), (0, (1 << 16) + 1)):
        refused(lambda offset=offset, length=length: store.read(BLOCK, offset, length))
    refused(lambda: store.read(BLOCK + 1, 0, 1))
    asyncio.run(store.begin(BLOCK + 1, 1, 0))
    with pytest.raises(OSError, match="takes 2000 bytes"):
        store.append(BLOCK + 1, 0, b"a" * 2000, sums_of(b"a" * 2000))
    for number in range(2, WRITING_MAX):
        asyncio.run(store.begin(BLOCK + number, 1, 0))
    refused(lambda: store.begin(BLOCK + WRITING_MAX, 1, 0))


def test_what_is_removed_is_gone() -> None:
    disk = MemoryDisk()
    store = opened(disk)
    asyncio.run(written(store, b"abc"))
    store.remove(BLOCK)
    store.remove(BLOCK)
    assert disk.files == {} and store.used == 0 and opened(disk).replicas == {}


@pytest.mark.parametrize("ending", ["rep", "blk"])
@pytest.mark.parametrize("again", [False, True])
def test_what_a_failing_disk_does_not_remove_stays_as_damaged(ending: str, again: bool) -> None:
    """Also when it is to make room for the same block with a later stamp."""
    disk = MemoryDisk()
    store = opened(disk)
    asyncio.run(written(store, b"abc"))
    disk.fails_at = f"blocks/{BLOCK:016x}.{ending}"
    with pytest.raises(OSError, match="Input/output"):
        if again:
            asyncio.run(store.begin(BLOCK, 2, 0))
        else:
            store.remove(BLOCK)
    assert store.replicas[BLOCK].damaged and store.used == 3
    refused(lambda: store.read(BLOCK, 0, 512))
    disk.fails_at = ""
    store.remove(BLOCK)
    assert disk.files == {} and store.used == 0 and store.replicas == {}


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_is_set_aside_is_kept_and_not_used(is_whole: bool) -> None:
    disk = MemoryDisk()
    store = opened(disk, 2000)
    asyncio.run(store.begin(BLOCK, 1, 0))
    put(store, b"abc" * 300)
    if is_whole:
        asyncio.run(store.finish(BLOCK))
    before = {path.rpartition("/")[2]: bytes(data) for path, data in disk.files.items()}
    if not is_whole:
        disk.durable = {path: bytes(data) for path, data in disk.files.items()}
    assert asyncio.run(store.set_aside(BLOCK)) == 900
    disk.lose_power()
    assert {path: bytes(data) for path, data in disk.files.items()} == {
        f"aside/{name}": data for name, data in before.items()
    }
    for again in (store, opened(disk, 2000)):
        assert again.replicas == {} and again.used == 900
        refused(lambda again=again: again.read(BLOCK, 0, 512))
    asyncio.run(store.begin(BLOCK + 1, 1, 0))
    with pytest.raises(OSError, match="takes 2000 bytes"):
        store.append(BLOCK + 1, 0, b"a" * 1200, sums_of(b"a" * 1200))


def test_a_disk_that_fails_sets_nothing_aside() -> None:
    disk = MemoryDisk()
    store = opened(disk)
    asyncio.run(written(store, b"abc"))
    disk.fails = True
    with pytest.raises(OSError, match="Input/output"):
        asyncio.run(store.set_aside(BLOCK))
    disk.fails = False
    assert whole(store) == b"abc" and whole(opened(disk)) == b"abc"
    assert asyncio.run(store.set_aside(BLOCK)) == 3


def test_another_format_is_left_as_it_is() -> None:
    disk = MemoryDisk()
    asyncio.run(written(opened(disk), b"abc"))
    file = next(iter(disk.files.values()))
    file[8:10] = stored(9).to_bytes(2, "little")
    with pytest.raises(UnknownBlockFormat, match="format 9; this version reads format 1"):
        opened(disk)


@given(st.integers(0, 100_000))
def test_sizes_and_lengths_fit(length: int) -> None:
    assert length_of(size_of(length)) == length


def test_a_disk_is_not_filled_to_the_last_byte() -> None:
    disk = MemoryDisk(capacity=100_000)
    store = opened(disk)
    asyncio.run(store.begin(BLOCK, 1, 0))
    with pytest.raises(OSError) as full:
        put(store, b"x" * 100_000)
    assert full.value.errno == errno.ENOSPC and "leaves 5000 of its disk free" in str(full.value)
    assert 5_000 <= disk.free() < 7_000 and store.room() < 1_024
    replica = asyncio.run(store.finish(BLOCK))
    assert replica.final and whole(store) == b"x" * replica.length, (
        "what came before is made whole from the reserve"
    )
    for name in ("trace", "journal"):
        disk.files[name] = bytearray(1_000)
    with pytest.raises(OSError, match="no room"):
        asyncio.run(store.begin(BLOCK + 1, 1, 0))
    assert BLOCK + 1 not in store.replicas and f"blocks/{BLOCK + 1:016x}.blk" not in disk.files


@pytest.mark.parametrize(("stamp", "harmed"), [(2, None), (1, 3), (1, 700)])
def test_a_replica_is_replaced_in_its_own_room(stamp: int, harmed: int | None) -> None:
    """A later stamp, or a damaged replica that the others repair: the old one gives up its bytes, so the disk may be full."""
    disk = MemoryDisk(capacity=100_000)
    store = opened(disk)
    asyncio.run(written(store, b"x" * 10_240))
    disk.files["trace"] = bytearray(disk.free() - store.reserve)
    if harmed is not None:
        disk.files[f"blocks/{BLOCK:016x}.blk"][harmed] ^= 1
        store = opened(disk)
        if not store.replicas[BLOCK].damaged:
            with pytest.raises(BlockDamaged):
                whole(store)
    assert store.room() == 0
    asyncio.run(written(store, b"y" * 9_728, stamp=stamp))
    assert store.replicas[BLOCK].stamp == stamp and whole(store) == b"y" * 9_728


def test_a_replica_stays_where_nothing_could_take_its_place() -> None:
    disk = MemoryDisk(capacity=100_000)
    store = opened(disk)
    asyncio.run(written(store, b"x" * 512))
    disk.files["trace"] = bytearray(disk.free())
    with pytest.raises(OSError, match="no room"):
        asyncio.run(store.begin(BLOCK, 2, 0))
    assert whole(store) == b"x" * 512


def test_a_large_disk_keeps_a_gigabyte() -> None:
    assert opened(MemoryDisk(capacity=1 << 43)).reserve == 1 << 30
