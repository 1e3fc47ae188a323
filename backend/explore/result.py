"""What a search or a shrinking has found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec


class Result(msgspec.Struct, frozen=True):
    failed: bool
    files: list[Path]
    """A scenario for each kind of failure."""
    on: str = "simulated"
    """The fabric on which the files fail."""
    figures: dict[str, Any] = {}
    """Counts of the search."""

    def commands(self) -> list[str]:
        """The commands that repeat the failures."""
        where = "" if self.on == "simulated" else f" --on {self.on}"
        return [f"./cloverlab run {path}{where}" for path in self.files]

    def document(self) -> dict[str, Any]:
        return {"failed": self.failed, "files": [str(path) for path in self.files], **self.figures}
