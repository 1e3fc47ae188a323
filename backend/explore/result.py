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
    log_sha256: dict[str, str] = {}
    """Hash of the event log of each file's trial, by which a run on another machine is compared."""

    def commands(self) -> list[str]:
        """The commands that repeat the failures."""
        where = "" if self.on == "simulated" else f" --on {self.on}"
        logs = {path: self.log_sha256.get(str(path)) for path in self.files}
        return [
            f"./cloverlab run {path}{where}" + (f"  # event log SHA-256 {log}" if log else "")
            for path, log in logs.items()
        ]

    def document(self) -> dict[str, Any]:
        return {
            "failed": self.failed,
            "files": [str(path) for path in self.files],
            "log_sha256": self.log_sha256,
            **self.figures,
        }


def of_trials(
    failed: bool, found: list[tuple[Path, str]], on: str = "simulated", figures: dict[str, Any] | None = None
) -> Result:
    """The result with these files and the hashes of their event logs, empty where no run repeats another."""
    logs = {str(path): log for path, log in found if log}
    return Result(failed, [path for path, _ in found], on, figures or {}, logs)
