"""The namespace at a checkpoint, rebuilt beside the present one for a reader from outside, page by page. Reading it changes nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from nodes.config import SECOND
from nodes.metadata.namespace import Namespace
from nodes.metadata.tree_reader import attributes
from nodes.metadata_server.checkpoints.ledger import COMPLETE, Checkpoint, LedgerRefused
from nodes.metadata_server.replica import GroupReplica
from nodes.slots import GroupLog

NAMES_MAX = 500
"""Most names, objects or blocks in an answer, which stays below a megabyte."""
KEPT_NS = 30 * SECOND
"""Time after the last question for which a rebuilt namespace stays in memory."""

Answer = dict[str, Any]
Read = Callable[[Namespace, Answer], Answer]


class BarrierPlace(NamedTuple):
    """A checkpoint, and the place of its barrier in the journal of this group."""

    name: str
    sn: int
    epoch: int


NO_BARRIER = BarrierPlace("", 0, 0)


class CheckpointStates:
    """One rebuilt namespace at a time. Every server that has the barrier rebuilds the same one, so the pages of a reading may come from several."""

    def __init__(self, replica: GroupReplica[GroupLog]):
        self._replica = replica
        self._barrier = NO_BARRIER
        """The barrier whose namespace is in memory."""
        self._namespace: Namespace | None = None
        self._used_ns = 0
        self._names: tuple[int, list[str]] = 0, []
        """The sorted names of the directory that was read last."""

    def steps(self) -> dict[str, Callable[[Answer], Awaitable[Answer]]]:
        """The step of each question. All name the checkpoint, and `sn` and `epoch` of its barrier in this group, because the name may be used again.

        They raise Refused, CoordinationError, OSError.
        """
        reads: dict[str, Read] = {
            "checkpoint_names": self._read_names,
            "checkpoint_objects": read_objects,
            "checkpoint_blocks": read_blocks,
        }
        return {word: self._reading(read) for word, read in reads.items()}

    def _reading(self, read: Read) -> Callable[[Answer], Awaitable[Answer]]:
        async def answer(question: Answer) -> Answer:
            wanted = BarrierPlace(str(question["name"]), int(question["sn"]), int(question["epoch"]))
            return read(await self._at(wanted), question)

        return answer

    async def _at(self, wanted: BarrierPlace) -> Namespace:
        """The namespace at a barrier. It is rebuilt without a pause: a standby is the better one to ask."""
        replica = self._replica
        checkpoint = None if self._barrier == wanted else await replica.ledger.find(wanted.name)
        if self._namespace is None or self._barrier != wanted:
            self._keep(wanted, self._rebuilt(wanted, checkpoint))
        self._used_ns = replica.world.clock.monotonic_ns()
        assert self._namespace is not None
        return self._namespace

    def _rebuilt(self, wanted: BarrierPlace, checkpoint: Checkpoint | None) -> Namespace:
        replica = self._replica
        if checkpoint is None or checkpoint.state != COMPLETE:
            raise LedgerRefused(f"checkpoint {wanted.name} is not complete any more")
        barrier = checkpoint.barriers[replica.group.name]
        if (barrier.mark.sn, barrier.mark.epoch) != (wanted.sn, wanted.epoch):
            raise LedgerRefused(f"another checkpoint has the name {wanted.name} now")
        namespace = replica.history.state_at(barrier.mark.sn) if replica.log.holds(barrier.mark) else None
        if namespace is None:
            raise LedgerRefused(f"no image or journal here leads to checkpoint {wanted.name}")
        if f"{namespace.digest:016x}" != barrier.digest:
            raise LedgerRefused(
                f"image and journal here lead to another digest than that of checkpoint {wanted.name}"
            )
        return namespace

    def _keep(self, wanted: BarrierPlace, namespace: Namespace) -> None:
        idle = self._namespace is None
        self._barrier, self._namespace, self._names = wanted, namespace, (0, [])
        if idle:
            self._replica.world.scope.spawn(self._forget(), "state of a checkpoint")

    async def _forget(self) -> None:
        clock = self._replica.world.clock
        while (left_ns := self._used_ns + KEPT_NS - clock.monotonic_ns()) > 0:
            await clock.sleep(left_ns)
        self._barrier, self._namespace, self._names = NO_BARRIER, None, (0, [])

    def _read_names(self, namespace: Namespace, question: Answer) -> Answer:
        """Names of the directory `inode` after `after`, each with its child."""
        inode = int(question["inode"])
        entries = namespace.tree.inodes[inode].entries or {}
        if self._names[0] != inode:
            self._names = inode, sorted(entries)
        names = self._names[1]
        begin = bisect_right(names, str(question["after"]))
        page = names[begin : begin + NAMES_MAX]
        return {"names": [[name, entries[name]] for name in page], "more": begin + NAMES_MAX < len(names)}


def read_objects(namespace: Namespace, question: Answer) -> Answer:
    """The attributes of `inodes`, at most `NAMES_MAX`, in their order."""
    found = [attributes(namespace.tree.inodes[int(each)]) for each in question["inodes"][:NAMES_MAX]]
    return {"objects": [msgspec.structs.asdict(each) for each in found]}


def read_blocks(namespace: Namespace, question: Answer) -> Answer:
    """The finished blocks of the file `inode` from position `first` on."""
    body, first = namespace.tree.bodies.get(int(question["inode"])), int(question["first"])
    if body is None:
        return {"block_size": 0, "blocks": [], "more": False}
    page = body.blocks[first : first + NAMES_MAX]
    return {
        "block_size": body.block_size,
        "blocks": [[each.number, each.stamp, each.length] for each in page if each.length],
        "more": first + NAMES_MAX < len(body.blocks),
    }
