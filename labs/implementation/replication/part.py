"""Your family: a log on a majority. The leader sends each group to all others; it is safe when more than half of the servers have it on disk.

Messages, roles and the life of a server are there. Replace each `raise NotImplementedError`; change anything else as you like. The page `lab.md`
says which calls you need. `docs/add-a-protocol.md` explains the surroundings.
"""

from nodes.config import MILLISECOND, group_of
from nodes.listeners import Listeners
from nodes.metadata_server.own_journal import OwnJournal
from nodes.metadata_server.replica import open_replica
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import JournalLeader
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.replicas.leader import TakeoverStopped, wait_out_old_leases, write_epoch
from nodes.replicas.log import decode_group, mark_of
from nodes.replicas.session import ReplicaSession
from nodes.replicas.view import ACTIVE, STANDBY
from nodes.replicas.view_watcher import ViewWatcher
from nodes.wake import Inbox, Wake
from nodes.wire.messages import Mark, Message, about

LOOK_NS = 50 * MILLISECOND
BYTES = 1 << 20


class WrittenAsk(Message, array_like=True, tag=True, gc=False):
    """Of a new leader: promise my epoch, and send what my journal lacks."""

    epoch: int
    tails: list[Mark]


class WrittenHave(Message, array_like=True, tag=True, gc=False):
    """The promise, the end of the sender's journal, and its groups after the place `common` up to which both journals agree."""

    epoch: int
    common: int
    last: Mark
    groups: list[bytes]


class WrittenAppend(Message, array_like=True, tag=True, gc=False):
    """Of the leader: groups that follow `previous`. Everything up to `commit_sn` is committed."""

    epoch: int
    previous: Mark
    groups: list[bytes]
    commit_sn: int


class WrittenHeld(Message, array_like=True, tag=True, gc=False):
    """The sender's journal equals the leader's up to this mark, durably."""

    epoch: int
    mark: Mark


class WrittenLacks(Message, array_like=True, tag=True, gc=False):
    """The sender does not have the mark before the groups; these are the ends of its journal."""

    epoch: int
    tails: list[Mark]


class Copies:
    """The leader's knowledge of the other journals: the slots `journal_sync` and `image takers`."""

    configuration_number = 0
    lacks_quorum = False

    def __init__(self, replica, journal, epoch):
        self._replica, self._journal, self._epoch = replica, journal, epoch
        self._others = [name for name in replica.group.members if name != replica.name]
        self._own_sn = replica.log.last.sn
        self._matched = {}
        self._sent = dict.fromkeys(self._others, replica.log.last)
        self.on_progress = Listeners()
        journal.on_durable.subscribe(self.on_durable)

    def end(self):
        self._journal.on_durable.unsubscribe(self.on_durable)

    def on_durable(self, mark):
        self._own_sn = max(self._own_sn, mark.sn)
        self.on_progress()

    def write(self, group, data, mark):
        """The next group: append it to the own journal (`self._journal.append`), and send it to all others."""
        raise NotImplementedError

    def resend(self):
        """Called every 100 ms: send again what is not acknowledged. An empty `WrittenAppend` carries the sn of the last commit."""
        raise NotImplementedError

    def on_held(self, peer, message):
        """A follower has reported up to where its journal equals this one, durably."""
        raise NotImplementedError

    def on_lacks(self, peer, message):
        """A follower lacks the mark before the groups that it was sent: send from where both journals agree."""
        raise NotImplementedError

    def report_commit(self, sn):
        """Everything up to `sn` is committed, and no next group carries that: report it to the followers."""
        raise NotImplementedError

    def safe(self, sn):
        """Whether everything up to `sn` is on so many disks that it may be answered. Here nothing else decides that."""
        raise NotImplementedError

    def holders(self, sn):
        """The servers that are known to have everything up to `sn` durably, this one first."""
        raise NotImplementedError

    def standbys(self):
        return []

    def matched_sns(self):
        return [self._matched.get(name, 0) for name in self._others]

    def suffice(self, holders):
        return False

    def pruned(self, sn):
        """No journal is pruned, because no image suffices."""


