"""Checks that run calls on a model. After a global recovery they continue from the model at the barrier (CFS §4.3)."""

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
"""Number of checkpoints whose model is kept; a recovery to an older one cannot be followed."""

COPIED_MAX = 100_000
"""Largest number of files and directories that are copied: the events of a live cluster wait for the copy."""

NAMES_MAX = 4_000_000
"""Number of names beyond which a check gives up: a model of them takes some two gigabytes."""
TOO_MANY_NAMES = f"the namespace has more than {NAMES_MAX:,} names"

Step = Callable[[Stamped, Any], None]
Base = Callable[[], Model | None]
"""The model at a barrier, once everything before it has been carried out."""


class Based(Check):
    """A check on a model. `base` is None for the first incarnation that is checked; events wait until it returns a model."""

    def __init__(self, base: Base | None) -> None:
        super().__init__()
        self._base = base
        self._buffer: list[tuple[Step, Stamped]] = []
        self._model = Model()
        self.has_checkpoint = False
        """Whether another incarnation can begin from one of this one's barriers."""

    def after_base(self, steps: dict[type[Event], Step]) -> dict[type[Event], Step]:
        """The same steps, which wait for the base if there is one."""
        if self._base is None:
            return steps
        return {kind: partial(self._take, step) for kind, step in steps.items()}

    def _take(self, step: Step, stamped: Stamped, event: Event) -> None:
        if self._base is None:
            step(stamped, event)
        elif not self.unable:
            self._buffer.append((step, stamped))
            if len(self._buffer) > BUFFERED_MAX:
                self.unable = "cannot go on: calls before the barrier were never reported"

    @property
    def waits(self) -> bool:
        """Whether the base has not returned its model yet."""
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
