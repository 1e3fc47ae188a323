"""Ordered scopes: tasks, timers and clean-up steps of a role end with it, last first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Scope:
    """Tasks, timers and clean-up steps that end together.

    After each await a procedure is inside its open scope or is already cancelled: closing cancels every task before any of them can run again.
    """

    def __init__(
        self, name: str, parent: Scope | None = None, on_error: Callable[[BaseException], None] | None = None
    ):
        self.name = name
        self.open = True
        self._parent = parent
        self._on_error: Callable[[BaseException], None] | None = on_error or (
            parent._on_error if parent else None
        )
        self._members: dict[int, Callable[[], None]] = {}
        self._next = 0
        self._place_in_parent = parent._add(self.close) if parent else None

    def _add(self, end: Callable[[], None]) -> int:
        assert self.open, f"scope {self.name} is closed"
        self._next += 1
        self._members[self._next] = end
        return self._next

    def spawn(self, procedure: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Runs a procedure until it ends or the scope closes; its error goes to the scope's `on_error`."""
        if not self.open:
            procedure.close()
            raise RuntimeError(f"scope {self.name} is closed")
        task = asyncio.get_running_loop().create_task(procedure, name=name)
        place = self._add(task.cancel)  # type: ignore[arg-type]
        task.add_done_callback(lambda done: self._ended(place, done))
        return task

    def _ended(self, place: int, task: asyncio.Task[Any]) -> None:
        self._members.pop(place, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            if self._on_error is None:
                raise error
            self._on_error(error)

    @property
    def busy(self) -> bool:
        """Whether any task, timer or step in it has yet to end."""
        return bool(self._members)

    def child(self, name: str) -> Scope:
        return Scope(name, self)

    def at_end(self, step: Callable[[], None]) -> None:
        self._add(step)

    def close(self) -> None:
        if not self.open:
            return
        self.open = False
        if self._parent is not None and self._place_in_parent is not None:
            self._parent._members.pop(self._place_in_parent, None)
        for place in sorted(self._members, reverse=True):
            end = self._members.pop(place, None)
            if end is not None:
                end()


class Tenure(Scope):
    """The scope of one role in one epoch (design: a role is a tenure)."""

    def __init__(self, role: str, epoch: int, parent: Scope):
        super().__init__(f"{role} of epoch {epoch}", parent)
        self.role = role
        self.epoch = epoch
