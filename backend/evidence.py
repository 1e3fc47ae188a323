"""What a takeover kept: the acknowledged writes before it, found again on the new active or not, and the calls that waited for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from nodes.trace.events import Called, Committed, Cut, Durable, Stamped

RECENT = 4_000
"""Number of the newest calls that are kept, from which those before and during a takeover are taken."""
TAKEOVERS = 8
"""Number of takeovers whose calls are kept."""
WAITED_MOST = 2_000
"""Largest number of waiting calls of one takeover that are kept."""
MS = 1_000_000


class CallEvidence(NamedTuple):
    client: str
    number: int
    server: str
    epoch: int
    sn: int
    error: str
    invoked_ns: int
    returned_ns: int


class TakeoverEvidence(NamedTuple):
    group: str
    epoch: int
    old: str
    new: str
    fault_ns: int
    serving_ns: int
    """Time from which the new active serves."""


class TakeoverCalls(msgspec.Struct):
    """The calls of one takeover."""

    takeover: TakeoverEvidence
    acknowledged: list[CallEvidence]
    """Successful calls of earlier epochs that the group's servers answered."""
    waited: list[CallEvidence]
    """Calls that began before the new active served and returned after the fault."""

    def waits(self, call: CallEvidence) -> bool:
        return call.invoked_ns <= self.takeover.serving_ns and call.returned_ns >= self.takeover.fault_ns


class Evidence(msgspec.Struct):
    """What became of the writes and calls around one takeover."""

    group: str
    epoch: int
    old: str
    new: str
    last_sn: int
    """Sn of the last write that was acknowledged to a client before the takeover; 0 when none is kept."""
    last_epoch: int
    holders: list[str]
    """Servers of the group with exactly this journal group on their disks."""
    acknowledged: int
    """Acknowledged writes of the old active that were compared with the new active's journal: the newest that are kept."""
    found: int
    """Number of those that are in the journal of the new active."""
    from_sn: int
    """Sn of the oldest of them."""
    waited: int
    """Calls that waited: they began before the new active served and had no answer at the time of the fault."""
    answered: int
    """Number of those that were answered afterwards."""
    given_up: int
    """Number of those whose client gave up."""
    longest_ms: float
    """The longest wait of a call that was answered."""


class CallHistory:
    """The newest calls, and those of the last takeovers. `home_of` names the group of a server, or "" for an unknown one."""

    def __init__(self, home_of: Callable[[str], str]):
        self._home_of = home_of
        self._recent: deque[CallEvidence] = deque(maxlen=RECENT)
        self._kept: deque[TakeoverCalls] = deque(maxlen=TAKEOVERS)

    def add(self, called: Called) -> None:
        call = CallEvidence(
            called.client, called.number, called.server, called.epoch, called.sn, called.error, called.invoked_ns,
            called.returned_ns,
        )  # fmt: skip
        self._recent.append(call)
        for kept in self._kept:
            if (
                kept.waits(call)
                and self._concerns(call, kept.takeover.group)
                and len(kept.waited) < WAITED_MOST
            ):
                kept.waited.append(call)

    def keep(self, takeover: TakeoverEvidence) -> None:
        """Keeps the calls of a takeover. A later report about the same epoch keeps what the first one had."""
        if self.of(takeover.group, takeover.epoch) is not None:
            return
        kept = TakeoverCalls(takeover, [], [])
        for call in self._recent:
            if not self._concerns(call, takeover.group):
                continue
            if not call.error and call.server and 0 < call.epoch < takeover.epoch:
                kept.acknowledged.append(call)
            if kept.waits(call):
                kept.waited.append(call)
        self._kept.append(kept)

    def of(self, group: str, epoch: int) -> TakeoverCalls | None:
        """The calls of a takeover; None when they are not kept any more."""
        return next(
            (kept for kept in self._kept if (kept.takeover.group, kept.takeover.epoch) == (group, epoch)),
            None,
        )

    def _concerns(self, call: CallEvidence, group: str) -> bool:
        """A call without a server concerns every group: where it would have been answered is unknown."""
        return not call.server or self._home_of(call.server) == group


def evidence(kept: TakeoverCalls, servers: Iterable[str], found: Iterable[Stamped]) -> Evidence:
    """`found`: Durable, Committed and Cut events of the group's servers, in order, from the first acknowledged sn on.

    The checksum of a journal group covers the mark of the one before: who holds one holds all before it, or an image of them. So events that a killed
    server could not write are not missed.
    """
    takeover, wanted = kept.takeover, {(call.client, call.number): call for call in kept.acknowledged}
    writes: dict[tuple[str, int], tuple[int, int]] = {}
    """(sn, crc) of the acknowledged writes."""
    epochs: dict[int, int] = {}
    held: dict[str, dict[int, int]] = {server: {} for server in servers}
    for stamped in found:
        event = stamped.event
        if isinstance(event, Committed) and event.epoch < takeover.epoch:
            for client, number in event.operations:
                if (client, number) in wanted:
                    writes[client, number] = (event.sn, event.crc)
                    epochs[event.sn] = event.epoch
        elif isinstance(event, Durable) and stamped.server in held:
            held[stamped.server][event.sn] = event.crc
        elif isinstance(event, Cut) and stamped.server in held:
            held[stamped.server] = {sn: crc for sn, crc in held[stamped.server].items() if sn <= event.sn}
    own = held.get(takeover.new, {})
    last = max(writes.values(), default=(0, 0))
    common_sn = max((sn for sn, crc in writes.values() if own.get(sn) == crc), default=0)
    answered = [call for call in kept.waited if call.error != "ETIMEDOUT"]
    return Evidence(
        takeover.group, takeover.epoch, takeover.old, takeover.new,
        last_sn=last[0], last_epoch=epochs.get(last[0], 0),
        holders=[server for server, groups in held.items() if last[0] and groups.get(last[0]) == last[1]],
        acknowledged=len(writes),
        found=sum(sn <= common_sn for sn, _ in writes.values()),
        from_sn=min((sn for sn, _ in writes.values()), default=0),
        waited=len(kept.waited), answered=len(answered), given_up=len(kept.waited) - len(answered),
        longest_ms=max(((call.returned_ns - call.invoked_ns) / MS for call in answered), default=0.0),
    )  # fmt: skip
