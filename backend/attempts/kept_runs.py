"""The runs of attempts outside of classes, in one file of the data directory, so that they go on after a new start of the control plane."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backend.attempts.attempt import AttemptRun
from backend.errors import ClusterCannotStart, Unavailable, reason_of
from nodes.real.private_files import own_file, replace_file

FILE = "attempts.json"


class KeptRuns:
    """Changes are on the disk when a method returns."""

    def __init__(self, data: Path):
        """Raises ClusterCannotStart for a file that cannot be read: no attempts are thrown away unasked."""
        self._path = data / FILE
        self._runs: dict[str, AttemptRun] = {}
        try:
            self._runs = msgspec.json.decode(own_file(self._path), type=dict[str, AttemptRun])
        except FileNotFoundError:
            pass
        except OSError as error:
            raise ClusterCannotStart(f"cannot read {self._path}: {reason_of(error)}") from None
        except msgspec.DecodeError as error:
            raise ClusterCannotStart(
                f"{self._path} is damaged ({error}): repair it or move it away"
            ) from None

    @property
    def all(self) -> Mapping[str, AttemptRun]:
        """By the name of the attempt."""
        return self._runs

    def keep(self, name: str, run: AttemptRun) -> None:
        """Raises Unavailable."""
        self._write({**self._runs, name: run})

    def drop(self, name: str) -> None:
        """Raises Unavailable."""
        if name in self._runs:
            self._write({other: run for other, run in self._runs.items() if other != name})

    def rename(self, old: str, new: str) -> None:
        """Raises Unavailable."""
        self._write({new if name == old else name: run for name, run in self._runs.items()})

    def _write(self, runs: dict[str, AttemptRun]) -> None:
        if runs == self._runs:
            return
        try:
            replace_file(self._path, msgspec.json.format(msgspec.json.encode(runs)) + b"\n")
        except OSError as error:
            raise Unavailable(f"the attempt cannot be kept: {reason_of(error)}") from None
        self._runs = runs
