"""The embedded coordination server as a process: sockets, expiry, a graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
from pathlib import Path
from typing import Any

import msgspec

from nodes import log_lines
from nodes.coordination.clocks import monotonic_ms, wall_ms
from nodes.coordination.connection import ClientConnection
from nodes.coordination.control import LINE_BYTES, EnsembleControl
from nodes.coordination.log import LogRefused, TransactionLog
from nodes.coordination.service import ZooKeeperService
from nodes.coordination.tree import ZnodeTree


class CannotServe(Exception):
    """The server cannot start or continue; one line gives the reason."""


class EnsembleSettings(msgspec.Struct, frozen=True):
    host: str
    port: int
    data: Path
    tick_ms: int
    """Sessions end at most this time after their time-out."""
    max_timeout_ms: int
    control: Path | None
    rotate_bytes: int
    owner: str
    """Identity of scheme digest to which the root belongs; empty when it is everybody's."""


def _own(directory: Path) -> int:
    """A lock on the data directory for the life of the process."""
    directory.mkdir(parents=True, exist_ok=True)
    fd = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CannotServe(f"{directory} is in use by another coordination server") from None
    return fd


def _restored(settings: EnsembleSettings, log: TransactionLog) -> ZnodeTree:
    tree = ZnodeTree(
        settings.tick_ms, 2 * settings.tick_ms, settings.max_timeout_ms, first_session=wall_ms() << 8
    )
    log.open(tree, monotonic_ms())
    if log.cut_bytes:
        log_lines.log("warning", "coordination", f"cut a torn tail of {log.cut_bytes} bytes from the log")
    return tree


def _quiet(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignores a control connection that is cut at the end: asyncio of Python 3.11 reports it as an error."""
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


async def serve(settings: EnsembleSettings) -> None:
    """Runs until SIGTERM or SIGINT. Raises CannotServe."""
    try:
        _own(settings.data)
        log = TransactionLog(settings.data, settings.rotate_bytes)
        tree = _restored(settings, log)
    except (LogRefused, OSError) as error:
        raise CannotServe(str(error)) from None
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_quiet)
    ended: asyncio.Future[None] = loop.create_future()

    def end(error: OSError | None = None) -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(None)
        else:
            reason = f"{settings.data} takes no more changes: {error.strerror or error}"
            ended.set_exception(
                CannotServe(f"{reason}; what was answered is in the log, restart goes on from there")
            )

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    service = ZooKeeperService(tree, log, end, settings.owner)
    async with contextlib.AsyncExitStack() as stack:
        port = await _listen(settings, service, stack)
        expiring = loop.create_task(_expire(service, settings.tick_ms), name="expiry")
        stack.callback(expiring.cancel)
        print(msgspec.json.encode({"ready": True, "port": port, "pid": os.getpid()}).decode(), flush=True)
        await ended
        await service.commits.settled()
        for line in list(service.lines.values()):
            line.close()
    await service.commits.ended()
    log.close()


async def _listen(
    settings: EnsembleSettings, service: ZooKeeperService, stack: contextlib.AsyncExitStack
) -> int:
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(lambda: ClientConnection(service), settings.host, settings.port)
        stack.callback(server.close)
        if settings.control is not None:
            settings.control.unlink(missing_ok=True)
            control = await asyncio.start_unix_server(
                EnsembleControl(service).serve, str(settings.control), limit=LINE_BYTES
            )
            stack.callback(settings.control.unlink, missing_ok=True)
            stack.callback(control.close)
            settings.control.chmod(0o600)
    except OSError as error:
        raise CannotServe(f"cannot listen: {error.strerror or error}") from None
    port: int = server.sockets[0].getsockname()[1]
    return port


async def _expire(service: ZooKeeperService, tick_ms: int) -> None:
    """Expires sessions, with two checks per tick. After a stop of the process every time-out restarts, as after a restart of the server."""
    before_ms = monotonic_ms()
    while True:
        await asyncio.sleep(tick_ms / 2000)
        now_ms = monotonic_ms()
        if now_ms - before_ms > 10 * tick_ms:
            service.tree.sessions.touch_all(now_ms)
        before_ms = now_ms
        service.expire_due()