class MajorityLeader(JournalLeader):
    """The tenure of one holder of the lock."""

    def __init__(self, part, replica, choice, journal, tenure, ended):
        super().__init__(replica, choice, tenure, ended)
        self._part, self._journal = part, journal
        self._epoch = 0
        self._copies = None
        self._have = {}
        self._received = Wake()

    @property
    def epoch(self):
        return self._epoch

    def _begin(self, last):
        """Chooses the epoch of this tenure: `last.epoch` is that of the view. Set `self._epoch` and return it."""
        raise NotImplementedError

    def on_have(self, peer, message):
        if message.epoch == self._epoch:
            self._have[peer] = message
            self._received.set()

    def on_held(self, peer, message):
        if self._copies is not None:
            self._copies.on_held(peer, message)

    def on_lacks(self, peer, message):
        if self._copies is not None:
            self._copies.on_lacks(peer, message)

    async def take_over(self):
        """From the lock to the end of the tenure: write the view, promise, adopt what was acknowledged, open the journal, close the first group
        of the epoch and wait until it is committed, wait for the leases of earlier actives, begin the service, and watch that enough members follow.
        Raise Stopped to release the lock."""
        raise NotImplementedError

    async def _watch(self):
        """Releases the lock when too few members acknowledge for a session time-out."""
        replica, seen_ns = self._replica, self._replica.world.clock.monotonic_ns()
        while True:
            await replica.world.clock.sleep(LOOK_NS)
            now = replica.world.clock.monotonic_ns()
            if self._copies.safe(replica.log.last.sn):
                seen_ns = now
            elif now - seen_ns > 2 * replica.world.coordination.session_timeout_ns:
                self.skip_next_election = True
                raise TakeoverStopped("too few members acknowledge")

    def _deadline(self):
        return (
            self._replica.world.clock.monotonic_ns() + 2 * self._replica.world.coordination.session_timeout_ns
        )

    async def _adopt(self):
        """Makes this journal equal to the one that ends last among enough members, each of which has promised this epoch."""
        raise NotImplementedError

    async def _ticks(self):
        while True:
            self._copies.resend()
            await self._replica.world.clock.sleep(2 * LOOK_NS)

    def _end(self):
        if self._copies is not None:
            self._copies.end()
        super()._end()


class Majority:
    """One server's part: it follows the holder of the lock, and takes the lock when it is free."""

    def __init__(self, server, replica, choice):
        self._server, self._choice, self._replica = server, choice, replica
        self._following = ViewWatcher(replica)
        self.session = ReplicaSession(replica, self._following, self, server.snapshot_writer.stop)
        self._journal = OwnJournal(replica)
        self._inbox, self._wanted = Inbox(), Wake()
        self.promised = max(stored_promise(replica.world), replica.log.last.epoch)
        to_leader = self.session.to_leader
        self.handlers = {
            WrittenAsk: self._queue,
            WrittenAppend: self._queue,
            WrittenHave: to_leader(MajorityLeader.on_have),
            WrittenHeld: to_leader(MajorityLeader.on_held),
            WrittenLacks: to_leader(MajorityLeader.on_lacks),
        }

    @property
    def epoch(self):
        return self.promised

    @property
    def rests(self):
        return True

    def begin(self):
        self._server.world.scope.spawn(self._journal.run(), "journal")
        self._server.world.scope.spawn(self._answer(), "answers")

    def forget_session(self):
        """Nothing to forget: this server has no watches."""

    def stop_reading(self):
        """Nothing to stop: groups of the leader come as messages."""

    async def promise(self, epoch):
        """Refuse lower epochs from now on, durably, before another message is sent. A leader of a lower epoch must end: `leader.on_begun(epoch)`."""
        raise NotImplementedError

    async def enter(self):
        await self._replica.view.prepare(self._server.group.members, self._server.world.network.address)
        await self._replica.ledger.prepare()
        await self._following.take_place(STANDBY, "has entered the view")

    async def look_at_view(self):
        view, following = self._replica.view, self._following
        seen = await following.look()
        if seen.owner == self._server.world.name:
            await view.drop_stale_lock(seen.session)
        elif seen.place is None or seen.place.state == ACTIVE:
            await following.take_place(STANDBY, "has entered the view")
        elif seen.owner:
            following.believe(STANDBY, "another server holds the lock")
            await following.changed(2 * LOOK_NS)
        elif await view.take_lock(await view.draw_round()):
            await self.session.lead(self._lead)

    def _lead(self, tenure, over):
        return MajorityLeader(self, self._replica, self._choice, self._journal, tenure, over)

    # --- the journal of a follower ---

    def _queue(self, peer, message):
        self._inbox.put(peer, message)
        self._wanted.set()

    async def _answer(self):
        """Takes one message after the other, so that no two of them change the journal at once."""
        while True:
            await self._wanted.wait()
            for peer, message in self._inbox.take():
                if message.epoch < self.promised or self._leads(message.epoch):
                    continue
                await self.promise(message.epoch)
                reply = await (
                    self._on_ask(message) if isinstance(message, WrittenAsk) else self._on_append(message)
                )
                if reply is not None and message.epoch == self.promised:
                    self._replica.world.network.send(peer, reply)

    def _leads(self, epoch):
        return self.session.leader is not None and self.session.leader.epoch >= epoch

    async def _on_ask(self, message):
        """The reply to a new leader: a `WrittenHave`."""
        raise NotImplementedError

    async def _on_append(self, message):
        """Appends groups of the leader; returns the reply, `WrittenHeld` or `WrittenLacks`. Cut what contradicts the leader, and nothing else."""
        raise NotImplementedError


def rank(mark):
    return mark.incarnation, mark.epoch, mark.sn


def stored_promise(world):
    try:
        return int(world.disk.read("promise"))
    except FileNotFoundError:
        return 0


def start(world, config, choice):
    def begin():
        replica = open_replica(world, config, group_of(config.cluster, config.group), choice.image_store)
        MetadataServer(world, config, replica, lambda server: Majority(server, replica, choice)).start()

    start_anew_if_damaged(world, begin)


MESSAGES = about("journal", WrittenAsk, WrittenHave, WrittenAppend, WrittenHeld, WrittenLacks)
