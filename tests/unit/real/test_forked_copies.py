"""Copies of a process: they have its memory of one instant, keep nothing else of it, and end with it."""

from __future__ import annotations

import asyncio
import atexit
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nodes.real import forked_copies
from nodes.real.forked_copies import ForkedShares
from nodes.real.loop import CausalLoop
from nodes.real.memory import room_for_copies
from nodes.real.process import CannotStart, client_world, hold
from nodes.wire.keys import keys_of
from nodes.world import CopyLost, Piece, Shares

KEYS = keys_of(b"t" * 32, serves=False)
WAIT_S = 20


@pytest.fixture(autouse=True)
def three_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked_copies, "cores", lambda: 3)


async def all_of(shares: Shares) -> list[Piece]:
    found = []
    try:
        while (piece := await asyncio.wait_for(shares.next(), WAIT_S)) is not None:
            found.append(piece)
    finally:
        shares.close()
    return found


def endless(number: int, count: int) -> Iterator[Piece]:
    while True:
        yield number, bytes(10_000)


def members(group: int) -> list[int]:
    """The living processes of a process group; zombies are dead."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pgid=,pid=,stat="], capture_output=True, text=True, check=True
    )
    lines = (line.split() for line in listed.stdout.splitlines())
    return [int(pid) for of, pid, state in lines if int(of) == group and not state.startswith("Z")]


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


async def reaped(group: int) -> None:
    """Waits until no copy lives, and this process has taken note of the first one's end; the others belong to it."""
    async with asyncio.timeout(WAIT_S):
        while members(group):
            await asyncio.sleep(0.01)
        while True:
            try:
                os.kill(group, 0)
            except ProcessLookupError:
                return
            await asyncio.sleep(0.01)


def test_each_copy_makes_its_share_of_the_memory_as_it_was() -> None:
    async def play() -> None:
        values = list(range(30))

        def share(number: int, count: int) -> Iterator[Piece]:
            time.sleep(0.1)
            yield from ((value, b"%d" % (value * value) * 9_000) for value in values[number::count])

        shares = ForkedShares(share, 8)
        values.clear()
        found = await all_of(shares)
        assert sorted(found) == [(value, b"%d" % (value * value) * 9_000) for value in range(30)]
        first = [value for value, _ in found if value % 3 == 0]
        assert first == sorted(first), "the pieces of one share come in their order"
        await reaped(shares._group)

    asyncio.run(play())


def test_a_copy_runs_no_step_of_the_processs_end(tmp_path: Path) -> None:
    async def play() -> None:
        assert await all_of(ForkedShares(lambda number, count: iter([(number, b"x")]), 2)) == [
            (0, b"x"),
            (1, b"x"),
        ]

    def leave() -> None:
        (tmp_path / "left").touch()

    atexit.register(leave)
    try:
        asyncio.run(play())
    finally:
        atexit.unregister(leave)
    assert not (tmp_path / "left").exists()


@pytest.mark.parametrize("which", [0, 1, -1])
def test_a_copy_that_is_killed_loses_the_shares(which: int) -> None:
    async def play() -> None:
        shares = ForkedShares(endless, 3)
        group = shares._group
        assert await shares.next() is not None
        until(lambda: len(members(group)) == 3)
        os.kill(sorted(members(group))[which], signal.SIGKILL)
        with pytest.raises(CopyLost, match="ended before its share was complete"):
            async with asyncio.timeout(WAIT_S):
                await all_of(shares)
        await reaped(group)

    asyncio.run(play())


def test_a_share_that_fails_says_why() -> None:
    def share(number: int, count: int) -> Iterator[Piece]:
        yield number, b"x"
        raise ValueError("no such row")

    async def play() -> None:
        with pytest.raises(CopyLost, match="ValueError: no such row"):
            await all_of(ForkedShares(share, 2))

    asyncio.run(play())


PARENT = """
import asyncio, sys, time
from nodes.real import forked_copies

forked_copies.cores = lambda: 3
def writes(number, count):
    while True:
        yield number, bytes(10_000)
def computes(number, count):
    while True:
        time.sleep(0.01)
        yield number, b""
async def play():
    shares = forked_copies.ForkedShares(globals()[sys.argv[1]], 3)
    print(shares._group, flush=True)
    await asyncio.sleep(60)
asyncio.run(play())
"""


@pytest.mark.parametrize("share", ["writes", "computes"])
@pytest.mark.parametrize("signals", [True, False])
def test_copies_end_with_their_parent(share: str, signals: bool) -> None:
    """Where Linux's signal does not come, too: the parent's number has changed, or the pipe is broken."""
    source = PARENT if signals else PARENT.replace("def writes", "forked_copies._prctl = None\ndef writes", 1)
    command = [sys.executable, "-c", source, share]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        until(lambda: len(members(group)) == 3)
        parent.kill()
        parent.wait()
        assert parent.stdout.read() == "", "no copy holds the parent's output"
    until(lambda: not members(group))


