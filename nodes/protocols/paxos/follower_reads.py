"""Calls at a server that is not the primary.

Any server answers reads (DCFS3), under a lease of the primary and after the slots that came before them (safety rule 9). It refuses other calls
and names the primary. While no primary is known to be alive it keeps both: the next primary takes the calls, and reads wait for the next lease.
"""

from __future__ import annotations

from collections import deque

from nodes.errors import FsError
from nodes.metadata.effects import Busy
from nodes.metadata.lookup import TOP, Elsewhere, Gone
from nodes.metadata.operations import WRITES
from nodes.protocols.paxos.leases import ReadLease
from nodes.protocols.paxos.member import PaxosMember
from nodes.protocols.paxos.messages import AskLease, LeaseGranted
from nodes.replicas.lease import term_of
from nodes.wire.messages import Answer, CheckOperation, Refused, Request

KEPT_MAX = 10_000
ASKED_MAX = 16
"""Questions that a grant may answer: more than this server asks while a lease lasts."""

TAKEOVER_SESSIONS = 2
"""Session timeouts after the last lease within which an election has certainly begun."""

Call = Request | CheckOperation


def is_read(call: Call) -> bool:
    return type(call) is Request and type(call.operation) not in WRITES


class FollowerReads:
    """One server's reads while it is not the primary."""

    def __init__(self, member: PaxosMember):
        self._member = member
        self._send = member.world.network.send
        self.lease = ReadLease(member.world.clock, member.config.cluster.holes.no_read_lease)
        self.granted_ballot = 0
        """Ballot of the newest lease."""
        self._asked_ballot = 0
        self._asked_ns: deque[int] = deque(maxlen=ASKED_MAX)
        """Times of the newest questions. A grant to an earlier life names a time by another clock, if the machine was another or began anew."""
        self._keep_reads_until_ns = 0
        """End of the time in which reads are kept. Afterwards a new primary exists, or this server is cut off and others answer sooner."""
        self._kept: dict[tuple[str, int], Call] = {}
        """Latest call by client and number."""

    # --- lease -----------------------------------------------------------------------------------------------------

    def on_promised(self) -> None:
        """A higher ballot ends the lease of the old primary."""
        self.lease.end()

    def on_executed(self) -> None:
        """Asks for a lease as soon as a view of a new ballot contains this server."""
        acceptor = self._member.acceptor
        if self._asked_ballot < acceptor.promised and self._member.name in acceptor.view:
            self.ask()

    def ask(self) -> None:
        member, acceptor = self._member, self._member.acceptor
        outside = acceptor.knows_view and member.name not in acceptor.view
        if acceptor.primary in ("", member.name) or outside:
            return
        self._asked_ballot = acceptor.promised
        now_ns = member.world.clock.monotonic_ns()
        self._asked_ns.append(now_ns)
        disk = member.identity.id.instance
        question = AskLease(acceptor.promised, now_ns, member.queue.success, disk)
        member.world.network.send(acceptor.primary, question)

    def on_granted(self, peer: str, message: LeaseGranted) -> None:
        acceptor = self._member.acceptor
        if (peer, message.ballot) != (acceptor.primary, acceptor.promised):
            reported = f"ballot {acceptor.promised} of {acceptor.primary or 'no server'} is promised here"
            self._member.ignoring.report(peer, message, f"of ballot {message.ballot}; {reported}")
            return
        if message.sent_ns not in self._asked_ns:
            self._member.ignoring.report(peer, message, "this server did not ask for it lately")
            return
        member = self._member
        length_ns = min(message.length_ns, member.lease_ns)
        self.granted_ballot = message.ballot
        self.lease.granted(message.sent_ns, term_of(length_ns, member.config.cluster.mutations))
        takeover_ns = TAKEOVER_SESSIONS * member.world.coordination.session_timeout_ns
        self._keep_reads_until_ns = member.world.clock.monotonic_ns() + takeover_ns
        for client, call in self.take_kept():
            if is_read(call):
                self.on_read(client, call)  # type: ignore[arg-type]
            else:
                self.refuse(client, call.number)

    async def renew(self) -> None:
        """Asks for a lease three times per lease length, in an endless loop."""
        while True:
            await self._member.world.clock.sleep(self._member.lease_ns // 3)
            self.ask()

    # --- reads -----------------------------------------------------------------------------------------------------

    def on_read(self, peer: str, request: Request) -> None:
        """Answers reads only in a cluster of one group.

        With several groups, stamps order the answers. The primary may stamp its next record earlier than a secondary has stamped a read that does
        not show it. So the primary alone answers there."""
        if self._member.several_groups:
            self.on_other(peer, request)
            return
        queue = self._member.queue
        ballot = queue.ballot
        if not self.lease.holds and self._member.world.clock.monotonic_ns() < self._keep_reads_until_ns:
            self.on_other(peer, request)
            return
        waits = self.lease.holds and queue.read(lambda: self._answer(peer, request, ballot))
        if not waits:
            self.refuse(peer, request.number)

    def _answer(self, peer: str, request: Request, ballot: int) -> None:
        """Answers a read if the lease holds in this step. The namespace may lag behind executed slots while an image is taken."""
        member = self._member
        if not self.lease.holds or ballot != member.queue.ballot or member.state.lags:
            self.refuse(peer, request.number)
            return
        result, error = None, ""
        try:
            result = member.state.namespace.read(request.operation, TOP)  # type: ignore[arg-type]
        except FsError as refused:
            error = str(refused)
        except (Elsewhere, Gone, Busy):
            self.refuse(peer, request.number)
            return
        answer = Answer(
            request.session,
            request.number,
            ballot,
            member.queue.success,
            member.acceptor.last_place,
            result,
            error,
            member.now_ns(),
        )
        self._send(peer, answer)

    # --- kept calls ------------------------------------------------------------------------------------------------

    def on_other(self, peer: str, call: Call) -> None:
        """Keeps or refuses a write, a check of one, or a read without a lease."""
        key = (peer, call.number)
        if self.lease.holds or (key not in self._kept and len(self._kept) >= KEPT_MAX):
            self.refuse(peer, call.number)
        else:
            self._kept[key] = call

    def take_kept(self) -> list[tuple[str, Call]]:
        """Removes and returns the calls that waited for a primary."""
        kept, self._kept = self._kept, {}
        return [(peer, call) for (peer, _), call in kept.items()]

    def refuse(self, peer: str, number: int) -> None:
        """Refuses a call, naming the primary while the lease holds."""
        acceptor = self._member.acceptor
        primary = acceptor.primary if self.lease.holds and acceptor.primary != self._member.name else ""
        self._send(peer, Refused(number, acceptor.promised, "not primary", primary))
