"""Rollback of one server into the cluster's new incarnation: at once, or when the server returns after a long sleep (safety rule 14)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nodes.metadata.namespace import Namespace
from nodes.metadata_server.checkpoints.incarnation import (
    JournalOrigin,
    aside,
    store_origin,
)
from nodes.metadata_server.checkpoints.ledger import Barrier, Incarnation
from nodes.metadata_server.replica import GroupReplica, Replica, empty_namespace
from nodes.replicas.journal_quarantine import set_groups_aside
from nodes.replicas.log import NOTHING
from nodes.replicas.view import OneShotWatch
from nodes.slots import GroupLog
from nodes.trace.checkpoints import TakenBack
from nodes.wire.data_messages import Void
from nodes.wire.messages import Mark


class Incarnations:
    """Follows the cluster's incarnation as the coordination service records it."""

    def __init__(
        self,
        replica: Replica,
        promise: Callable[[int], Awaitable[None]],
        changed: Callable[[], None],
        stop_reading: Callable[[], None],
        went_back: Callable[[], None],
    ):
        self._replica = replica
        self._promise = promise
        self._stop_reading = stop_reading
        """Ends all other procedures that alter journal or namespace."""
        self._went_back = went_back
        """Discards what this server received about the state that is rolled back; it must be received again."""
        self.watch = OneShotWatch(changed)
        self._going: asyncio.Task[None] | None = None
        """The running rollback. It continues when the session ends, so that journal and namespace are not left between two incarnations."""

    async def keep_up(self) -> None:
        """Rolls back with the cluster, and reads which checkpoints are kept. Raises CoordinationError, Damaged, OSError."""
        replica, ledger = self._replica, self._replica.ledger
        incarnation, version = await ledger.incarnation(self.watch)
        while incarnation.number > replica.origin.incarnation:
            if self._going is None or self._going.done():
                self._stop_reading()
                self._going = replica.world.scope.spawn(
                    go_back(replica, self._promise, incarnation), "going back"
                )
            await asyncio.shield(self._going)
            self._went_back()
        await _live_in(replica, incarnation, version)


async def _live_in(replica: GroupReplica[GroupLog], incarnation: Incarnation, version: int) -> None:
    replica.void = Void(incarnation.number, incarnation.void.get(replica.group.name, []))
    replica.view.incarnation_version = version
    await replica.pins.keep_up(replica.ledger)


class RecordedIncarnations:
    """Follows the incarnation in a family whose journal is never cut: the next leader records the rollback in it, and every server applies it there.

    `origin` of the replica is the barrier of the newest recovery, also while the record is still missing.
    """

    def __init__(self, replica: GroupReplica[GroupLog], changed: Callable[[], None]):
        self._replica = replica
        self.watch = OneShotWatch(changed)

    async def keep_up(self) -> None:
        """Reads the newest recovery, and which checkpoints are kept. Raises CoordinationError."""
        replica = self._replica
        incarnation, version = await replica.ledger.incarnation(self.watch)
        barrier = incarnation.barriers.get(replica.group.name)
        mark = NOTHING if barrier is None else barrier.mark
        replica.origin = JournalOrigin(incarnation.number, incarnation.checkpoint, mark)
        await _live_in(replica, incarnation, version)


async def go_back(
    replica: Replica, promise: Callable[[int], Awaitable[None]], incarnation: Incarnation
) -> None:
    """Ends with journal, namespace and images at the barrier. The server serves no client meanwhile. Raises OSError."""
    group, disk = replica.group.name, replica.world.disk
    await promise(incarnation.epochs[group])
    barrier = incarnation.barriers[group]
    started = at_barrier(replica, barrier)
    keeps = barrier.mark.sn if started is not None else 0
    groups, operations = await set_groups_aside(replica.world, replica.log, keeps, aside(incarnation.number))
    kept = f"{aside(incarnation.number)}/image"
    steps: list[Callable[[], Awaitable[None]]] = [
        lambda: replica.images.set_aside(incarnation.number, keeps, kept),
        lambda: cut_to(replica, keeps, started),
    ]
    if started is None or replica.config.cluster.mutations.journal_cut_before_images:
        steps.reverse()
    for step in steps:
        # Images go first: after a power failure, an image beyond the barrier would replace a journal that is already cut.
        await step()
    if not replica.config.cluster.mutations.images_barred_for_good:
        # An empty server is given an image at or below the barrier, which is of an earlier incarnation and counts.
        replica.images.bar(incarnation.number, barrier.mark.sn)
    last = replica.log.last
    # Emitted before it is durable: after a crash in between, the server rolls back and reports again. A later report could be lost.
    replica.world.trace.emit(
        TakenBack(
            group, incarnation.number, incarnation.checkpoint, incarnation.epochs[group], last.sn, last.crc,
            replica.state.namespace.digest, groups, operations,
        )
    )  # fmt: skip
    origin = JournalOrigin(incarnation.number, incarnation.checkpoint, barrier.mark, groups, operations)
    await store_origin(disk, origin)
    replica.origin = origin


async def cut_to(replica: Replica, sn: int, started: tuple[Namespace, Mark] | None) -> None:
    """Cuts journal and namespace at sn, or empties both when no image or journal can restore the namespace. Raises OSError."""
    if started is None:
        await replica.log.restart_at(NOTHING)
        replica.state.restart(empty_namespace(replica.config, replica.group), 0)
    else:
        await replica.log.cut(sn)
        replay(replica, *started)


def at_barrier(replica: Replica, barrier: Barrier) -> tuple[Namespace, Mark] | None:
    """The namespace from which the state at the barrier can be restored, with its mark; None when image or journal do not reach back so far."""
    log = replica.log
    if not log.holds(barrier.mark):
        return None
    stored = replica.images.newest(lambda mark: mark.sn <= barrier.mark.sn and log.holds(mark))
    if stored is None and log.base.sn == 0:
        return empty_namespace(replica.config, replica.group), NOTHING
    return stored


def replay(replica: Replica, namespace: Namespace, image: Mark) -> None:
    """Applies the rest of the journal, all of which is committed."""
    state = replica.state
    state.restart(namespace, image.sn)
    for group in replica.log.groups(image.sn + 1):
        state.prepared(group)
    state.commit(replica.log.last.sn)
