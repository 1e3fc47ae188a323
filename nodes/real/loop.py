"""The event loop of a process: asyncio's, which also holds the present cause and passes it on to every callback and timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

from nodes.trace.present import UNKNOWN, Cause

try:
    from uvloop import Loop as FastLoop
except ImportError:
    FastLoop = asyncio.SelectorEventLoop  # type: ignore[assignment,misc]

_soon = FastLoop.call_soon
_later = FastLoop.call_later


class CausalLoop(FastLoop):
    """Clears the cause after every callback, even one that began without a cause and emitted an event. Code outside its callbacks (from a socket
    or another thread) has no cause until it sets one.

    A task that waits for a future continues with the cause of the code that resolved it, because that code calls `call_soon`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cause = self.began = UNKNOWN

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        return _soon(self, self._resume, self.cause, callback, args, context=context)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return _later(self, delay, self._resume, self.began, callback, args, context=context)

    def call_soon_without_cause(self, callback: Callable[..., object]) -> asyncio.Handle:
        """asyncio's `call_soon`, for a callback that emits no event and sends no message."""
        return _soon(self, callback)

    def _resume(self, cause: Cause, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.cause = self.began = cause
        try:
            callback(*args)
        finally:
            self.cause = self.began = UNKNOWN
