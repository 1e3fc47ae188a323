"""The files of the classes of a data directory: `classes/N.json`, of which the newest is the present one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from backend.classes.record import ClassRecord
from backend.errors import ClusterCannotStart, Unavailable, reason_of
from nodes.real.private_files import own_file, private_directory, remove_unfinished, replace_file

DIRECTORY = "classes"


class ClassStore:
    def __init__(self, data: Path):
        self._directory = data / DIRECTORY

    def newest(self) -> ClassRecord | None:
        """None before the first class. Raises ClusterCannotStart for a file that cannot be read: nobody's results are thrown away unasked."""
        numbers = [int(path.stem) for path in self._directory.glob("*.json") if path.stem.isdecimal()]
        if not numbers:
            return None
        path = self._path(max(numbers))
        try:
            remove_unfinished(self._directory)
            return msgspec.json.decode(own_file(path), type=ClassRecord)
        except OSError as error:
            raise ClusterCannotStart(f"cannot read {path}: {reason_of(error)}") from None
        except msgspec.DecodeError as error:
            raise ClusterCannotStart(f"{path} is damaged ({error}): repair it or move it away") from None

    def save(self, record: ClassRecord) -> None:
        """Replaces the file as a whole: it holds the record before, or this one. Raises Unavailable."""
        path = self._path(record.number)
        try:
            private_directory(self._directory)
            replace_file(path, msgspec.json.format(msgspec.json.encode(record)) + b"\n")
        except OSError as error:
            raise Unavailable(f"the class cannot be kept: {reason_of(error)}") from None

    def _path(self, number: int) -> Path:
        return self._directory / f"{number}.json"
