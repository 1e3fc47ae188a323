"""Calls that failed, remembered like those that succeeded: a second copy of one, asked of another member, must not succeed later."""

from __future__ import annotations

from typing import NamedTuple

from nodes.units import OpId


class Refusal(NamedTuple):
    """Why a call failed, and where in the order: a copy that comes later is told so too."""

    error: str
    sn: int
    place: int


class Refusals:
    """Of each client, for as long as it may ask again."""

    def __init__(self) -> None:
        self._refused: dict[str, dict[int, Refusal]] = {}

    def recorded(self, op_id: OpId) -> Refusal | None:
        return self._refused.get(op_id.client, {}).get(op_id.number)

    def remember(self, op_id: OpId, lowest_open: int, refusal: Refusal) -> None:
        """Forgets those whose answer the client has been given."""
        refused = self._refused.setdefault(op_id.client, {})
        refused[op_id.number] = refusal
        for number in [number for number in refused if number < lowest_open]:
            del refused[number]

    def forget(self, client: str) -> None:
        self._refused.pop(client, None)
