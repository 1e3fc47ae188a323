"""Announcements of one object to others, which may come and go while it lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVarTuple

Arguments = TypeVarTuple("Arguments")


class Listeners(Generic[*Arguments]):
    """A call runs the step of every listener, in the order in which they subscribed. True while there are any."""

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps: tuple[Callable[[*Arguments], object], ...] = ()

    def __bool__(self) -> bool:
        return bool(self._steps)

    def __call__(self, *reported: *Arguments) -> None:
        for step in self._steps:
            step(*reported)

    def subscribe(self, step: Callable[[*Arguments], object]) -> None:
        self._steps = (*self._steps, step)

    def unsubscribe(self, step: Callable[[*Arguments], object]) -> None:
        self._steps = tuple(each for each in self._steps if each != step)
