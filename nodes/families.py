"""The named choices of mechanisms: what stands behind each `--protocol`."""

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
"""Of the metadata server, which every family of them has."""
_PAXOS = (
    "no_fencing", "short_duplicate_memory", "stale_view_write", "redo_without_phase_one", "no_read_lease", "answer_set_shrinks",
    "memory_only_accept",
)  # fmt: skip
HOLES: dict[str, tuple[str, ...]] = {
    "mams": (
        *_JOURNAL, *_SERVER, "election_ignores_sn", "junior_election_eager", "silent_shrink", "late_watch", "configuration_is_liveness",
        "async_flush", "checksum_vote",
    ),
    "paxos": (*_PAXOS, "reads_before_flush", "abort_without_record", "dentry_locks_only"),
    "symmetric": (
        "short_duplicate_memory", "sn_without_epoch", "no_read_lease", "fast_literal_order", "fast_not_uniform", "views_without_agreement",
        "answer_before_stable",
    ),
}  # fmt: skip
"""By replication, the paper's holes that it can open (nodes/config.py: Holes); a shared journal's servers have those of `_JOURNAL` and `_SERVER`."""


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
"""By protocol, the holes that its literal text leaves open, rule 21's asynchronous flushes among them: all of them in the papers' own protocols.

`2pc` and `backupnode` fail over like MAMS but run one group, and flush before they answer. Hadoop's name node lets reads see edits that are not
synced, has no lease for reads, and forgets calls.
"""


class Family(msgspec.Struct, frozen=True):
    """A cluster's choice for the slot `replication`, and what others must know of it without knowing its code."""

    replication: str
    """The mechanism by which one replica group agrees on the next record."""
    says: str
    """For a person who chooses, in half a line."""
    asked: Literal["active", "reads anywhere", "anywhere"] = "active"
    """Which server of a group clients ask: the one that leads; any for reads; any for everything."""
    leads: Literal["active", "primary", "member"] = "active"
    """The place of who answers writes (nodes/roles.py)."""
    locked: bool = True
    """Whether one server at a time holds the group's lock and leads; else the members of a view agree, and the view can be changed by hand."""
    groups_max: int = 8
    journal_sync: str = "ssp"
    """Its choice for the slot `journal_sync`, where the replication has one."""
    standbys: int = 3
    """Beside the active, when nobody asks for another number."""
    standbys_max: int = 15
    majority: bool = False
    """Nothing is answered without more than half of the servers that the group began with."""
    upgrade_steps: int = 0
    """How many numbered steps a server tells when it takes over; 0: it tells them in other words, or nobody takes over."""
    promises: bool = True
    """What was answered is never lost; else losing it is what the family is there to show."""
    journal_nodes: int = 0
    """Processes beside the metadata servers that keep the journal they share."""
    journal_role: Literal["journal-node", "bookie"] = "journal-node"

    @property
    def holes(self) -> tuple[str, ...]:
        """The switches that it reads."""
        return HOLES.get(self.replication, (*_JOURNAL, *_SERVER) if self.journal_nodes else ())

    @property
    def cannot_force(self) -> str:
        """Why no person can have one of its servers serve without the others; empty where one can."""
        if self.journal_nodes:
            return "its journal lies on nodes of its own: restart a majority of those"
        if self.replication == "paxos":
            return "nothing is decided without a majority of the servers that it began with: restart those"
        return ""

    @property
    def unseats(self) -> str:
        """The fault verb by which an operator has a group choose anew who leads, or who is in its view."""
        return "take_lock" if self.locked else "force_view"

    def reads_anywhere(self, groups: int) -> bool:
        """Whether any server answers reads, in a cluster of so many groups: with several, stamps put answers in order, and one server gives them."""
        return self.asked == "reads anywhere" and groups == 1

    @property
    def images(self) -> bool:
        """Whether its servers write images."""
        return self.replication in ("mams", "paxos") or bool(self.journal_nodes)

    @property
    def checkpoints(self) -> bool:
        """Whether a cluster of it can mark checkpoints and go back to them."""
        return self.replication == "mams"

    def journal_names(self, count: int | None = None) -> list[str]:
        """So many of them; as many as the family has by itself where nobody says."""
        prefix = "bookie" if self.journal_role == "bookie" else "jn"
        last = self.journal_nodes if count is None else count
        return [f"{prefix}{number}" for number in range(1, last + 1)]


FAMILIES: dict[str, Family] = {
    "mams": Family("mams", "multiple actives, multiple standbys (CFS)", upgrade_steps=7),
    "single": Family(
        "mams", "one server with a local journal: nobody takes over (HDFS)", standbys=0, standbys_max=0
    ),
    "2pc": Family(
        "mams",
        "classic two-phase commit: everybody answers twice (CFS §4.1.2)",
        journal_sync="two_phase",
        upgrade_steps=7,
    ),
    "backupnode": Family(
        "mams",
        "a stream nobody acknowledges: loses writes by design (HDFS)",
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
    ),
    "bookkeeper": Family(
        "shared-bookkeeper",
        "ledgers on three of four bookies (BookKeeper under HDFS)",
        standbys=1,
        journal_nodes=4,
        journal_role="bookie",
    ),
    "avatar": Family(
        "shared-filer",
        "one filer keeps the only other copy (Facebook's AvatarNode)",
        standbys=1,
        journal_nodes=1,
    ),
    "hadoop-ha": Family(
        "shared-hadoop",
        "journal nodes, of which a standby reads finished segments (Hadoop HA)",
        standbys=1,
        journal_nodes=3,
    ),
    "packed-paxos": Family(
        "paxos",
        "Multi-Paxos with packed messages (DCFS3)",
        "reads anywhere",
        groups_max=1,
        leads="primary",
        majority=True,
        upgrade_steps=4,
    ),
    "multi-paxos": Family(
        "paxos",
        "Multi-Paxos, a message for each record",
        "reads anywhere",
        groups_max=1,
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
    """Raises ValueError in one line that names what there is."""
    family = FAMILIES.get(protocol)
    if family is None:
        raise ValueError(f"the protocol {protocol[:40]!r} is unknown; there is {', '.join(FAMILIES)}")
    return family


def paper_holes(protocol: str) -> tuple[str, ...]:
    """What `variant: paper` opens. Raises ValueError for an unknown protocol."""
    family_named(protocol)
    return PAPER.get(protocol, ())
