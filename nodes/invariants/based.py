"""Checks that carry calls out on a model: after a global recovery they go on from the model as it was at the barrier (CFS §4.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nodes.invariants.checker import Check
from nodes.invariants.model import Model
from nodes.trace.base import Event
from nodes.trace.events import Stamped

BUFFERED_MAX = 200_000
CHECKPOINTS_KEPT = 16
"""Of so many the model is kept; a recovery to an older one cannot be followed."""

COPIED_MAX = 100_000
"""Files and directories of which a copy is kept: it is made while the events of a live cluster wait."""

Step = Callable[[Stamped, Any], None]
Base = Callable[[], Model | None]
"""The model as of a barrier, once everything before it has been carried out."""


class Based(Check):
    """`base` is None for the first incarnation that is checked; until it gives a model, events wait."""

    def __init__(self, base: Base | None) -> None:
        super().__init__()
        self._base = base
        self._buffer: list[tuple[Step, Stamped]] = []
        self._model = Model()

    def after_base(self, steps: dict[type[Event], Step]) -> dict[type[Event], Step]:
        """The same steps, or ones that wait for the base."""
        if self._base is None:
            return steps
        return {kind: partial(self._take, step) for kind, step in steps.items()}

    def _take(self, step: Step, stamped: Stamped, event: Event) -> None:
        if self._base is None:
            step(stamped, event)
        elif not self.unable:
            self._buffer.append((step, stamped))
            if len(self._buffer) > BUFFERED_MAX:
                self.unable = "cannot go on: calls before the barrier were never told of"

    @property
    def waits(self) -> bool:
        """Whether the model to begin from is still to be given."""
        return self._base is not None

    def look_for_base(self) -> None:
        """Called about once in a second of the events' time, and at the end."""
        model = None if self._base is None else self._base()
        if model is None:
            return
        self._base, self._model = None, model
        buffer, self._buffer = self._buffer, []
        for step, stamped in buffer:
            step(stamped, stamped.event)

    def finish(self) -> None:
        self.look_for_base()
        if self._base is not None and self._buffer and not self.unable:
            self.unable = "cannot go on: the state at the barrier is not known"
