"""Messages between a metadata server and the nodes that keep its journal: Hadoop's journal nodes, BookKeeper's bookies."""

from __future__ import annotations

from nodes.storage.identity import DiskId
from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Mark, Message

# --- journal nodes ---------------------------------------------------------------------------------------------------


class WriterMessage(Message, array_like=True, tag=True, gc=False):
    """From who writes a journal, or wants to."""

    journal: int
    """The number of the group whose journal it is: a node keeps one for each."""


class NewEpoch(WriterMessage, array_like=True, tag=True, gc=False):
    """A new writer: lower epochs are to be refused from now on."""

    epoch: int


class EpochPromised(Message, array_like=True, tag=True, gc=False):
    """The promise is durable; this is the journal here."""

    epoch: int
    finished: Mark
    """The end of the last segment that is finished."""
    last: Mark
    """The end of the segment behind it that is still open; `finished` when there is none."""
    written_in: int
    """The epoch of the writer that began the open segment."""
    accepted_in: int
    """The epoch in which a recovery last decided how it ends."""
    disk: DiskId = DiskId(0)


class HigherEpoch(Message, array_like=True, tag=True, gc=False):
    """Refused: a later writer has been promised."""

    promised: int


class AcceptJournal(WriterMessage, array_like=True, tag=True, gc=False):
    """A recovery decided that the open segment ends with `last`; who lacks it copies it from `source`."""

    epoch: int
    last: Mark
    source: str


class JournalAccepted(Message, array_like=True, tag=True, gc=False):
    epoch: int
    last: Mark


class FinishSegment(WriterMessage, array_like=True, tag=True, gc=False):
    epoch: int
    last: Mark


class SegmentFinished(Message, array_like=True, tag=True, gc=False):
    epoch: int
    last: Mark
    disk: int = 0
    """The instance of the disk that has it."""


class StartSegment(WriterMessage, array_like=True, tag=True, gc=False):
    """Everything up to `previous` is finished; groups behind it follow."""

    epoch: int
    previous: Mark


class WriteJournal(WriterMessage, array_like=True, tag=True, gc=False):
    epoch: int
    commit_sn: int
    previous: Mark
    octets: bytes
    """One encoded group."""


class PruneJournal(WriterMessage, array_like=True, tag=True, gc=False):
    """Images of the servers reach beyond `sn`: nobody needs the finished part up to there."""

    epoch: int
    sn: int


class JournalWritten(Message, array_like=True, tag=True, gc=False):
    """Everything up to `mark` is durable here."""

    epoch: int
    mark: Mark
    disk: int = 0


class OutOfStep(Message, array_like=True, tag=True, gc=False):
    """Something before it is missing here: nothing is taken before the next segment."""

    epoch: int


class ReadJournal(Question, array_like=True, tag=True, gc=False):
    journal: int
    from_sn: int
    epoch: int
    """The recovery's own, which may have all there is; 0 asks for what is surely committed."""
    finished_only: bool


class JournalRead(Reply, array_like=True, tag=True, gc=False):
    """Encoded groups from `from_sn` on; empty when there are none."""

    from_sn: int
    groups: list[bytes]
    base: Mark = Mark(0, 0, 0, 0)
    """The group before the first that is here: everything up to it was pruned."""


# --- bookies ---------------------------------------------------------------------------------------------------------


class AddEntry(Message, array_like=True, tag=True, gc=False):
    """An entry is one encoded group, numbered by its sn."""

    ledger: int
    sn: int
    confirmed_sn: int
    """Everything up to here has been acknowledged by all who must."""
    recovering: bool
    """Written again by who closes the ledger: taken although it is fenced."""
    octets: bytes


class EntryAdded(Message, array_like=True, tag=True, gc=False):
    ledger: int
    sn: int
    disk: int = 0


class LedgerFenced(Message, array_like=True, tag=True, gc=False):
    """Refused: somebody is closing this ledger."""

    ledger: int


class ReadEntries(Question, array_like=True, tag=True, gc=False):
    """Ledger 0 has no entries: a bookie that answers is there."""

    ledger: int
    from_sn: int
    to_sn: int
    fence: bool
    """From now on nothing is added but by who closes it; durable before the answer."""


class EntriesRead(Reply, array_like=True, tag=True, gc=False):
    """All entries from `from_sn` up to `covered_sn` that are here: with gaps, where others have what is between."""

    from_sn: int
    covered_sn: int
    confirmed_sn: int
    numbers: list[int]
    entries: list[bytes]
    """One for each number."""
    disk: DiskId = DiskId(0)


JOURNAL_MESSAGES: tuple[type[Message], ...] = (
    NewEpoch, EpochPromised, HigherEpoch, AcceptJournal, JournalAccepted, FinishSegment, SegmentFinished, StartSegment,
    WriteJournal, PruneJournal, JournalWritten, OutOfStep, ReadJournal, JournalRead,
    AddEntry, EntryAdded, LedgerFenced, ReadEntries, EntriesRead,
)  # fmt: skip
