"""The fault atlas: the damage that each family promises to survive, and whether a trial has exceeded it.

A fault without permanent loss (crash, cut, pause, power loss of synced disks) is always within the promise: all that was acknowledged is
there again when the servers are. Damage is a disk that lost synced data: it was replaced, it rotted, or its server is gone for ever. A power
loss that tears the last record so that it resembles rot is no damage by itself: when all members are back, all data is. Beside a damaged disk
it counts as another one, because a server with such a loss is no witness before it has been renewed (safety rule 23). Beyond the promise only
safety is judged: a group may refuse to serve, but its answers must be right. A packet that is damaged on its way damages no disk: its checksum
shows it, and it is sent again.

A group that becomes smaller survives less. When servers decide that by themselves, what they survived before still counts, unless only servers
are left whose journals have rotted and were not read since. When a person has a server removed, the servers cannot know of a machine that was
lost a moment ago (`OrderedRemovals`).
"""

from __future__ import annotations

from nodes.config import ClusterConfig
from nodes.explore.ordered_removals import OrderedRemovals
from nodes.explore.plan import Fault
from nodes.families import Family, family_named
from nodes.faults.table import BY_NAME
from nodes.faults.table import TORN as TEARS

TORN = ("sectors", "any")
"""Power losses that may leave the whole length of a record without all of its bytes."""


def damages(verb: str) -> bool:
    """Whether the fault makes a disk lose synced data for good."""
    return verb in BY_NAME and BY_NAME[verb].damages


