"""A submission in the place of a part of a server. What it returns is checked, so that a wrong type is one line and not a strange failure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from nodes.grading.refusal import refuse
from nodes.protocols.mams.rules import ElectionRules, RenewingRules, Waiting
from nodes.protocols.symmetric.messages import Numbered
from nodes.protocols.symmetric.order import Key
from nodes.replicas.view import Draw
from nodes.wire.messages import Mark

T = TypeVar("T")


def called(owner: Any, method: str, kind: type[T], *arguments: Any) -> T:
    """Calls a method of the submission. Ends the process when it returns something else than a `kind`."""
    try:
        value = getattr(owner, method)(*arguments)
    except MemoryError:
        refuse(f"{method} uses too much memory")
    if not isinstance(value, kind):
        refuse(f"{method} must return {kind.__name__}, and returned {type(value).__name__}")
    return value


def one_of(name: str, names: Collection[str], method: str) -> str:
    if name not in names:
        refuse(f"{method} must return one of {', '.join(sorted(names))}, and returned {name[:40]!r}")
    return name


class SubmittedElection(ElectionRules):
    def __init__(self, theirs: Any):
        self._theirs = theirs

    def winner(self, draws: Mapping[str, Draw], drawing: list[str]) -> str:
        name = called(self._theirs, "winner", str, dict(draws), list(drawing))
        return name and one_of(name, drawing, "winner")

    def next_epoch(self, last: int, promised: int) -> int:
        return called(self._theirs, "next_epoch", int, last, promised)

    def refuses(self, promised: int, epoch: int) -> bool:
        return called(self._theirs, "refuses", bool, promised, epoch)

    def read_quorum(self, members: int) -> int:
        return called(self._theirs, "read_quorum", int, members)

    def newest(self, ends: Mapping[str, Mark], own: str) -> str:
        return one_of(called(self._theirs, "newest", str, dict(ends), own), ends, "newest")


class SubmittedRenewing(RenewingRules):
    def __init__(self, theirs: Any):
        self._theirs = theirs

    def next_junior(self, waiting: Mapping[str, Waiting]) -> str:
        return one_of(called(self._theirs, "next_junior", str, dict(waiting)), waiting, "next_junior")

    def reads_from_pool(self, gap: int, direct: int, pruned: bool) -> bool:
        return called(self._theirs, "reads_from_pool", bool, gap, direct, pruned)

    def wants_image(self, gap: int, image_gap: int, pruned: bool) -> bool:
        return called(self._theirs, "wants_image", bool, gap, image_gap, pruned)

    def in_step(self, last_sn: int, matched_sn: int, confirmed: bool) -> bool:
        return called(self._theirs, "in_step", bool, last_sn, matched_sn, confirmed)

    def may_count(self, members: Collection[str], holders: Collection[str]) -> bool:
        return called(self._theirs, "may_count", bool, list(members), list(holders))


class SubmittedOrder:
    def __init__(self, theirs: Any):
        self._theirs = theirs
        self.frontier: Key = (0, 0)

    def next_stamp(self) -> int:
        return called(self._theirs, "next_stamp", int)

    def accept(self, message: Numbered) -> None:
        called(self._theirs, "accept", type(None), message)

    def deliverable(self) -> list[Numbered]:
        delivered = called(self._theirs, "deliverable", list)
        for message in delivered:
            if not isinstance(message, Numbered):
                refuse("deliverable must return messages that were accepted")
            self.frontier = message.stamp, message.sender
        return delivered

    def owes(self) -> bool:
        return called(self._theirs, "owes", bool)

    def undelivered(self) -> list[Numbered]:
        return called(self._theirs, "undelivered", list)

    @property
    def own_candidates(self) -> int:
        return called(self._theirs, "own_undelivered", int)
