"""The questions that a cluster's mechanisms answer, where one mechanism uses another (design: slots, not protocol names)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Result
from nodes.metadata.planning import Look, Split
from nodes.metadata.records import Record
from nodes.scope import Scope
from nodes.units import OpId
from nodes.wire.messages import Message
from nodes.world import World


class Position(NamedTuple):
    """A record's place in the journal, and its time."""

    sn: int
    place: int
    at_ns: int


class GroupHost(Protocol):
    """One tenure of a group's active, as a mechanism for operations on several groups sees it."""

    world: World
    scope: Scope
    """Closed with the tenure."""
    group: int
    epoch: int
    groups: list[int]
    """Numbers of all groups, ascending."""

    @property
    def namespace(self) -> Namespace: ...

    def now_ns(self) -> int:
        """For the next record: later than everything this group has recorded or heard of."""

    def heard(self, at_ns: int) -> None:
        """Another group is as late as this."""

    async def can_commit(self) -> None:
        """Returns when enough replicas are there; before that nothing may be recorded, and the namespace shows what is committed."""

    def record(self, record: Record, then: Callable[[], None]) -> Position:
        """Applies a record and gives it to the journal; `then` runs when it is committed, never when the tenure ends before."""

    def after_commit(self, step: Callable[[], None]) -> None:
        """Runs `step` once nothing that the namespace shows now can be lost any more."""

    def send_to(self, group: int, message: Message) -> None:
        """To the server that is believed to be active there; lost when there is none."""

    def answer(self, op_id: OpId, result: Result | None, error: str, at: Position | None = None) -> None:
        """Tells the client, if it is still waiting here; `at` is the place of the record that decided it, which must be committed."""

    def again(self, op_id: OpId) -> None:
        """The call is planned anew: what it met was undecided or has moved."""

    def wake(self) -> None:
        """Something was decided: calls that waited for it are looked at again."""


class CrossGroup(Protocol):
    """Slot `cross_group`: how do two groups commit one operation?"""

    @property
    def drains(self) -> bool:
        """Whether operations on several groups are not to be begun just now."""

    def begin(self, op_id: OpId, lowest_open: int, plan: Split | Look, moves: int) -> None:
        """Runs an operation that was planned; ends with `answer` or `again`."""

    def on_message(self, peer: str, message: Message) -> None: ...

    def resume(self) -> None:
        """The tenure serves: whatever is open is taken up where the records left it."""
