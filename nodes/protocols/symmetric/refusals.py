"""Memory of failed calls, like that of successful ones: a second copy sent to another member must not succeed later."""

from __future__ import annotations

from typing import NamedTuple

from nodes.units import OpId


class Refusal(NamedTuple):
    """The error of a failed call and its place in the order, which a later copy also gets as its answer."""

    error: str
    sn: int
    place: int


class Refusals:
    """The failed calls of each client, kept while it may repeat them."""

    def __init__(self) -> None:
        self._refused: dict[str, dict[int, Refusal]] = {}

    def recorded(self, op_id: OpId) -> Refusal | None:
        return self._refused.get(op_id.client, {}).get(op_id.number)

    def remember(self, op_id: OpId, lowest_open: int, refusal: Refusal) -> None:
        """Stores a failure and forgets those that the client has an answer to."""
        refused = self._refused.setdefault(op_id.client, {})
        refused[op_id.number] = refusal
        for number in [number for number in refused if number < lowest_open]:
            del refused[number]

    def forget(self, client: str) -> None:
        self._refused.pop(client, None)
