"""Messages between a metadata server and the nodes that keep its journal: Hadoop's journal nodes, BookKeeper's bookies."""

from __future__ import annotations

from nodes.units import DiskId
from nodes.wire.messages import Mark, Message, Question, Reply, about

# --- journal nodes ---------------------------------------------------------------------------------------------------


class WriterMessage(Message, array_like=True, tag=True, gc=False):
    """A message from a journal's writer, or from a server that wants to become it."""

    journal: int
    """Number of the group whose journal it is; a node keeps one for each group."""


class NewEpoch(WriterMessage, array_like=True, tag=True, gc=False):
    """A new writer's epoch: the node must refuse lower epochs from now on."""

    epoch: int


class EpochPromised(Message, array_like=True, tag=True, gc=False):
    """The promise is durable. The reply describes the journal of this node."""

    epoch: int
    finished: Mark
    """End of the last finished segment."""
    last: Mark
    """End of the open segment behind it; `finished` when there is none."""
    written_in: int
    """Epoch of the writer that began the open segment."""
    accepted_in: int
    """Epoch in which a recovery last decided the end of the open segment."""
    disk: DiskId = DiskId(0)
    grant_ns: int = 0
    """Rest of this node's grants to earlier writers; it grants them none any more (safety rule 26)."""


class HigherEpoch(Message, array_like=True, tag=True, gc=False):
    """Refusal: this node has promised a later writer."""

    promised: int


class AcceptJournal(WriterMessage, array_like=True, tag=True, gc=False):
    """A recovery decided that the open segment ends with `last`; a node that lacks it copies it from `source`."""

    epoch: int
    last: Mark
    source: str


class JournalAccepted(Message, array_like=True, tag=True, gc=False):
    epoch: int
    last: Mark
    disk: int = 0
    """Instance of the disk that has it."""


class FinishSegment(WriterMessage, array_like=True, tag=True, gc=False):
    epoch: int
    last: Mark


class SegmentFinished(Message, array_like=True, tag=True, gc=False):
    epoch: int
    last: Mark
    disk: int = 0
    """Instance of the disk that has it."""


class StartSegment(WriterMessage, array_like=True, tag=True, gc=False):
    """Everything up to `previous` is finished; later groups follow."""

    epoch: int
    previous: Mark


class WriteJournal(WriterMessage, array_like=True, tag=True, gc=False):
    epoch: int
    commit_sn: int
    previous: Mark
    data: bytes
    """One encoded group."""


class PruneJournal(WriterMessage, array_like=True, tag=True, gc=False):
    """The servers' images reach beyond `sn`: the finished part up to there is no longer needed."""

    epoch: int
    sn: int


class JournalWritten(Message, array_like=True, tag=True, gc=False):
    """Everything up to `mark` is durable on this node."""

    epoch: int
    mark: Mark
    disk: int = 0


class OutOfStep(Message, array_like=True, tag=True, gc=False):
    """An earlier group is missing on this node: it takes no group before the next segment."""

    epoch: int
    sn: int
    """Number of the group that it refused, or that would open the segment. Another copy may have reached it meanwhile."""


class ReadJournal(Question, array_like=True, tag=True, gc=False):
    journal: int
    from_sn: int
    epoch: int
    """Epoch of a recovery, which may read everything; 0 asks only for groups that are surely committed."""
    finished_only: bool


class JournalRead(Reply, array_like=True, tag=True, gc=False):
    """Encoded groups from `from_sn` on; empty when there are none."""

    from_sn: int
    groups: list[bytes]
    base: Mark = Mark(0, 0, 0, 0)
    """The group before the first one on this node: everything up to it was pruned."""


# --- bookies ---------------------------------------------------------------------------------------------------------

LEDGERS_SHIFT = 40
"""The bits of a ledger's number above these name its group: bookies know ledgers by number alone."""


class AddEntry(Message, array_like=True, tag=True, gc=False):
    """An entry is one encoded group, numbered by its sn."""

    ledger: int
    sn: int
    confirmed_sn: int
    """All required bookies have acknowledged the entries up to here."""
    recovering: bool
    """The server that closes the ledger writes this entry again; the bookie takes it although the ledger is fenced."""
    data: bytes


class EntryAdded(Message, array_like=True, tag=True, gc=False):
    ledger: int
    sn: int
    disk: int = 0


class LedgerFenced(Message, array_like=True, tag=True, gc=False):
    """Refusal: another server is closing this ledger."""

    ledger: int


class ForgetLedgers(Message, array_like=True, tag=True, gc=False):
    """Images cover the ledgers of a group below this number. The ledger metadata names them no more."""

    below: int


class ReadEntries(Question, array_like=True, tag=True, gc=False):
    """Reads entries of a ledger. Ledger 0 has no entries; a reply to it shows that the bookie is alive."""

    ledger: int
    from_sn: int
    to_sn: int
    fence: bool
    """Fences the ledger: from now on only the closing server may add entries. Durable before the reply."""


class EntriesRead(Reply, array_like=True, tag=True, gc=False):
    """All entries of this bookie from `from_sn` to `covered_sn`; the gaps are on other bookies.

    A bookie covers nothing of a ledger that it has forgotten: `covered_sn` is `from_sn - 1`.
    """

    from_sn: int
    covered_sn: int
    confirmed_sn: int
    numbers: list[int]
    entries: list[bytes]
    """Encoded entries, one for each number."""
    disk: DiskId = DiskId(0)


JOURNAL_MESSAGES = (
    *about(
        "journal", FinishSegment, StartSegment, WriteJournal, PruneJournal, AddEntry,
        ForgetLedgers, replies=(SegmentFinished, JournalWritten, OutOfStep, EntryAdded),
    ),
    *about(
        "takeover", NewEpoch, AcceptJournal, replies=(EpochPromised, HigherEpoch, JournalAccepted, LedgerFenced),
    ),
    *about("renewing", ReadJournal, JournalRead, ReadEntries, EntriesRead),
)  # fmt: skip
LEDGER_MESSAGES = (AddEntry, EntryAdded, LedgerFenced, ForgetLedgers, ReadEntries, EntriesRead)
"""Those between a writer and bookies."""
