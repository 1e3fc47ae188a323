"""The interfaces of the slots, through which a family uses a mechanism without knowing its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from nodes.config import Holes, Knobs
from nodes.listeners import Listeners
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Attributes, Result
from nodes.metadata.plans import Look, Split
from nodes.metadata.records import Record
from nodes.mutations import Mutations
from nodes.scope import Scope
from nodes.units import OpId
from nodes.wire.messages import JournalGroup, Mark, Message
from nodes.world import World

# --- image_store -----------------------------------------------------------------------------------------------------


class StoredFile(msgspec.Struct, array_like=True, frozen=True):
    """One replica of a file, as its pool node reports it (VSSP §III.B)."""

    name: str
    size: int
    """Size on the disk in bytes."""
    valid: int
    """Number of good bytes from the beginning."""
    checksum: int
    """Checksum of the valid bytes; for a journal, the chained CRC of its last group."""
    incarnation: int
    epoch: int
    """Epoch of the last valid sn."""
    first_sn: int
    last_sn: int
    """Last valid sn. An image reaches from 0 to the last group inside."""


class StoredImage(msgspec.Struct, frozen=True):
    """An image that is whole on some pool nodes."""

    sn: int
    """Sn of the last group inside."""
    holders: list[str]


class SeenInImage(msgspec.Struct, frozen=True):
    """An image's content at one path, and the partitions that were read for it (VSSP §III.D)."""

    sn: int
    partitions: int
    loaded: list[int]
    size: int
    """Size of these partitions in bytes."""
    of_bytes: int
    """Size of the whole image in bytes."""
    found: Attributes | None
    """Attributes of the object; None when the image does not have the path, or when the rest of it is in another group."""
    names: list[str]
    """The first names of the directory, if it is one."""
    elsewhere: int
    """The inode at which another group continues the path; 0 when none does."""
    left: list[str]
    """The names of the path that remain there, or that do not exist."""


Rank = tuple[int, int, int]
"""(incarnation, epoch, sn) of an image: of the last group inside."""


class ImageStore(Protocol):
    """Slot `image_store`: storage, transfer and repair of images."""

    handlers: dict[type[Message], Callable[[str, Any], None]]
    pinned: set[int]
    """Serial numbers of checkpoints: an image at or below each, and the journal from there, stay (safety rule 14)."""
    rollbacks: dict[int, int]
    """Serial numbers of rollbacks in the journal, each with that of its barrier, which is needed until images lie behind the rollback."""

    async def run(self) -> None:
        """Runs the pool node: receives and stores other nodes' images, without end. Raises OSError of the disk."""

    def newest(self, accepts: Callable[[Mark], bool]) -> tuple[Namespace, Mark] | None:
        """The newest whole image on this disk whose mark is accepted; a damaged one is reported and skipped.

        Raises UnknownFormat, OSError.
        """

    async def look(self, start: int, names: list[str], sn: int) -> SeenInImage:
        """Follows names from the inode `start` in the newest image on this disk, or in that at `sn`, and loads only the partitions that they need.

        Raises ImageDamaged, OSError; FileNotFoundError when there is no such image.
        """

    def stored(self) -> list[int]:
        """The sn of every whole image on this disk, the newest last."""

    def kept_sn(self, newest: int, first_sn: int) -> int:
        """The sn behind which this server needs its own journal: to begin from any of so many of its newest images, 0 when it has fewer; and to
        reach every pin that a journal beginning with `first_sn` still can."""

    def pinned_sn(self, first_sn: int) -> int | None:
        """The sn of the oldest image from which a journal that begins with `first_sn` leads to a pin; 0 when it leads there without an image; None
        when it leads to none."""

    async def has_whole(self, accepts: Callable[[Mark], bool]) -> bool:
        """Whether an image with an accepted mark is on this disk with every byte that its manifest names. Raises OSError."""

    def bar(self, incarnation: int, sn: int) -> None:
        """Excludes images of earlier incarnations of the cluster that reach beyond `sn`, from now on (safety rule 14)."""

    async def set_aside(self, incarnation: int, sn: int, directory: str) -> None:
        """Bars those images, and moves the ones on this disk under `directory`. Raises OSError."""

    async def set_aside_beyond(self, sn: int, directory: str) -> None:
        """Moves the images on this disk that reach beyond `sn` under `directory`: the journal here was cut to it. Raises OSError."""

    def follow(self, reached_sn: Callable[[], int], is_lost: Callable[[Rank], bool]) -> None:
        """The journal is open. `reached_sn`: the sn that this server has reached. The newest image up to it, and the journal from there, stay: those
        of other servers that are ahead may be lost. `is_lost`: whether images of this rank do not count, because a person forced a server without
        what they have."""

    def leave_lost(self) -> None:
        """Begins to quarantine lost images."""

    async def write(
        self, namespace: Namespace, mark: Mark, replicas: list[str], dumped: Callable[[], None]
    ) -> list[str]:
        """Writes an image here and to the other replicas; returns the servers that have it whole, none when it was given up.

        The namespace must not change until `dumped` is called: at once when copies of this process make the image. Raises OSError.
        """

    async def read(
        self, sources: list[str], progress: Callable[[], None], most_sn: int = 0
    ) -> tuple[Namespace, Mark] | None:
        """Copies the best image that the sources offer to this disk, continuing where an earlier attempt ended; None when that failed.

        An image that reaches further than `most_sn` is not taken; with 0 any is. `progress` is called for every megabyte. Raises OSError.
        """

    async def survey(self, nodes: list[str], again: bool = False) -> list[StoredImage]:
        """Compares the nodes' reports and sends repair commands to nodes that lack content; returns the images, newest last.

        `again` makes the nodes read every file, also those that they have found whole before.
        """