def test_copies_hold_no_lock_port_or_output_of_the_process(tmp_path: Path) -> None:
    async def play() -> None:
        lock, listening = hold(tmp_path), socket.create_server(("127.0.0.1", 0))
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        port = listening.getsockname()[1]
        shares = ForkedShares(endless, 3)
        try:
            for _ in range(6):
                assert await shares.next() is not None  # Every copy is at its share.
            with pytest.raises(CannotStart):
                hold(tmp_path)
            os.close(lock)
            listening.close()
            os.close(writer)
            assert os.read(reader, 1) == b"", "the pipe has another writer"
            os.close(hold(tmp_path))
            with socket.socket() as other, pytest.raises(ConnectionRefusedError):
                other.connect(("127.0.0.1", port))
            assert len(members(shares._group)) == 3
        finally:
            shares.close()
        await reaped(shares._group)

    asyncio.run(play())


def test_signals_to_a_copy_do_not_reach_the_process() -> None:
    async def play() -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        shares = ForkedShares(endless, 3)
        for _ in range(6):
            assert await shares.next() is not None
        os.killpg(shares._group, signal.SIGTERM)
        with pytest.raises(CopyLost):
            async with asyncio.timeout(WAIT_S):
                await all_of(shares)
        await reaped(shares._group)
        assert not ended.is_set()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(ended.wait(), WAIT_S)  # The process itself handles it as before.

    asyncio.run(play())


def test_it_waits_for_pieces_without_holding_up_others_and_ends_when_it_is_cancelled() -> None:
    def slow(number: int, count: int) -> Iterator[Piece]:
        yield number, b"x"
        time.sleep(30)

    async def play() -> None:
        shares = ForkedShares(slow, 3)
        waiting, turns = asyncio.ensure_future(all_of(shares)), 0
        for _ in range(20):
            await asyncio.sleep(0.01)
            turns += 1
        assert turns == 20 and not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await reaped(shares._group)

    asyncio.run(play())


def test_other_threads_are_no_obstacle() -> None:
    async def play() -> None:
        stop = threading.Event()
        busy = threading.Thread(target=lambda: [bytes(100) for _ in iter(stop.is_set, True)])
        busy.start()
        try:
            for _ in range(5):
                assert len(await all_of(ForkedShares(lambda number, count: iter([(number, b"x")]), 3))) == 3
        finally:
            stop.set()
            busy.join()

    asyncio.run(play())


@pytest.mark.parametrize("granted", [1, 2])
def test_the_shares_of_refused_copies_are_made_by_the_first_one(
    granted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when they are of different lengths, and longer than a pipe holds."""
    fork, forks = os.fork, iter(range(3))

    def forked() -> int:
        if next(forks) >= granted:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return fork()

    def share(number: int, count: int) -> Iterator[Piece]:
        for place in range(5 * number + 1):
            yield number, b"%d" % place * 300_000
            yield number, b""

    monkeypatch.setattr(os, "fork", forked)

    async def play() -> None:
        found = await all_of(ForkedShares(share, 3))
        for number in range(3):
            made = [data for of, data in found if of == number]
            assert made == [data for _, data in share(number, 3) if data]

    asyncio.run(play())


def test_who_waits_for_pieces_goes_on_with_its_cause() -> None:
    def share(number: int, count: int) -> Iterator[Piece]:
        time.sleep(0.1)
        yield number, b"x"

    async def play() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, CausalLoop)
        loop.cause = loop.began = ("mds1", 5)
        shares = ForkedShares(share, 2)
        try:
            while await shares.next() is not None:
                assert loop.cause == ("mds1", 5)
            assert loop.cause == ("mds1", 5)
        finally:
            shares.close()

    with asyncio.Runner(loop_factory=CausalLoop) as runner:
        runner.run(play())


@pytest.mark.parametrize("why", ["fork", "room"])
def test_a_process_that_cannot_be_copied_says_so(
    why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> int:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    if why == "fork":
        monkeypatch.setattr(os, "fork", refuse)
    else:
        monkeypatch.setattr(forked_copies, "room_for_copies", lambda most: 0)
    emitted: list[Any] = []

    async def play() -> Shares | None:
        world = client_world("mds1", "clover", KEYS, {})
        monkeypatch.setattr(world.trace, "emit", emitted.append)
        before = len(os.listdir("/dev/fd"))
        try:
            return world.copies(endless, 8)
        finally:
            assert len(os.listdir("/dev/fd")) == before

    assert asyncio.run(play()) is None
    reason = "this process cannot be copied (Cannot allocate memory): it does the work alone"
    assert [event.what for event in emitted] == [reason]
    assert f"warning mds1: {reason}" in capsys.readouterr().err


def test_copies_take_half_of_the_free_memory(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 4096 kB\n")
    pages = (1 << 20) // os.sysconf("SC_PAGE_SIZE")
    (tmp_path / "statm").write_text(f"{9 * pages} {pages} 0 0 0 0 0\n")
    files = tmp_path, tmp_path / "meminfo", tmp_path / "statm"
    assert [room_for_copies(most, *files) for most in (1, 2, 8)] == [1, 2, 2]
    (tmp_path / "memory.max").write_text(f"{8 << 20}\n")
    (tmp_path / "memory.current").write_text(f"{6 << 20}\n")
    assert room_for_copies(8, *files) == 1
    (tmp_path / "memory.max").write_text(f"{7 << 20}\n")
    assert room_for_copies(8, *files) == 0
    (tmp_path / "memory.max").write_text("max\n")
    assert room_for_copies(8, *files) == 2
    assert room_for_copies(8, tmp_path, tmp_path / "meminfo", tmp_path / "none") == 8
