"""The interfaces of the slots: what a family may ask of a mechanism that it does not know by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import msgspec

from nodes.config import Holes
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Attributes, Result
from nodes.metadata.planning import Look, Split
from nodes.metadata.records import Record
from nodes.mutations import Mutations
from nodes.scope import Scope
from nodes.units import OpId
from nodes.wire.messages import JournalGroup, Mark, Message
from nodes.world import World

# --- image_store -----------------------------------------------------------------------------------------------------


class StoredFile(msgspec.Struct, array_like=True, frozen=True):
    """One replica of a file, as the pool node that has it reports it (VSSP §III.B)."""

    name: str
    size: int
    """Octets on the disk."""
    valid: int
    """Octets from the beginning that are whole."""
    checksum: int
    """Of the valid octets; of a journal, the chained CRC of its last group."""
    incarnation: int
    epoch: int
    """Of the last valid sn."""
    first_sn: int
    last_sn: int
    """An image reaches from 0 to the last group inside."""


class StoredImage(msgspec.Struct, frozen=True):
    """An image that is whole on some pool nodes."""

    sn: int
    """Of the last group inside."""
    holders: list[str]


class SeenInImage(msgspec.Struct, frozen=True):
    """What an image says of one path, and what was read of the image for it (VSSP §III.D)."""

    sn: int
    partitions: int
    loaded: list[int]
    """The partitions that were loaded."""
    octets: int
    """Of these."""
    of_octets: int
    """Of the whole image."""
    found: Attributes | None
    """None when the image does not have the path, or when the rest of it lies in another group."""
    names: list[str]
    """The first names of a directory."""
    elsewhere: int
    """The inode where another group goes on; 0 when none does."""
    left: list[str]
    """The names of the path that are left there, or that nobody has."""


class ImageStore(Protocol):
    """Slot `image_store`: where an image lies, how it is moved and repaired."""

    handlers: dict[type[Message], Callable[[str, Any], None]]
    pinned: set[int]
    """Serial numbers of checkpoints: an image at or below each, and the journal from there, stay (safety rule 14)."""

    async def run(self) -> None:
        """The pool node: takes and keeps what others send; for ever. Raises OSError of the disk."""

    def newest(self, accepts: Callable[[Mark], bool]) -> tuple[Namespace, Mark] | None:
        """The newest whole image on this disk whose mark is accepted; a damaged one is told and passed over.

        Raises UnknownFormat, OSError.
        """

    async def look(self, start: int, names: list[str], sn: int) -> SeenInImage:
        """Follows names from the inode `start` in the newest image on this disk, or in that at `sn`, and loads no partition that they do not need.

        Raises ImageDamaged, OSError; FileNotFoundError when there is no such image.
        """

    def stored(self) -> list[int]:
        """The sn of every whole image on this disk, the newest last."""

    def kept_sn(self, newest: int, first_sn: int) -> int:
        """This server needs its own journal from behind this sn, to begin from any of so many of its newest images, 0 when it has fewer; and
        to reach every pin that a journal which begins with `first_sn` still can.
        """

    def pinned_sn(self, first_sn: int) -> int | None:
        """The sn of the oldest image from which a journal that begins with `first_sn` leads to a pin, 0 when it leads there without an image; None
        when it leads to none.
        """

    async def has_whole(self, accepts: Callable[[Mark], bool]) -> bool:
        """Whether an image whose mark is accepted lies here with every byte that its manifest names. Raises OSError."""

    def bar(self, incarnation: int, sn: int) -> None:
        """From now on no image counts that goes beyond `sn` and is of an earlier incarnation of the cluster (safety rule 14)."""

    async def set_aside(self, incarnation: int, sn: int, directory: str) -> None:
        """Bars those images, and moves the ones on this disk under `directory`. Raises OSError."""

    async def set_aside_beyond(self, sn: int, directory: str) -> None:
        """Moves the images on this disk that go beyond `sn` under `directory`: the journal here was cut to it. Raises OSError."""

    async def write(
        self, namespace: Namespace, mark: Mark, replicas: list[str], dumped: Callable[[], None]
    ) -> list[str]:
        """Writes an image here and to the other replicas; returns who has it whole.

        The namespace must not change until `dumped` is called. Raises OSError.
        """

    async def read(
        self, sources: list[str], progress: Callable[[], None], most_sn: int = 0
    ) -> tuple[Namespace, Mark] | None:
        """Copies the best image that the sources offer to this disk, going on where an earlier attempt ended; None when that failed.

        One that reaches further than `most_sn` is not taken; with 0 any is. `progress` is called for every megabyte. Raises OSError.
        """

    async def survey(self, nodes: list[str], again: bool = False) -> list[StoredImage]:
        """Compares what the nodes report and sends who lacks something to repair it; the images, newest last.

        `again` makes the nodes read every file, also those that they have found whole before.
        """


MakeImageStore = Callable[
    [World, int, Callable[[], list[StoredFile]], Callable[[], int], Mutations], ImageStore
]
"""(world, partitions, the journals of this server's report, first sn of its journal, mutations)."""


class ImageTakers(Protocol):
    """The other servers of a group, as the active knows them that orders images."""

    def standbys(self) -> list[str]:
        """Those whose namespace follows the journal: each can write an image of it."""

    def matched_sns(self) -> list[int]:
        """Up to where each of them, and whoever else the active serves journals to, has the journal."""

    def suffice(self, holders: list[str]) -> bool:
        """Whether an image on these servers survives what the family survives."""

    def pruned(self, sn: int) -> None:
        """The active's own journal begins behind `sn` now."""


# --- replication -----------------------------------------------------------------------------------------------------


class GroupLog(Protocol):
    """One server's log of its group, as the metadata server asks of it in every family: entries by sn, in Paxos by slot."""

    base: Mark
    """Of the last entry before the first one: of nothing, of the last inside an image, or of the last that was pruned."""

    @property
    def last(self) -> Mark:
        """The end of what is here without a gap."""

    @property
    def size(self) -> int:
        """Bytes on the disk."""

    def octets_behind(self, sn: int) -> int:
        """Bytes that were written after the entry `sn`."""

    def mark_at(self, sn: int) -> Mark | None:
        """None when there is no such entry."""

    def holds(self, mark: Mark) -> bool:
        """Whether this very entry, and so all before it, is in the log or in the image under it."""

    def agrees_up_to(self, tails: list[Mark]) -> int | None:
        """The largest sn up to which a log with these tails is known to be equal to this one; None when unknown."""

    def octets(self, from_sn: int, to_sn: int, most_bytes: int | None = None) -> list[bytes]:
        """Encoded entries that are there, without a gap from `from_sn`; at most so many bytes but one entry at least. Raises OSError."""

    def group_at(self, sn: int) -> JournalGroup | None:
        """The entry itself; None when there is no such entry. Raises OSError."""

    def prune(self, sn: int) -> bool:
        """Forgets entries up to sn, as far as whole segments of the journal go. False when there were none."""


class RecordWriter(Protocol):
    """One tenure's way from a record to its commit: where the leader's records go, and when somebody may be told of them."""

    epoch: int
    parked: bool
    """Nothing can be committed for now: what was ahead of commit has been taken back, reads go on (safety rule 19)."""
    parked_at_ns: int
    """While parked: later than every record that is in the namespace, earlier than every one that was taken back; 0 when none was."""
    on_unparked: Callable[[], None]
    """Called when it is parked no more, or full no more."""
    flushes: int
    """Groups, or slots, that became safe."""
    flushing_ns: int
    """Of all of these: from their closing on, in sum."""

    @property
    def idle(self) -> bool:
        """Nothing is ahead of commit."""

    @property
    def full(self) -> bool:
        """It takes no more calls of clients for now."""

    @property
    def open_sn(self) -> int:
        """The sn that a read of the present namespace has seen the last of."""

    @property
    def open_place(self) -> int:
        """The place in it."""

    @property
    def next_place(self) -> tuple[int, int]:
        """The sn and the place in its group that the next record is given."""

    def apply(self, record: Record) -> tuple[int, int]:
        """Applies a record to the namespace and takes it; returns its sn and its place in the group."""

    def after_commit(self, step: Callable[[], None]) -> None:
        """Runs `step` once nothing that the namespace shows now can be lost any more: a read of it may be answered."""

    def after_executed(self, step: Callable[[], None]) -> None:
        """Runs `step` once whoever answers reads shows at least what the namespace shows now: a write may be answered."""

    def close_group(self) -> None:
        """What was applied becomes a group of the journal, by itself; nothing to do where each record is one."""

    def end(self) -> list[Any]:
        """The tenure is over: nobody is answered; returns what undoes the records of no group."""


# --- journal_sync ----------------------------------------------------------------------------------------------------


class JournalSync(Protocol):
    """Slot `journal_sync`: when is a journal group safe? One tenure's way to wherever its journal must lie."""

    on_progress: Callable[[], None]
    """Called whenever more may have become safe, or whether enough are there may have changed."""

    @property
    def configuration_number(self) -> int:
        """Of the record of who counts; 0 where that never changes."""

    @property
    def lacks_quorum(self) -> bool:
        """Too few are there for anything to become safe just now."""

    def write(self, group: JournalGroup, octets: bytes, mark: Mark) -> None:
        """The next group, right behind the last one: into this server's journal, which ends with it at once, and to everybody else."""

    def tell_commit(self, sn: int) -> None:
        """Everything up to sn is committed, and no next group is there to say so."""

    def safe(self, sn: int) -> bool:
        """Whether nothing that this mechanism survives can lose the groups up to sn."""

    def holders(self, sn: int) -> list[str]:
        """Who is known to have everything up to sn durably."""


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
    """The variant `paper` with groups of one server each: recovery as DCFS2 §4.4 has it."""

    @property
    def namespace(self) -> Namespace: ...

    @property
    def draining(self) -> bool:
        """A checkpoint is being marked: nothing is begun, and what another group asks for anew is refused (safety rule 13)."""

    @property
    def full(self) -> bool:
        """The log is full: nothing new is promised until an image is taken; what is open is brought to its end."""

    def now_ns(self) -> int:
        """For the next record: later than everything this group has recorded or heard of."""

    def heard(self, at_ns: int) -> None:
        """Another group is as late as this."""

    def hold(self) -> None:
        """Requests of clients are kept and not carried out until as many `release` as `hold`."""

    def release(self) -> None: ...

    async def can_commit(self) -> None:
        """Returns when enough replicas are there; before that nothing may be recorded, and the namespace shows what is committed."""

    def position(self) -> Position:
        """Where the next record will be, and its time."""

    def record(self, record: Record, then: Callable[[], None]) -> Position:
        """Applies a record and gives it to the journal; `then` runs when it is committed, never when the tenure ends before."""

    def after_commit(self, step: Callable[[], None]) -> None:
        """Runs `step` once nothing that the namespace shows now can be lost any more."""

    def send_to(self, group: int, message: Message) -> None:
        """To the server that is believed to be active there; lost when there is none."""

    def answer(self, op_id: OpId, result: Result | None, error: str, at: Position | None = None) -> None:
        """Tells the client, if it is still waiting here; `at` is the place of the record that decided it, which must be committed."""

    def again(self, op_id: OpId) -> None:
        """The call is planned anew: what it met was undecided or has moved."""

    def resolve_anew(self, op_id: OpId) -> None:
        """The client sets out from the root: a directory is not where it remembers it."""

    def wake(self) -> None:
        """Something was decided: calls that waited for it are looked at again."""


class CrossGroup(Protocol):
    """Slot `cross_group`: how do two groups commit one operation?"""

    @property
    def drains(self) -> bool:
        """Whether operations on several groups are not to be begun just now."""

    def begin(self, op_id: OpId, lowest_open: int, plan: Split | Look, moves: int) -> None:
        """Runs an operation that was planned; ends with `answer` or `again`."""

    def on_message(self, peer: str, message: Message) -> None: ...

    def resume(self) -> None:
        """The tenure serves: whatever is open is taken up where the records left it."""
