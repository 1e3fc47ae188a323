"""The inputs of another run that a cluster repeats."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from backend.errors import Unavailable
from backend.simulated.inputs import Input, LoggedInput, read_log
from backend.simulated.messages import CreateCluster


class PastInputs:
    """They are taken in the order of the log, each at its instant; after the last one the cluster runs to the end of the past."""

    def __init__(self, entries: Iterable[LoggedInput], until_ns: int):
        self._entries = deque(each for each in entries if each.at_ns <= until_ns)
        self._until_ns = until_ns

    @classmethod
    def of(cls, request: CreateCluster) -> PastInputs:
        """Reads the log, whose run may go on. Raises Unavailable."""
        assert request.past is not None
        try:
            origin, entries = read_log(Path(request.past.log))
        except (OSError, ValueError) as error:
            raise Unavailable(f"the run cannot be repeated: {error}") from None
        if origin != request.origin:
            raise Unavailable("the run cannot be repeated: it began otherwise")
        return cls(entries, request.past.until_ns)

    @property
    def due_ns(self) -> int:
        """The instant to reach next."""
        return self._entries[0].at_ns if self._entries else self._until_ns

    @property
    def is_over(self) -> bool:
        """Whether no input is left."""
        return not self._entries

    def take(self) -> Input:
        return self._entries.popleft().input