MakeImageStore = Callable[
    [World, int, Callable[[], list[StoredFile]], Callable[[], int], Mutations, Knobs], ImageStore
]
"""(world, partitions, the journals of this server's report, first sn of its journal, mutations, knobs)."""


class ImageTakers(Protocol):
    """The other servers of a group, as known to the active that orders images."""

    def standbys(self) -> list[str]:
        """Servers whose namespace follows the journal: each can write an image of it."""

    def matched_sns(self) -> list[int]:
        """The sn up to which each of them, and each other reader of the active's journal, has the journal."""

    def suffice(self, holders: list[str]) -> bool:
        """Whether an image on these servers survives every failure that the family survives."""

    def pruned(self, sn: int) -> None:
        """The active's own journal now begins behind `sn`."""


# --- replication -----------------------------------------------------------------------------------------------------


class GroupLog(Protocol):
    """One server's log of its group, as every family provides it to the metadata server: entries by sn, in Paxos by slot."""

    base: Mark
    """Mark of the last entry before the first one: NOTHING, the last entry inside an image, or the last that was pruned."""

    @property
    def last(self) -> Mark:
        """The end of the entries without a gap."""

    @property
    def size(self) -> int:
        """Bytes on the disk."""

    def bytes_behind(self, sn: int) -> int:
        """Bytes that were written after the entry `sn`."""

    def mark_at(self, sn: int) -> Mark | None:
        """The mark of an entry; None when there is no such entry."""

    def holds(self, mark: Mark) -> bool:
        """Whether this very entry, and so every entry before it, is in the log or in the image under it."""

    def agrees_up_to(self, tails: list[Mark]) -> int | None:
        """The largest sn up to which a log with these tails is known to equal this one; None when unknown."""

    def incarnation_starts(self) -> list[int]:
        """The sn of each entry here that begins an incarnation of the cluster, ascending."""

    def encoded(self, from_sn: int, to_sn: int, most_bytes: int | None = None) -> list[bytes]:
        """Encoded entries without a gap from `from_sn`; at most so many bytes, but at least one entry. Raises OSError."""

    def group_at(self, sn: int) -> JournalGroup | None:
        """The entry itself; None when there is no such entry. Raises OSError."""

    def prune(self, sn: int) -> bool:
        """Forgets entries up to sn, in whole segments of the journal. False when there were none."""


class RecordWriter(Protocol):
    """One tenure's way from a record to its commit: where the leader's records are written, and when they may be answered."""

    epoch: int
    stalled: bool
    """Too few replicas are there to commit. Changes ahead of commit have been undone; reads continue (safety rule 19)."""
    stalled_at_ns: int
    """While stalled: a time later than every record in the namespace and earlier than every one that was undone; 0 when none was."""
    flushes: int
    """Number of groups, or slots, that became safe."""
    flushing_ns: int
    """Sum over all of these of the time from their closing until then."""

    @property
    def idle(self) -> bool:
        """Nothing is ahead of commit."""

    @property
    def full(self) -> bool:
        """It takes no more client calls for now."""

    @property
    def open_sn(self) -> int:
        """The sn of the last group that a read of the present namespace sees."""

    @property
    def open_place(self) -> int:
        """The place of the last record seen in that group."""

    @property
    def next_place(self) -> tuple[int, int]:
        """The sn of the next record, and its place in the group."""

    def apply(self, record: Record) -> tuple[int, int]:
        """Applies a record to the namespace and takes it; returns its sn and its place in the group."""

    def after_commit(self, step: Callable[[], None]) -> None:
        """Runs `step` once no state that the namespace shows now can be lost: a read of it may be answered."""

    def after_executed(self, step: Callable[[], None]) -> None:
        """Runs `step` once every server that answers reads shows at least what this namespace shows now: a write may be answered."""

    def close_group(self) -> None:
        """Makes the applied records a group of the journal; does nothing where each record is one."""

    def end(self) -> list[Any]:
        """Ends the tenure without answers; returns what undoes the records that are in no group."""


