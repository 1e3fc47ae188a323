"""How one server makes the next view (SAA §5.3; safety rule 7): agreement to be the one, flush, settle, wait for leases, install.

The old view ends for all survivors with the same groups, which each holds durably before the new view exists; what was received but not
delivered comes last, in the order of the protocol, as the first groups of the new view's number.
"""

from __future__ import annotations

import asyncio

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.agreement import Agreed
from nodes.protocols.symmetric.bringing import ask, bring
from nodes.protocols.symmetric.member import group_of
from nodes.protocols.symmetric.messages import Fetch, Fetched, Flush, Flushed, Numbered
from nodes.protocols.symmetric.order import key_of
from nodes.protocols.symmetric.presence import lease_ends_in
from nodes.protocols.symmetric.replica import Replica
from nodes.protocols.symmetric.settling import Settling, decoded
from nodes.wire.messages import Mark


class ViewChange:
    """One attempt of one server."""

    def __init__(self, replica: Replica, settling: Settling, was: Agreed, attempt: int):
        self._replica = replica
        self._settling = settling
        self._was = was
        self._attempt = attempt
        self._flushed_ns = 0

    def _step(self, step: str, detail: str) -> None:
        self._replica.step(step, detail, self._attempt)

    async def run(self, invited: list[str]) -> Agreed | None:
        """The view that is installed now; None when that failed. `invited` are all who are to be in it, as far as they answer."""
        flushed = await self._flush(invited)
        present = [
            name for name in self._was.members if name in flushed and self._counts(name, flushed[name])
        ]
        if not self._may_go_on(present, flushed):
            self._step("flush", f"only {len(present)} of {len(self._was.members)} members are there")
            return None
        goal = await self._settle_here(present, flushed)
        if goal is None:
            return None
        members = await self._settle_everywhere(flushed, goal)
        if not self._may_go_on([name for name in present if name in members], flushed):
            return None
        await self._await_leases(members, {name: flushed[name] for name in present})
        if self._settling.promised > self._attempt:
            return None
        self._settling.settled = self._attempt
        disks = {name: flushed[name].disk for name in members}
        if not await self._replica.agreement.install(disks, goal):
            return None
        self._step("install", f"view {self._attempt}: {' '.join(members)}, from group {goal.sn} on")
        return self._replica.agreement.agreed

    # --- flush --------------------------------------------------------------------------------------------------------

    async def _flush(self, invited: list[str]) -> dict[str, Flushed]:
        """What each that answered has; the view is wedged there."""
        self._step("flush", f"asks {' '.join(invited)} what they have")
        others = [name for name in invited if name != self._replica.name]
        size = len(self._was.members)
        replies = await asyncio.gather(
            *(ask(self._replica, name, Flush(0, self._attempt, self._was.number, size)) for name in others)
        )
        own = self._settling.flush(Flush(0, self._attempt, self._was.number, size))
        self._flushed_ns = self._replica.world.clock.monotonic_ns()
        flushed = dict(zip([self._replica.name, *others], [own, *replies], strict=True))
        return {
            name: reply
            for name, reply in flushed.items()
            if isinstance(reply, Flushed) and reply.promised == self._attempt and reply.tails
        }

    def _counts(self, name: str, reply: Flushed) -> bool:
        """Whether a server is the member of the old view that it is named like: it has that one's disk, and on it where the view began."""
        common = self._replica.log.agrees_up_to(reply.tails)
        return (
            self._was.knows_disk(name, reply.disk)
            and common is not None
            and common >= self._was.start.sn
            and len(reply.free_ns) == len(self._was.members)
        )

    def _may_go_on(self, present: list[str], flushed: dict[str, Flushed]) -> bool:
        certain = [name for name in present if not flushed[name].doubtful]
        return self._was.enough(len(present), len(certain))

    # --- settle -------------------------------------------------------------------------------------------------------

    async def _settle_here(self, present: list[str], flushed: dict[str, Flushed]) -> Mark | None:
        """Brings this journal to the agreed end of the old view; its last mark."""
        own = self._replica.name
        best = max(
            present, key=lambda name: (flushed[name].tails[-1].epoch, flushed[name].tails[-1].sn, name == own)
        )
        async with self._replica.settling:
            if self._settling.promised > self._attempt or not await self._fetch(best, flushed[best].tails):
                return None
            last = self._replica.log.last
            messages = agreed_rest(flushed[best], [flushed[name] for name in present], self._was.number)
            for message in messages:
                self._replica.append(
                    group_of(message, self._replica.log.last, self._attempt, self._was.start.sn)
                )
            await self._replica.sync()
        if self._settling.promised > self._attempt:
            return None
        self._step(
            "settle", f"the old view ends at group {last.sn}, and {len(messages)} messages not delivered"
        )
        return self._replica.log.last

    async def _fetch(self, best: str, tails: list[Mark]) -> bool:
        """Takes the journal of the server that has most in place of this one's."""
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

    async def _settle_everywhere(self, flushed: dict[str, Flushed], goal: Mark) -> list[str]:
        """Those who hold everything up to the goal durably, this server among them, in order."""
        others = [name for name in flushed if name != self._replica.name]
        done = await asyncio.gather(
            *(bring(self._replica, self._attempt, name, flushed[name].tails, goal, True) for name in others)
        )
        settled = [name for name, well in zip(others, done, strict=True) if well]
        return sorted([self._replica.name, *settled])

    # --- leases ---------------------------------------------------------------------------------------------------------

    async def _await_leases(self, members: list[str], replies: dict[str, Flushed]) -> None:
        """Nobody who is left out reads any more when the new view begins (safety rule 9)."""
        places = {name: place for place, name in enumerate(self._was.members)}
        left_out = [place for name, place in places.items() if name not in members]
        granted = {places[name]: reply.free_ns for name, reply in replies.items()}
        if self._replica.config.cluster.mutations.own_grant_counted:
            granted = {-1 - place: free_ns for place, free_ns in granted.items()}
        wait_ns = lease_ends_in(left_out, granted)
        passed_ns = self._replica.world.clock.monotonic_ns() - self._flushed_ns
        if wait_ns > passed_ns:
            self._step(
                "leases", f"waits {(wait_ns - passed_ns) // MILLISECOND} ms for the leases of those left out"
            )
            await self._replica.world.clock.sleep(wait_ns - passed_ns)


def agreed_rest(best: Flushed, replies: list[Flushed], view: int) -> list[Numbered]:
    """What some survivor has received and none has delivered, in the total order.

    Nothing, when an earlier attempt has settled that already, or when the longest journal is one from the disk: who sent it sends it again.
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
