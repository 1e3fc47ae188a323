"""Calls that failed, remembered like those that succeeded: a second copy of one, asked of another member, must not succeed later."""

from __future__ import annotations

from nodes.errors import FsError
from nodes.units import OpId


class Refusals:
    """Of each client, for as long as it may ask again."""

    def __init__(self) -> None:
        self._errors: dict[str, dict[int, str]] = {}

    def check(self, op_id: OpId) -> None:
        """Raises FsError as the call was refused before."""
        error = self._errors.get(op_id.client, {}).get(op_id.number)
        if error is not None:
            raise FsError(*error.split(": ", 1))

    def remember(self, op_id: OpId, lowest_open: int, error: str) -> None:
        """Forgets those whose answer the client has been given."""
        errors = self._errors.setdefault(op_id.client, {})
        errors[op_id.number] = error
        for number in [number for number in errors if number < lowest_open]:
            del errors[number]

    def forget(self, client: str) -> None:
        self._errors.pop(client, None)
