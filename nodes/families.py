"""The named choices of mechanisms behind each `--protocol`."""

from __future__ import annotations

from typing import Literal

import msgspec

_JOURNAL = (
    "no_fencing",
    "short_duplicate_memory",
    "sn_without_epoch",
    "stale_view_write",
    "reads_before_flush",
)
_SERVER = ("abort_without_record", "checkpoint_unpinned", "dentry_locks_only", "one_phase_barrier")
"""Holes of the metadata server, common to all families."""
_PAXOS = (
    "no_fencing", "short_duplicate_memory", "stale_view_write", "redo_without_phase_one", "no_read_lease", "answer_set_shrinks",
    "memory_only_accept",
)  # fmt: skip
HOLES: dict[str, tuple[str, ...]] = {
    "mams": (
        *_JOURNAL, *_SERVER, "election_ignores_sn", "junior_election_eager", "silent_shrink", "late_watch", "configuration_is_liveness",
        "async_flush", "checksum_vote",
    ),
    "paxos": (*_PAXOS, "reads_before_flush", *_SERVER),
    "symmetric": (
        "short_duplicate_memory", "sn_without_epoch", "no_read_lease", "fast_literal_order", "fast_not_uniform", "views_without_agreement",
        "answer_before_stable",
    ),
}  # fmt: skip
"""By replication, the paper's holes that it can open (nodes/config.py: Holes). The servers of a shared journal have those of `_JOURNAL` and
`_SERVER`."""


_ONE_GROUP = (
    *_JOURNAL, "election_ignores_sn", "junior_election_eager", "silent_shrink", "late_watch", "configuration_is_liveness",
    "one_phase_barrier", "checkpoint_unpinned", "checksum_vote",
)  # fmt: skip
_HADOOP = ("short_duplicate_memory", "reads_before_flush")
PAPER: dict[str, tuple[str, ...]] = {
    "mams": HOLES["mams"],
    "single": _HADOOP,
    "2pc": _ONE_GROUP,
    "backupnode": _ONE_GROUP,
    "qjm": ("no_fencing", *_HADOOP),
    "bookkeeper": ("no_fencing", *_HADOOP),
    "avatar": ("no_fencing", *_HADOOP),
    "hadoop-ha": ("no_fencing", *_HADOOP),
    "packed-paxos": _PAXOS,
    "multi-paxos": _PAXOS,
    "symmetric": HOLES["symmetric"],
}
"""By protocol, the holes that its literal text leaves open, including rule 21's asynchronous flushes: all of them in the papers' own protocols.

`2pc` and `backupnode` fail over like MAMS but run one group, and flush before they answer. Hadoop's name node lets reads see edits that are
not synced, has no lease for reads, and forgets calls.
"""