# --- journal_sync ----------------------------------------------------------------------------------------------------


class JournalSync(Protocol):
    """Slot `journal_sync`: when is a journal group safe? One tenure's writes to all places of its journal."""

    on_progress: Listeners[()]
    """Called when more groups may have become safe, or when the number of present replicas may have changed."""

    @property
    def configuration_number(self) -> int:
        """Number of the record of counting members; 0 where that never changes."""

    @property
    def lacks_quorum(self) -> bool:
        """Too few replicas are there for any group to become safe now."""

    def write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        """Writes the next group, directly after the last one: to this server's journal, which then ends with it, and to all others."""

    def report_commit(self, sn: int) -> None:
        """Reports that everything up to sn is committed when no next group carries that."""

    def safe(self, sn: int) -> bool:
        """Whether no failure that this mechanism survives can lose the groups up to sn."""

    def holders(self, sn: int) -> list[str]:
        """Servers known to have everything up to sn durably."""


# --- cross_group -----------------------------------------------------------------------------------------------------


class Position(NamedTuple):
    """A record's place in the journal, and its time."""

    sn: int
    place: int
    at_ns: int


class GroupHost(Protocol):
    """One tenure of a group's active, as a mechanism for operations on several groups sees it."""

    world: World
    scope: Scope
    """Closed with the tenure."""
    group: int
    epoch: int
    groups: list[int]
    """Numbers of all groups, ascending."""
    holes: Holes
    unreplicated_paper: bool
    """The variant `paper` with groups of one server each: recovery as in DCFS2 §4.4."""

    @property
    def namespace(self) -> Namespace: ...

    @property
    def draining(self) -> bool:
        """A checkpoint is being marked: no operation is begun, and new requests of other groups are refused (safety rule 13)."""

    @property
    def full(self) -> bool:
        """The log is full: no new promises until an image is taken; open operations are finished."""

    def now_ns(self) -> int:
        """Stamp for the next record: later than every stamp that this group has recorded or received."""

    def received(self, at_ns: int) -> None:
        """Another group's clock has reached this time."""

    def hold(self) -> None:
        """Holds client requests without carrying them out, until as many `release` calls as `hold` calls."""

    def release(self) -> None: ...

    async def can_commit(self) -> None:
        """Returns when enough replicas are there. Before that nothing may be recorded, and the namespace shows only committed changes."""

    def position(self) -> Position:
        """Position and time of the next record."""

    def record(self, record: Record, then: Callable[[], None]) -> Position:
        """Applies a record and adds it to the journal. `then` runs when it is committed, but not if the tenure ends before."""

    def after_commit(self, step: Callable[[], None]) -> None:
        """Runs `step` once no state that the namespace shows now can be lost."""

    def learn_moves(self, moves: int) -> None:
        """Takes over another group's larger count of moves, which this one has lost."""

    def send_to(self, group: int, message: Message) -> None:
        """Sends to the server that is believed to be active there; the message is lost when there is none."""

    def answer(self, op_id: OpId, result: Result | None, error: str, at: Position | None = None) -> None:
        """Answers the client, if it still waits here. `at` is the place of the deciding record, which must be committed."""

    def again(self, op_id: OpId) -> Callable[[], None]:
        """Called when a plan of the call is given up. The returned step, which runs once that is committed, plans the call again: an object that
        it met was undecided or has moved."""

    def resolve_anew(self, op_id: OpId) -> None:
        """Makes the client resolve its paths again from the root: a directory is not where the client remembers it."""

    def wake(self) -> None:
        """An operation was decided: calls that waited for it are examined again."""


class CrossGroup(Protocol):
    """Slot `cross_group`: how do two groups commit one operation?"""

    @property
    def drains(self) -> bool:
        """Whether operations on several groups must not be begun now."""

    def begin(self, op_id: OpId, lowest_open: int, plan: Split | Look, moves: int) -> None:
        """Runs a planned operation; ends with `answer` or `again`."""

    def on_message(self, peer: str, message: Message) -> None: ...

    def resume(self) -> None:
        """The tenure serves: open operations continue from the state in the records."""