class Atlas:
    """Counts damage by set of servers: a replica group, the journal nodes, the data nodes."""

    def __init__(self, cluster: ClusterConfig):
        self._family: Family = family_named(cluster.protocol)
        self._sets: dict[str, list[str]] = {group.name: list(group.members) for group in cluster.groups}
        self._sets["journal"] = cluster.journal.nodes
        self._journal = cluster.journal
        self._sets["data"] = cluster.data.nodes
        self._damaged: dict[str, dict[str, str]] = {name: {} for name in self._sets}
        self._torn: dict[str, dict[str, str]] = {name: {} for name in self._sets}
        """Servers whose last record may be in doubt, in sets that need a quorum of whole journals."""
        self._rotten: dict[str, dict[str, None]] = {name: {} for name in self._sets}
        """Servers with a damaged journal record."""
        self._unread: set[str] = set()
        """Servers that have not opened their journal since it was damaged, and cannot know."""
        self.configured: dict[str, int] = {}
        """Number of members of each group's present configuration, in families where it changes."""
        self._removals = OrderedRemovals(cluster)
        self._least: dict[str, int] = {}
        """The smallest configuration that was in force while the set was damaged."""
        self.forced = ""
        """Sentence that names the server that was forced to serve; empty while there was none."""
        self.reduced = ""
        """Sentence on a removal by a person that left too few of its group; empty while there was none."""

    def configure(self, group: str, members: list[str], at_ns: int) -> None:
        """Notes a configuration that came into force."""
        self.configured[group] = len(members)
        if members and self._unread.issuperset(members):
            self._least[group] = min(self._least.get(group, len(members)), len(members))
        left = self._removals.configure(group, members, at_ns, self._borne(group, len(members)))
        self.reduced = self.reduced or left

    def begin_tenure(self, group: str, epoch: int) -> None:
        """Notes that a leader serves."""
        self._removals.begin_tenure(group, epoch)

    def open_journal(self, name: str) -> None:
        """Notes that a server has opened its journal: it knows of damage from now on."""
        self._unread.discard(name)

    def note(self, verb: str, names: list[str], what: str = "", at_ns: int = 0) -> None:
        """Notes a fault that was carried out. `what`: the damaged part of a disk, or the way in which a power loss tore it."""
        self._removals.note(verb, names, at_ns)
        if verb == "force":
            self.forced = f"{names[0]} was forced to serve with what {names[-1]} had"
        if verb == "power_loss" and what in TORN:
            for name in names:
                label = self.set_of(name)
                if self._needs_quorum(label):
                    self._torn[label][name] = f"{verb} ({what})"
        if damages(verb):
            for name in names:
                label = self.set_of(name)
                self._damaged[label][name] = verb
                if what.startswith("journal"):
                    self._rotten[label][name] = None
                    self._unread.add(name)
                self._least[label] = min(self._least.get(label, 1 << 30), self._size(label))

    def set_of(self, name: str) -> str:
        """The set of a server. A server that was added belongs to no first configuration, and counts in the first group."""
        return next(
            (label for label, members in self._sets.items() if name in members), next(iter(self._sets))
        )

    def _size(self, label: str) -> int:
        return self.configured.get(label, len(self._sets[label]))

    def set_of_word(self, word: str) -> str:
        """The set of a role's group."""
        group = word.rpartition(" of ")[2]
        return group if group in self._sets else self.set_of(word)

    def _needs_quorum(self, label: str) -> bool:
        """Whether the set needs a quorum of whole journals: not for blocks, nor for servers beside a shared journal."""
        return label == "journal" or (label != "data" and not self._family.journal_nodes)

    def survives(self, label: str) -> int:
        """The number of members of a set that may be damaged while everything acknowledged is kept and can be served.

        For bookies: an entry is on an acknowledgement quorum, and a new ledger needs a whole ensemble.
        """
        return self._borne(label, self._least.get(label, self._size(label)))

    def _borne(self, label: str, size: int) -> int:
        """The number of members that a set of this size survives the loss of."""
        if label == "data":
            return max(0, min(size, 3) - 1)
        if label == "journal" and self._family.journal_role == "bookie":
            return max(0, min(self._journal.ack_quorum - 1, size - self._journal.ensemble))
        if self._family.journal_nodes and label != "journal":
            return max(0, size - 1)
        return max(0, size - 1) // 2

    def damaged(self, label: str) -> list[str]:
        """Members of a set whose disks lost data, or are in doubt, whether they have been renewed since or not."""
        return list(self._torn[label] | self._damaged[label])

    @property
    def whole(self) -> bool:
        """Whether no disk lost anything, nor is in doubt."""
        return not any(self.damaged(label) for label in self._sets)

    def restart_tears(self) -> tuple[str, ...]:
        """The ways in which all servers may lose their power at once: those that may leave a last record in doubt only while every disk is whole."""
        whole = self._family.replication != "paxos" and not any(self._damaged.values())
        return tuple(way for way in TEARS if whole or way not in TORN)

    @property
    def beyond(self) -> str:
        """The promise that was exceeded, in a sentence; empty while none was."""
        if self.forced or self.reduced:
            return self.forced or self.reduced
        for label in self._sets:
            survives, damaged = self.survives(label), self._torn[label] | self._damaged[label]
            # A Paxos member syncs several records at once. Torn in the middle they look like rot, and the disk does not count.
            counts = self._damaged[label] or (self._torn[label] and self._family.replication == "paxos")
            if counts and len(damaged) > survives:
                what = ", ".join(f"{verb} {name}" for name, verb in damaged.items())
                return f"{label} survives the loss of {survives} disks, not of {len(damaged)}: {what}"
        return ""

    @property
    def rotten(self) -> str:
        """The set without a whole journal. There, rot in a last record looks like a torn record, which was never acknowledged (safety rule 23)."""
        return next(
            (label for label, names in self._rotten.items() if len(names) >= self._least.get(label, 1 << 30)),
            "",
        )


def within(cluster: ClusterConfig, faults: list[Fault]) -> list[Fault]:
    """The faults without the damage that surely, or possibly, exceeds what is survived. A target named by role counts as a separate server."""
    atlas, kept = Atlas(cluster), list[Fault]()
    damaged: dict[str, set[str]] = {}
    for fault in faults:
        if fault.verb == "force":  # A person accepts a loss: beyond the promise from then on.
            continue
        if damages(fault.verb):
            label = atlas.set_of_word(fault.targets[0])
            mine = damaged.setdefault(label, set())
            if len(mine | set(fault.targets)) > atlas.survives(label):
                continue
            mine |= set(fault.targets)
        kept.append(fault)
    return kept
