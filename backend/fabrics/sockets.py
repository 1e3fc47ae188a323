"""Queries to a process over its Unix control socket: one JSON line as request, one as response. Link faults do not affect it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import Unavailable

LINE_BYTES = 32 * 1024 * 1024


async def ask(socket: Path, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
    """Raises Unavailable with the process's one line when it refuses, or does not run or answer in time."""
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_unix_connection(str(socket), limit=LINE_BYTES)
            try:
                writer.write(msgspec.json.encode(question) + b"\n")
                line = await reader.readline()
            finally:
                writer.close()
        answer = msgspec.json.decode(line, type=dict[str, Any])
    except TimeoutError:
        raise Unavailable(f"{socket.stem} does not answer within {timeout_s:g} s") from None
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        raise Unavailable(f"{socket.stem} does not answer: {str(error) or type(error).__name__}") from None
    if answer.get("ok") is False:
        raise Unavailable(f"{socket.stem}: {answer.get('error', 'refused')}")
    return answer


async def follow(socket: Path, question: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Yields each JSON line of a stream until it ends; raises OSError when no process listens."""
    reader, writer = await asyncio.open_unix_connection(str(socket), limit=LINE_BYTES)
    try:
        writer.write(msgspec.json.encode(question) + b"\n")
        while line := await reader.readline():
            with contextlib.suppress(msgspec.DecodeError):
                yield msgspec.json.decode(line, type=dict[str, Any])
    finally:
        writer.close()
