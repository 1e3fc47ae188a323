"""One server's change to the next view (SAA §5.3; safety rule 7). `ViewChange.run` lists the steps in order.

The old view ends for all survivors with the same groups, and each holds them durably before the new view exists. Received but undelivered messages
come last, in the order of the protocol, as the first groups with the new view's number.
"""

from __future__ import annotations

import asyncio

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata_server.forced_service import Forcing
from nodes.protocols.symmetric.agreement import Agreed, Forced
from nodes.protocols.symmetric.catch_up import ask, bring
from nodes.protocols.symmetric.flush import Settling, decoded
from nodes.protocols.symmetric.member import group_of
from nodes.protocols.symmetric.messages import Fetch, Fetched, Flush, Flushed, Numbered
from nodes.protocols.symmetric.order import key_of
from nodes.protocols.symmetric.presence import lease_ends_in
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.replicas.disks import OTHER, WHOLE
from nodes.wire.messages import Mark


class Abandoned(Exception):
    """An attempt failed: too few members are present, a server does not answer, or a later attempt has begun."""


class Outrun(Abandoned):
    """Another server has begun the next attempt."""


class ViewChange:
    """One attempt of one server."""

    def __init__(self, replica: SymmetricReplica, settling: Settling, forcing: Forcing):
        self._replica = replica
        self._settling = settling
        self._forcing = forcing
        self._was = replica.agreement.agreed
        self._attempt = 0
        self._flushed: dict[str, Flushed] = {}
        """Reply of each server that answered Flush."""
        self._flushed_ns = 0
        self._present: list[str] = []
        """Present members of the old view."""

    def _step(self, step: str, detail: str) -> None:
        self._replica.step(step, detail, self._attempt)

    async def run(self, reason: str, invited: list[str]) -> Agreed:
        """Makes and returns the next view, of those `invited` servers that answer. Raises Abandoned, CoordinationError."""
        await self._propose(reason, invited)
        await self._flush(invited)
        goal = await self._settle_here()
        members = await self._settle_everywhere(goal)
        await self._await_leases(members)
        return await self._install(members, goal)

    async def _propose(self, reason: str, invited: list[str]) -> None:
        """Begins the attempt in the coordination service. Raises Outrun."""
        agreement = self._replica.agreement
        if not await agreement.begin():
            raise Outrun
        self._attempt = agreement.agreed.attempt
        self._step("propose", f"{reason}; next {' '.join(invited)}")
        if self._forcing.stands:
            alone = ", ".join(name for name in self._was.members if name not in invited) or "nobody"
            last, lost = self._replica.log.last, f"what {alone} alone may hold after it is lost"
            self._forcing.step("3b", f"goes on at sn {last.sn} of view {last.epoch}: {lost}")
            self._was = Forced(**msgspec.structs.asdict(self._was))

    # --- flush --------------------------------------------------------------------------------------------------------

    async def _flush(self, invited: list[str]) -> None:
        """Wedges the view at each server and gets its journal's end. Raises Abandoned when too few members of the old view are present."""
        self._step("flush", f"asks {' '.join(invited)} what they have")
        others = [name for name in invited if name != self._replica.name]
        size = len(self._was.members)
        replies = await asyncio.gather(
            *(ask(self._replica, name, Flush(0, self._attempt, self._was.number, size)) for name in others)
        )
        own = self._settling.flush(Flush(0, self._attempt, self._was.number, size))
        self._flushed_ns = self._replica.world.clock.monotonic_ns()
        flushed = dict(zip([self._replica.name, *others], [own, *replies], strict=True))
        self._flushed = {
            name: reply
            for name, reply in flushed.items()
            if isinstance(reply, Flushed) and reply.promised == self._attempt and reply.tails
        }
        members = self._was.members
        self._present = [name for name in members if name in self._flushed and self._counts(name)]
        if not self._enough(self._present):
            self._step("flush", f"only {len(self._present)} of {len(members)} members are there")
            raise Abandoned

    def _counts(self, name: str) -> bool:
        """Whether a server is the old view's member of its name: it has that member's disk, and on it the start of the view."""
        reply = self._flushed[name]
        common = self._replica.log.agrees_up_to(reply.tails)
        return (
            self._replica.standing(self._was, name, reply.disk) != OTHER
            and common is not None
            and common >= self._was.start.sn
            and len(reply.free_ns) == len(self._was.members)
        )

    def _enough(self, present: list[str]) -> bool:
        disks = {name: self._flushed[name].disk for name in present}
        certain = [
            name for name, disk in disks.items() if self._replica.standing(self._was, name, disk) == WHOLE
        ]
        return self._was.enough(len(present), len(certain))

    def _goes_on(self) -> None:
        """Raises Abandoned when a later attempt was promised meanwhile."""
        if self._settling.promised > self._attempt:
            raise Abandoned

    # --- settle -------------------------------------------------------------------------------------------------------

    async def _settle_here(self) -> Mark:
        """Extends this journal to the agreed end of the old view. Returns its last mark. Raises Abandoned."""
        own, flushed = self._replica.name, self._flushed
        ends = {name: flushed[name].tails[-1] for name in self._present}
        best = max(ends, key=lambda name: (ends[name].epoch, ends[name].sn, name == own))
        async with self._replica.settling:
            self._goes_on()
            if not await self._fetch(best, flushed[best].tails):
                raise Abandoned
            last = self._replica.log.last
            messages = agreed_rest(flushed[best], [flushed[name] for name in ends], self._was.number)
            for message in messages:
                self._replica.append(
                    group_of(message, self._replica.log.last, self._attempt, self._was.start.sn)
                )
            await self._replica.sync()
        self._goes_on()
        self._step(
            "settle", f"the old view ends at group {last.sn}, and {len(messages)} messages not delivered"
        )
        return self._replica.log.last

    async def _fetch(self, best: str, tails: list[Mark]) -> bool:
        """Replaces this journal's end by that of the server with the longest journal."""
        log = self._replica.log
        if log.last == tails[-1]:
            return True
        common = log.agrees_up_to(tails)
        if common is None:
            return False
        await self._replica.cut(common, f"{best} has more of the view")
        while log.last != tails[-1]:
            reply = await ask(self._replica, best, Fetch(0, self._attempt, log.last.sn + 1))
            if not isinstance(reply, Fetched) or not reply.groups:
                return False
            try:
                groups = decoded(reply.groups, log.last)
            except ValueError:
                return False
            if not await self._settling.write(groups, self._attempt):
                return False
        return True

    async def _settle_everywhere(self, goal: Mark) -> list[str]:
        """Sends the missing groups to all. Returns the servers that durably hold all groups up to the goal, sorted. Raises Abandoned."""
        own, flushed = self._replica.name, self._flushed
        others = [name for name in flushed if name != own]
        done = await asyncio.gather(
            *(bring(self._replica, self._attempt, name, flushed[name], goal, True) for name in others)
        )
        settled = [name for name, well in zip(others, done, strict=True) if well]
        if not self._enough([name for name in self._present if name in (own, *settled)]):
            raise Abandoned
        return sorted([own, *settled])

    # --- leases ---------------------------------------------------------------------------------------------------------

    async def _await_leases(self, members: list[str]) -> None:
        """Waits until the leases of excluded members have expired, so that none reads when the new view begins (safety rule 9)."""
        places = {name: place for place, name in enumerate(self._was.members)}
        left_out = [place for name, place in places.items() if name not in members]
        granted = {places[name]: self._flushed[name].free_ns for name in self._present}
        if self._replica.config.cluster.mutations.own_grant_counted:
            granted = {-1 - place: free_ns for place, free_ns in granted.items()}
        wait_ns = lease_ends_in(left_out, granted)
        passed_ns = self._replica.world.clock.monotonic_ns() - self._flushed_ns
        if wait_ns > passed_ns:
            self._step(
                "leases", f"waits {(wait_ns - passed_ns) // MILLISECOND} ms for the leases of those left out"
            )
            await self._replica.world.clock.sleep(wait_ns - passed_ns)

    async def _install(self, members: list[str], goal: Mark) -> Agreed:
        """Installs the next view. Raises Abandoned."""
        self._goes_on()
        self._settling.settled = self._attempt
        instances = {name: self._flushed[name].disk.instance for name in members}
        if not await self._replica.agreement.install(instances, goal):
            raise Abandoned
        self._step("install", f"view {self._attempt}: {' '.join(members)}, from group {goal.sn} on")
        return self._replica.agreement.agreed


def agreed_rest(best: Flushed, replies: list[Flushed], view: int) -> list[Numbered]:
    """The messages that some survivor has received and none has delivered, in the total order.

    Empty when an earlier attempt has settled them, or when the longest journal comes from a disk only. Their senders send them again.
    """
    if not best.live or best.tails[-1].epoch > view:
        return []
    found = {
        (message.sender, message.counter): message
        for reply in replies
        for message in reply.undelivered
        if key_of(message) > tuple(best.frontier)
    }
    return sorted(found.values(), key=key_of)
