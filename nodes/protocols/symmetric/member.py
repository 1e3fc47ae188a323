"""One member in one view (SAA §4 to §6; safety rules 5, 6, 9, 20).

It broadcasts, orders and delivers calls, and tracks the groups that every member holds.

A member broadcasts the call of a write. Every member acknowledges it, delivers it into its journal and reports the sync. A group that all members
hold is executed, answered, and visible to reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.agreement import Agreed
from nodes.protocols.symmetric.causal_broadcast import CausalBroadcast
from nodes.protocols.symmetric.holdings import holdings_of
from nodes.protocols.symmetric.messages import Alive, Broadcast, Held, Leaving, Missing, Numbered
from nodes.protocols.symmetric.presence import Presence
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.protocols.symmetric.requests import Requests
from nodes.protocols.symmetric.stability import Stability
from nodes.trace.events import Delivered, Warned
from nodes.trace.lease_events import LeaseConfirmed, LeaseLost
from nodes.wire.messages import JournalGroup, Mark, Message

WINDOW = 16
"""Most own messages with calls that a member has broadcast and not yet delivered."""
HEARTBEAT_NS = 500 * MILLISECOND
"""Interval of the broadcasts of an idle member in the plain protocol (SAA §7.2)."""
JOINING_MAX = 64
STUCK_LEASES = 4
"""Number of leases after which a member counts as failed, when its journal stays behind without growing."""


class ViewMember:
    """This server's membership from the installation of a view until the next one or its exclusion. A `wedged` member delivers nothing.

    Many methods: broadcast, order, holdings and presence each keep their own counts, and one event here may change all four in the same turn.
    """

    def __init__(
        self,
        replica: SymmetricReplica,
        view: Agreed,
        requests: Requests,
        joining: Callable[[], list[str]],
    ):
        self._replica = replica
        self._world = replica.world
        self.view = view
        self._requests = requests
        self._joining = joining
        self.own = own = view.members.index(replica.name)
        self._ids = {name: place for place, name in enumerate(view.members)}
        size = len(view.members)
        self._others = [name for name in view.members if name != replica.name]
        cluster = replica.config.cluster
        holes = cluster.holes
        self._heartbeats = cluster.order == "plain"
        self._window = cluster.knobs.broadcasts or WINDOW
        self._causal = CausalBroadcast(own, size)
        self._order = replica.make_order(cluster.order, holes.fast_literal_order, own, size)
        self._stability = Stability(own, size, view.start.sn, holes)
        by_sn = cluster.mutations.settled_groups_counted
        self._holdings = holdings_of(by_sn, replica.log, self._stability, own, size, view.start)
        self.lease_ns = cluster.timing.ack_timeout_ms * MILLISECOND
        now_ns = self._now_ns()
        self.presence = Presence(own, size, now_ns, replica.term, holes.no_read_lease)
        self._moved_ns = [now_ns] * size
        """Time at which each member's journal last grew, or held all groups of this one."""
        self._others_hear: list[list[str]] = [[] for _ in range(size)]
        self._spoke_ns = now_ns
        self._reported = view.start
        self._ending = False
        self._in_lease = True
        self.wedged = False
        self._over = False

    def start(self) -> None:
        self.tick()
        self.wants_turn()

    def _now_ns(self) -> int:
        return self._world.clock.monotonic_ns()

    def wedge(self, fence: Mark | None = None) -> None:
        """Stops broadcasts, deliveries and grants, because the view is about to change.

        `fence` is the last group delivered in the view, if that is not the last of the journal.
        """
        self.wedged = True
        self.presence.grants = False
        self._holdings.set_fence(fence)

    @property
    def fence(self) -> Mark | None:
        """The last group delivered in this view; None before it is wedged."""
        return self._holdings.fence

    def leave(self) -> None:
        self.wedge()
        self._over = True

    # --- sending ------------------------------------------------------------------------------------------------------

    def _send(self, message: Message) -> None:
        for name in self._others:
            self._world.network.send(name, message)

    def wants_turn(self) -> None:
        """Schedules the end of the turn, after all events that are ready now."""
        if not self._ending:
            self._ending = True
            self._world.when_idle(self._turn_end)

    def _turn_end(self) -> None:
        """Broadcasts the waiting calls in one message, which also acknowledges; an idle member sends an empty one (SAA §5.2).

        A busy member may skip the empty one. Others can deliver its messages without further messages, so its callers get answers and it either
        broadcasts again or becomes idle.
        """
        self._ending = False
        if self._over:
            return
        if self._requests.reading:
            self.answer_reads()
        self._show()
        if self.wedged:
            return
        sends = self._requests.waiting and self._order.own_candidates < self._window
        if sends or (not self._requests.busy and self._order.owes()):
            self._broadcast()
        elif self._reported.sn < self._stability.own_sn:
            self._reported = self._holdings.own
            self._send(Held(self.view.number, self._reported))

    def _broadcast(self) -> None:
        room = self._order.own_candidates < self._window
        records = self._requests.take() if room else []
        self._spoke_ns = self._now_ns()
        message = self._causal.send(self._order.next_stamp(), self._world.clock.wall_ns(), records)
        self._reported = self._holdings.own
        self._send(Broadcast(self.view.number, message, self._reported))
        self._order.accept(message)
        self._deliver()
        if self._requests.waiting:
            self.wants_turn()

    # --- receiving ----------------------------------------------------------------------------------------------------

    def _id(self, peer: str, message: Broadcast | Held | Missing | Alive | Leaving) -> int | None:
        """The sender's id; None for a server outside this view or a message of another view."""
        number = self.view.number
        if message.view != number:
            self._replica.ignoring.report(peer, message, f"of view {message.view}; this is view {number}")
        elif peer not in self._ids:
            self._replica.ignoring.report(peer, message, f"not of a member of view {number}")
        else:
            return self._ids[peer]
        return None

    def on_broadcast(self, peer: str, message: Broadcast) -> None:
        sender = self._id(peer, message)
        if sender is None or self.wedged:
            return
        if not self._causal.well_formed(sender, message.message):
            self._world.trace.emit(Warned(f"{peer} broadcast a message that cannot be its own"))
            return
        if message.message.counter <= self._causal.received[sender]:
            self._replica.ignoring.report(peer, message, f"broadcast {message.message.counter} came before")
        for accepted in self._causal.accept(message.message):
            self._order.accept(accepted)
            self._causal.acknowledged(accepted.sender, accepted.received[self.own])
        self._deliver()
        self._on_report(sender, peer, message)
        lacking = self._causal.lacks(sender, message.message.counter)
        if lacking:
            self._world.network.send(peer, Missing(self.view.number, lacking))
        self.wants_turn()

    def on_missing(self, peer: str, message: Missing) -> None:
        if self._id(peer, message) is None or self.wedged:
            return
        for sent in self._causal.again(message.counter):
            self._world.network.send(peer, Broadcast(self.view.number, sent, self._holdings.own))

    def on_held(self, peer: str, message: Held) -> None:
        sender = self._id(peer, message)
        if sender is not None and not self.wedged:
            self._on_report(sender, peer, message)

    def on_alive(self, peer: str, message: Alive) -> None:
        sender = self._id(peer, message)
        if sender is None:
            return
        if len(message.received) != len(self._ids):
            reported = f"counts {len(message.received)} members; the view has {len(self._ids)}"
            self._replica.ignoring.report(peer, message, reported)
            return
        now_ns = self._now_ns()
        self.presence.received(sender, message.sent_ns, message.echo_ns, now_ns)
        self._others_hear[sender] = message.joining[:JOINING_MAX]
        if self.wedged:
            return
        if sender == 0:
            self.on_log(message.log_is_full)
        self._causal.acknowledged(sender, message.received[self.own])
        lacking = self._causal.lacks(sender, message.received[sender])
        if lacking:
            self._world.network.send(peer, Missing(self.view.number, lacking))
        self._on_report(sender, peer, message)
        self._report_lease()
        self.answer_reads()
        if message.asks:
            self._greet(sender, asks=not message.echo_ns)

    def on_leaving(self, peer: str, message: Leaving) -> None:
        """A stopping member sends this after its last answer, so no member waits for its silence or its lease."""
        sender = self._id(peer, message)
        if sender is not None:
            self.presence.left(sender)

    def say_goodbye(self) -> None:
        """Ends this server's membership. It answers no more calls, and the others continue without it."""
        self.leave()
        self._send(Leaving(self.view.number))

    # --- delivering ---------------------------------------------------------------------------------------------------

    def _deliver(self) -> None:
        """Appends the next messages of the order to the journal as groups, the same at every member."""
        replica, view = self._replica, self.view
        delivered = self._order.deliverable()
        for message in delivered:
            previous = replica.log.last
            groupid = previous.sn + 1 - view.start.sn
            replica.append(group_of(message, previous, view.number, view.start.sn, groupid))
            sender = view.members[message.sender]
            replica.world.trace.emit(
                Delivered(replica.group.name, view.number, previous.sn + 1, sender, message.counter)
            )
        if delivered:
            for member in self._holdings.grown():
                self._moved_ns[member] = self._now_ns()
            replica.appended.set()

    def on_synced(self, sn: int) -> None:
        """This journal is durable up to sn. After a wedge, only the groups delivered before it count."""
        if not self._over:
            self._note(self.own, self._holdings.synced(sn))
            self.wants_turn()

    def _on_report(self, member: int, peer: str, message: Broadcast | Held | Alive) -> None:
        """Credits a member with the groups up to its mark, if this journal has the same group there (safety rule 24)."""
        news = self._holdings.reported(member, message.held)
        if news is None:
            reason = f"holds another group {message.held.sn}, of epoch {message.held.epoch}"
            self._replica.ignoring.report(peer, message, reason)
        else:
            self._note(member, news)

    def _note(self, member: int, news: bool) -> None:
        if news or self._stability.held_by(member) >= self._replica.log.last.sn:
            self._moved_ns[member] = self._now_ns()
        self._show()

    def _show(self) -> None:
        """Submits the groups that every member holds and answers the calls that wait for them."""
        shown = self._replica.show(self._stability.shown_sn, self.view.members)
        for group_sn, outcomes in shown:
            self._requests.on_shown(group_sn, outcomes)
        if shown:
            self.answer_reads()
            self.wants_turn()

    def answer_reads(self) -> None:
        """Answers the reads whose turn has come, under the lease."""
        self._requests.answer_reads(self._may_answer)
        if self._requests.reading:
            self.wants_turn()

    @property
    def may_read(self) -> bool:
        """Whether this member answers reads now (safety rule 9)."""
        return not self._over and self.presence.lease_holds(self._now_ns())

    def _may_answer(self) -> bool:
        if self.may_read:
            return True
        if self._in_lease:
            self._in_lease = False
            late_ns = self.presence.late_ns(self._now_ns())
            self._world.trace.emit(LeaseLost(self.view.number, late_ns))
        return False

    def _report_lease(self) -> None:
        if not self._in_lease and self.presence.lease_holds(self._now_ns()):
            self._in_lease = True
            self._world.trace.emit(LeaseConfirmed(self.view.number))

    def on_log(self, full: bool) -> None:
        """The first member reports whether writes wait for an image (DCFS2 §4.3)."""
        self._requests.log_is_full = full
        if self._requests.waiting:
            self.wants_turn()

    # --- time -----------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Greets the others every fifth of a lease. An idle member of the plain protocol also broadcasts a heartbeat."""
        for member in range(len(self._ids)):
            if member != self.own:
                self._greet(member)
        if self.wedged:
            return
        if self._heartbeats and self._now_ns() - self._spoke_ns >= HEARTBEAT_NS:
            self._broadcast()
        if self._requests.end_idle_sessions(self.own, waits=bool(self.gone())):
            self.wants_turn()
        self.answer_reads()

    def _greet(self, member: int, asks: bool = True) -> None:
        """Sends Alive. The response to an echo does not ask again: if round trips outlast leases, responses would never end."""
        now_ns = self._now_ns()
        echo_ns = self.presence.echo_for(member)
        if echo_ns:
            self._replica.granted_ns = now_ns
        alive = Alive(
            self.view.number,
            now_ns,
            echo_ns,
            asks and not self.presence.granted_by(member, now_ns),
            list(self._causal.received),  # A copy, so that later broadcasts do not count as missing.
            self._holdings.own,
            self._joining(),
            self._requests.log_is_full,
        )
        self._world.network.send(self.view.members[member], alive)

    def gone(self) -> list[str]:
        """Members that are silent or whose journal is stalled.

        A wedged member takes no reports of journals. Then only silence counts: who is too slow does not answer the attempt that ends the view.
        """
        reported = not self.wedged or self._replica.config.cluster.mutations.stale_reports_counted
        return self.doubtful() if reported else self._named(self.presence.silent(self._now_ns()))

    def doubtful(self) -> list[str]:
        """Members that are silent, or whose journal was stalled by their last reports."""
        now_ns = self._now_ns()
        found = set(self.presence.silent(now_ns))
        # An idle member of the plain protocol delays the journals of the others until its next heartbeat.
        stuck_ns = STUCK_LEASES * self.lease_ns + (HEARTBEAT_NS if self._heartbeats else 0)
        last_sn = self._replica.log.last.sn
        for member, moved_ns in enumerate(self._moved_ns):
            behind = self._stability.held_by(member) < last_sn
            if member != self.own and behind and now_ns - moved_ns > stuck_ns:
                found.add(member)
        return self._named(found)

    def _named(self, places: Iterable[int]) -> list[str]:
        return [self.view.members[member] for member in sorted(places)]

    def held_sns(self) -> list[int]:
        """The sn up to which each member is known to hold the journal."""
        return [self._stability.held_by(member) for member in range(len(self._ids))]

    def received_joining(self, server: str, gone: Collection[str]) -> bool:
        """Whether every other member, except those in `gone`, receives this server's requests to join."""
        return all(
            server in received
            for name, received in zip(self.view.members, self._others_hear, strict=True)
            if name in self._others and name not in gone
        )

    # --- the end of the view ----------------------------------------------------------------------------------------------

    @property
    def frontier(self) -> tuple[int, int]:
        return self._order.frontier

    def undelivered(self) -> list[Numbered]:
        """The messages that this member has accepted but not delivered."""
        return self._order.undelivered()


def group_of(
    message: Numbered, previous: Mark, epoch: int, settled_sn: int, groupid: int = 0
) -> JournalGroup:
    """The journal group of a message at its place in the total order."""
    return JournalGroup(
        previous.sn + 1, groupid, epoch, 0, previous, settled_sn, message.at_ns, message.records
    )
