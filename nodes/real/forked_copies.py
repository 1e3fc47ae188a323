"""Copies of this process, made by fork, that each make a share of some pieces out of the memory as it was at that instant.

The first copy makes the others: this process stands still for one fork, however many shares there are. A copy keeps no descriptor but the end of
its pipe, so that no lock, port or connection lives on through it, and never returns to the event loop. It ends with this process: each piece is
made only while the parent is there, a pipe that is not read any more breaks, and Linux sends a signal. When memory runs out, Linux ends a copy first.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import fcntl
import gc
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from struct import Struct
from typing import NoReturn

from nodes.real.memory import room_for_copies
from nodes.trace.present import UNKNOWN, causal
from nodes.world import CopyLost, Piece, Share

FRAME = Struct("<iI")
"""Number of a piece, or one of the two below, and the length of what follows."""
END = -1
FAILED = -2
"""A reason follows."""
READ_BYTES = 1 << 18
PIPE_BYTES = 1 << 20
REAP_S = 0.01
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


class ForkedShares:
    """`Shares` of nodes/world.py."""

    def __init__(self, share: Share, most: int):
        """Begins at most `most` copies. Raises OSError."""
        self._loop = asyncio.get_running_loop()
        self._pipes: deque[PieceReader] = deque()
        parent, writers = os.getpid(), list[int]()
        count = room_for_copies(min(most, cores()))
        if count < 1:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        try:
            for _ in range(count):
                reader, writer = os.pipe()
                self._pipes.append(PieceReader(reader, self._loop))
                writers.append(writer)
                widen(writer)
            self._group = forked()
            if not self._group:
                be_first_copy(parent, writers, share)
        except OSError:
            for pipe in self._pipes:
                pipe.close()
            raise
        finally:
            for writer in writers:
                os.close(writer)
        with contextlib.suppress(OSError):
            os.setpgid(self._group, self._group)

    async def next(self) -> Piece | None:
        while self._pipes:
            pipe = self._pipes[0]
            piece = await pipe.next()
            if piece is not None:
                self._pipes.rotate(-1)
                return piece
            self._pipes.popleft().close()
        return None

    def close(self) -> None:
        while self._pipes:
            self._pipes.popleft().close()
        with contextlib.suppress(OSError):
            os.killpg(self._group, signal.SIGKILL)
        self._reap()

    def _reap(self) -> None:
        """Takes note of the copies' ends without waiting: the memory of a large one takes a while to be given back."""
        try:
            while os.waitpid(-self._group, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        self._loop.call_later(REAP_S, self._reap)


class PieceReader:
    """The pipe of one copy."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop):
        self._fd = fd
        self._loop = loop
        self._causal = causal(loop)
        self._buffer = bytearray()
        os.set_blocking(fd, False)

    async def next(self) -> Piece | None:
        """None when the share is complete. Raises CopyLost."""
        number, length = FRAME.unpack(await self._take(FRAME.size))
        data = await self._take(length)
        if number == FAILED:
            raise CopyLost(f"a copy of this process failed: {data.decode(errors='replace')}")
        return None if number == END else (number, data)

    async def _take(self, size: int) -> bytes:
        buffer = self._buffer
        while len(buffer) < size:
            try:
                data = os.read(self._fd, READ_BYTES)
            except BlockingIOError:
                await self._readable()
                continue
            if not data:
                raise CopyLost("a copy of this process ended before its share was complete")
            buffer += data
        taken = bytes(buffer[:size])
        del buffer[:size]
        return taken

    async def _readable(self) -> None:
        readable, asked = asyncio.Event(), self._causal.cause

        def wake() -> None:
            """The reader continues with the cause that it had: a pipe has none."""
            self._causal.cause = asked
            readable.set()
            self._causal.cause = UNKNOWN

        self._loop.add_reader(self._fd, wake)
        try:
            await readable.wait()
        finally:
            self._loop.remove_reader(self._fd)

    def close(self) -> None:
        os.close(self._fd)


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def widen(pipe: int) -> None:
    """Lets a copy be further ahead of its reader, where that is possible."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def forked() -> int:
    """`os.fork`. The signals that end a server stay blocked in the copy until it handles them no more as this process does."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    child = -1
    try:
        with warnings.catch_warnings():
            # Python warns of other threads, whose locks a copy would never get. It takes none.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        return child
    finally:
        if child:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in the copies -----------------------------------------------------------------------------------------------------


def be_first_copy(parent: int, writers: list[int], share: Share) -> NoReturn:
    """Makes the other copies, and the first share; stays until the others have ended. The share of a copy that is refused is made here."""
    try:
        gc.disable()
        os.setpgid(0, 0)
        become_copy(parent, writers)
        here, count, own = os.getpid(), len(writers), {0: writers[0]}
        for number, writer in enumerate(writers[1:], 1):
            try:
                other = os.fork()
            except OSError:
                own[number] = writer
                continue
            if not other:
                become_copy(here, [writer])
                send_shares(here, {number: writer}, share, count)
                os._exit(0)
            os.close(writer)
        send_shares(parent, own, share, count)
        for writer in own.values():
            os.close(writer)
        while True:
            os.wait()
    finally:
        os._exit(0)


def become_copy(parent: int, kept: list[int]) -> None:
    """Gives up everything that belongs to the copied process."""
    signal.set_wakeup_fd(-1)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    for fd in map(int, os.listdir("/dev/fd")):
        if fd > 2 and fd not in kept:
            with contextlib.suppress(OSError):  # The listing's own descriptor is closed already.
                os.close(fd)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    if os.getppid() != parent:
        os._exit(1)


def send_shares(parent: int, writers: dict[int, int], share: Share, count: int) -> None:
    """Writes shares into their pipes, by their numbers: a piece of each in turn, as they are read. Else both sides could wait for the other."""
    turns = deque(
        (writer, frames(parent, share, number, count)) for number, writer in sorted(writers.items())
    )
    while turns:
        writer, left = turns.popleft()
        frame = next(left, None)
        if frame is not None:
            write(writer, *frame)
            turns.append((writer, left))


def frames(parent: int, share: Share, number: int, count: int) -> Iterator[Piece]:
    """The pieces of one share, while the parent lives, and how it ended."""
    try:
        for place, data in share(number, count):
            if os.getppid() != parent:
                os._exit(1)
            if data:
                yield place, data
        yield END, b""
    except Exception as error:
        yield FAILED, f"{type(error).__name__}: {error}".encode()[:1000]


def write(fd: int, number: int, data: bytes) -> None:
    view = memoryview(FRAME.pack(number, len(data)) + data)
    while view:
        view = view[os.write(fd, view) :]