class Family(msgspec.Struct, frozen=True):
    """A cluster's choice for the slot `replication`, with the properties that other code needs without knowing the family's own code."""

    replication: str
    """The mechanism by which one replica group agrees on the next record."""
    says: str
    """Description of half a line, for a person who chooses."""
    asked: Literal["active", "reads anywhere", "anywhere"] = "active"
    """The server of a group that clients ask: the leader; any for reads; any for everything."""
    leads: Literal["active", "primary", "member"] = "active"
    """Place of the server that answers writes (nodes/roles.py)."""
    locked: bool = True
    """Whether one server at a time holds the group's lock and leads. Otherwise the members of a view agree, and an operator can change the view."""
    groups_max: int = 8
    journal_sync: str = "ssp"
    """Its choice for the slot `journal_sync`, where the replication has one."""
    standbys: int = 3
    """Default number of standbys beside the active."""
    standbys_max: int = 15
    majority: bool = False
    """No call is answered without more than half of the servers that the group began with."""
    upgrade_steps: int = 0
    """Number of numbered steps that a server reports when it takes over. 0: the members agree on a view, or no server takes over."""
    promises: bool = True
    """Answered writes are never lost. False for a family that exists to show such a loss."""
    journal_nodes: int = 0
    """Number of processes beside the metadata servers that keep their shared journal."""
    journal_role: Literal["journal-node", "bookie"] = "journal-node"

    @property
    def holes(self) -> tuple[str, ...]:
        return HOLES.get(self.replication, (*_JOURNAL, *_SERVER) if self.journal_nodes else ())

    @property
    def cannot_force(self) -> str:
        """Reason why no person can force one of its servers to serve without the others; empty when one can."""
        if self.journal_nodes:
            return "its journal lies on nodes of its own: restart a majority of those"
        if self.replication == "paxos":
            return "nothing is decided without a majority of the servers that it began with: restart those"
        return ""

    @property
    def cannot_leave(self) -> str:
        """Reason why no operator can remove one of its servers from its group; empty when one can."""
        if not self.locked:
            return "its views leave a stopped server out by themselves, and take it in again"
        if self.replication == "paxos":
            return "its majority is counted over the servers that the group began with"
        return "" if self.standbys_max else "it has one server"

    @property
    def cannot_hand_over(self) -> str:
        """Reason why no active of it hands its role over in order; empty when one does."""
        if not self.locked:
            return "every member serves"
        if self.replication != "mams":
            return "its takeover waits for the end of the lock: the fault take_lock takes it away"
        return "" if self.standbys_max else "it has one server"

    @property
    def unseats(self) -> str:
        """The fault verb by which an operator makes a group choose its leader, or its view, again."""
        return "take_lock" if self.locked else "force_view"

    def reads_anywhere(self, groups: int) -> bool:
        """Whether any server answers reads, in a cluster of so many groups. With several groups, stamps order the answers, and one server gives
        them."""
        return self.asked == "reads anywhere" and groups == 1

    @property
    def cannot_grant(self) -> str:
        """Reason why neither its members nor its journal nodes grant leases to the holder of the lock (`detection: members`); empty when they do."""
        if not self.locked:
            return "its members agree on views, each under the others' leases"
        if not self.standbys_max or self.journal_sync == "backupnode":
            return "no other server acknowledges what it writes"
        grants = self.replication in ("mams", "shared-qjm", "shared-hadoop")
        return "" if grants else "its leader answers under the lease of its session"

    @property
    def checkpoints(self) -> bool:
        """Whether a cluster of it can mark checkpoints and roll back to them."""
        return not self.cannot_roll_back

    @property
    def no_more_groups(self) -> str:
        """Reason why a cluster of it has at most `groups_max` groups. SAA §4.2: the total order covers the messages of one group of services."""
        if self.locked:
            return "no more are tried"
        return "its total order covers the calls of one group, and nothing orders a rename between two"

    @property
    def cannot_roll_back(self) -> str:
        """Reason why a cluster of it marks no checkpoints; empty when it does."""
        if not self.locked:
            return "a checkpoint is one instant of several groups, and it has one, whose order is total"
        recorded = self.replication == "paxos" or bool(self.journal_nodes)
        return "" if self.cuts_journal or recorded else "its journal records no recovery"

    @property
    def cuts_journal(self) -> bool:
        """Whether a recovery cuts every journal at the barrier. In the other families it is a record of a journal that only grows."""
        return self.replication == "mams"

    def journal_names(self, count: int | None = None) -> list[str]:
        """Names of so many journal nodes, by default as many as the family has by itself."""
        prefix = "bookie" if self.journal_role == "bookie" else "jn"
        last = self.journal_nodes if count is None else count
        return [f"{prefix}{number}" for number in range(1, last + 1)]


FAMILIES: dict[str, Family] = {
    "mams": Family("mams", "multiple actives, multiple standbys (CFS)", upgrade_steps=7),
    "single": Family(
        "mams", "one server with a local journal: no failover (HDFS)", standbys=0, standbys_max=0
    ),
    "2pc": Family(
        "mams",
        "classic two-phase commit: everybody answers twice (CFS §4.1.2)",
        journal_sync="two_phase",
        upgrade_steps=7,
    ),
    "backupnode": Family(
        "mams",
        "a stream without acknowledgements: loses writes by design (HDFS)",
        journal_sync="backupnode",
        standbys=1,
        upgrade_steps=7,
        promises=False,
    ),
    "qjm": Family(
        "shared-qjm",
        "a quorum of journal nodes, read as they are written (Hadoop's QJM)",
        standbys=1,
        journal_nodes=3,
        upgrade_steps=4,
    ),
    "bookkeeper": Family(
        "shared-bookkeeper",
        "ledgers on three of four bookies (BookKeeper under HDFS)",
        standbys=1,
        journal_nodes=4,
        upgrade_steps=4,
        journal_role="bookie",
    ),
    "avatar": Family(
        "shared-filer",
        "one filer keeps the only other copy (Facebook's AvatarNode)",
        standbys=1,
        journal_nodes=1,
        upgrade_steps=4,
    ),
    "hadoop-ha": Family(
        "shared-hadoop",
        "journal nodes, of which a standby reads finished segments (Hadoop HA)",
        standbys=1,
        journal_nodes=3,
        upgrade_steps=4,
    ),
    "packed-paxos": Family(
        "paxos",
        "Multi-Paxos with packed messages (DCFS3)",
        "reads anywhere",
        leads="primary",
        majority=True,
        upgrade_steps=4,
    ),
    "multi-paxos": Family(
        "paxos",
        "Multi-Paxos, a message for each record",
        "reads anywhere",
        leads="primary",
        majority=True,
        upgrade_steps=4,
    ),
    "symmetric": Family(
        "symmetric",
        "every member active, writes in total order (SAA)",
        "anywhere",
        leads="member",
        locked=False,
        groups_max=1,
    ),
}


def family_named(protocol: str) -> Family:
    """The family of this name. Raises ValueError with one line that lists all names."""
    family = FAMILIES.get(protocol)
    if family is None:
        raise ValueError(f"the protocol {protocol[:40]!r} is unknown; there is {', '.join(FAMILIES)}")
    return family


def paper_holes(protocol: str) -> tuple[str, ...]:
    """Holes that `variant: paper` opens. Raises ValueError for an unknown protocol."""
    family_named(protocol)
    return PAPER.get(protocol, ())
