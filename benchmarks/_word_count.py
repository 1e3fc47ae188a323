"""The tasks of a word count, run by workers of Dask: each is a client of our file system in its own process (CFS §5.7)."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from zlib import crc32

import msgspec

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.config import ClusterConfig
from nodes.real.process import client_world
from nodes.wire.keys import Keys

PART = 1 << 16
VOCABULARY = 2_000
COMMON = 20.0
"""The smaller, the more often the common words come."""
_encode, _decode = msgspec.json.encode, msgspec.json.Decoder(dict[str, int]).decode


class JobFileSystem(msgspec.Struct, frozen=True):
    """The file system of a job."""

    config: ClusterConfig
    keys: Keys
    peers: dict[str, str]


def text_of(number: int, size: int) -> bytes:
    """The input file with this number; the same in every process."""
    rng, words, length = random.Random(number), list[str](), 0
    while length < size:
        word = f"word{int(VOCABULARY * rng.random() ** COMMON**0.5)}"
        words.append(word)
        length += len(word) + 1
    return " ".join(words).encode()


def counts_of(data: bytes) -> Counter[str]:
    return Counter(data.decode().split())


def make_input(place: JobFileSystem, number: int, size: int) -> None:
    _with_files(place, f"input{number}", lambda files: _put(files, _input(number), text_of(number, size)))


def map_one(place: JobFileSystem, number: int, reducers: int) -> int:
    """Counts the words of one input file; writes one file for each reducer. Returns the task's number."""

    async def work(files: FileClient) -> None:
        shares: list[Counter[str]] = [Counter() for _ in range(reducers)]
        for word, count in counts_of(await _get(files, _input(number))).items():
            shares[crc32(word.encode()) % reducers][word] = count
        for reducer, share in enumerate(shares):
            await _put(files, _between(number, reducer), _encode(share))

    _with_files(place, f"map{number}", work)
    return number


def reduce_one(place: JobFileSystem, reducer: int, maps: int) -> int:
    """Adds what all map tasks wrote for this reducer; writes the result. Returns the task's number."""

    async def work(files: FileClient) -> None:
        whole: Counter[str] = Counter()
        for number in range(maps):
            whole.update(_decode(await _get(files, _between(number, reducer))))
        await _put(files, _result(reducer), _encode(whole))

    _with_files(place, f"reduce{reducer}", work)
    return reducer


def results(place: JobFileSystem, reducers: int) -> Counter[str]:
    """The counts that the reducers wrote."""
    whole: Counter[str] = Counter()

    async def work(files: FileClient) -> None:
        for reducer in range(reducers):
            whole.update(_decode(await _get(files, _result(reducer))))

    _with_files(place, "results", work)
    return whole


def _input(number: int) -> str:
    return f"/input-{number}"


def _between(number: int, reducer: int) -> str:
    return f"/map-{number}-{reducer}"


def _result(reducer: int) -> str:
    return f"/result-{reducer}"


def _with_files(place: JobFileSystem, name: str, work: Callable[[FileClient], Awaitable[None]]) -> None:
    """Runs a procedure of one client in a loop of its own. Raises FsError."""
    asyncio.run(_run(place, name, work))


async def _run(place: JobFileSystem, name: str, work: Callable[[FileClient], Awaitable[None]]) -> None:
    world = client_world(name, place.config.cluster, place.keys, place.peers)
    smart = SmartClient(world, place.config, f"{name}.{secrets.token_hex(5)}")
    try:
        await work(FileClient(world, place.config, smart))
        await smart.close()
    finally:
        world.network.close()
        world.scope.close()


async def _put(files: FileClient, path: str, data: bytes) -> None:
    await files.put(path, _parts(data))


async def _parts(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), PART):
        yield data[start : start + PART]


async def _get(files: FileClient, path: str) -> bytes:
    return b"".join([part async for part in files.get(path)])
