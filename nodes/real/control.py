"""The Unix control socket of a process: one JSON line asks, one JSON line answers. No link rule touches it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

LINE_MAX = 1 << 20
Step = Callable[[dict[str, Any]], Any]


class BadQuestion(Exception):
    """A question that cannot be answered; one line gives the reason."""


class Control:
    """Answers by the tables of its steps; a step may be a coroutine function."""

    def __init__(self) -> None:
        self._steps: dict[str, Step] = {}
        self._server: asyncio.Server | None = None

    def answer(self, name: str, step: Step) -> None:
        """`step(question)` gives the fields of the answer to {"do": name}."""
        self._steps[name] = step

    async def listen(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, str(path), limit=LINE_MAX)
        path.chmod(0o600)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(msgspec.json.encode(await self._reply(line)) + b"\n")
                await writer.drain()
        except (ValueError, ConnectionError, asyncio.LimitOverrunError):
            pass
        except asyncio.CancelledError:
            """The process ends while a caller is connected. Streams of Python 3.11 log a traceback for a cancelled connection."""
        finally:
            writer.close()

    async def _reply(self, line: bytes) -> dict[str, Any]:
        try:
            question = msgspec.json.decode(line, type=dict[str, Any])
            step = self._steps.get(str(question.get("do")))
            if step is None:
                raise BadQuestion(f"{question.get('do')!r} is not one of {', '.join(sorted(self._steps))}")
            answered = step(question)
            if isinstance(answered, Awaitable):
                answered = await answered
        except (msgspec.DecodeError, msgspec.ValidationError, BadQuestion, KeyError, OSError) as error:
            return {
                "ok": False,
                "error": f"{error}" if not isinstance(error, KeyError) else f"{error} is missing",
            }
        return {"ok": True, **(answered or {})}
