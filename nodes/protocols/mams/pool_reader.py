"""The junior's side of renewing (CFS §4.2.3): reads image and journal from the pool, then registers again."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata.namespace import Namespace
from nodes.metadata_server.replica import Replica, empty_namespace, keep_aside
from nodes.protocols.mams.messages import FetchGroups, Groups, Prepare, Renew, Renewed
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.replicas.log import NOTHING, decode_group
from nodes.trace.events import Cut, Renewing
from nodes.wire.messages import Mark

FETCH_NS = 1_000 * MILLISECOND
TRIES = 5


async def read_from_pool(replica: Replica, pool: PoolJournal, active: str, renew: Renew) -> None:
    """Runs one renewing session and reports progress and outcome to the active."""

    def report(phase: str) -> None:
        replica.world.trace.emit(Renewing(phase, replica.log.last.sn, renew.goal_sn))
        replica.world.network.send(active, Renewed(renew.epoch, phase, replica.log.last))

    keep_sn = max(renew.keep_sn, pool.spared_sn(renew.epoch))
    if renew.image:
        report("image")
        keep_sn = await _read_image(replica, pool, renew, lambda: report("image"))
    elif renew.anew and keep_sn < replica.log.base.sn:
        empty = empty_namespace(replica.config, replica.group)
        keep_sn = await _begin_from(replica, pool, renew, empty, NOTHING)
    if keep_sn < replica.log.base.sn:
        report("failed")
        return
    await pool.cut(keep_sn, "the active's journal does not have what follows", renew.epoch)
    report("done" if await _read_journal(replica, pool, renew, report) else "failed")


async def _read_image(replica: Replica, pool: PoolJournal, renew: Renew, progress: Callable[[], None]) -> int:
    """Reads an image. Returns the sn up to which the journal is then known to be good; -1 when no source has an image, or the session is over."""
    read = await replica.images.read(renew.sources, progress, renew.image_sn)
    return -1 if read is None else await _begin_from(replica, pool, renew, *read)


async def _begin_from(
    replica: Replica, pool: PoolJournal, renew: Renew, namespace: Namespace, mark: Mark
) -> int:
    """Begins from a namespace, unless the journal is good so far. Returns the sn up to which it is; -1 when the session is over."""
    for aside in (False, True):
        # During each wait the active may have sent groups, or another one was elected.
        if pool.promised > renew.epoch:
            return -1
        keep_sn = max(renew.keep_sn, pool.spared_sn(renew.epoch))
        if mark.sn < keep_sn or replica.log.holds(mark):
            return max(mark.sn, keep_sn)
        if not aside:
            await keep_aside(replica, mark.sn)
    if mark == NOTHING:
        replica.world.trace.emit(Cut(0, "the active's journal has nothing in common with this one"))
    # The namespace first: groups that come during the wait follow the image, and a session that ends then leaves both equal.
    replica.state.restart(namespace, mark.sn)
    await replica.log.restart_at(mark)
    if mark != NOTHING:  # Behind a sync of before, which ends only now.
        replica.world.trace.emit(Renewing("image", mark.sn, renew.goal_sn))
    return mark.sn


def _follow_on(replica: Replica, previous: Mark, groups: list[bytes]) -> bool:
    """Whether the first of these groups was written directly after `previous`: this journal may have changed since it was registered."""
    if not groups or replica.config.cluster.holes.sn_without_epoch:
        return bool(groups)
    try:
        return decode_group(groups[0]).previous == previous
    except msgspec.DecodeError:
        return False


async def _read_journal(
    replica: Replica, pool: PoolJournal, renew: Renew, report: Callable[[str], None]
) -> bool:
    """Reads committed groups up to the goal; False when the sources send none after several tries."""
    failures = 0
    while replica.log.last.sn < renew.goal_sn:
        if pool.promised > renew.epoch:
            return False
        previous = replica.log.last
        question = FetchGroups(0, 0, previous.sn + 1, renew.goal_sn)
        source = renew.sources[failures % len(renew.sources)]
        reply = await replica.calls.ask(source, question, FETCH_NS)
        if not isinstance(reply, Groups) or not _follow_on(replica, previous, reply.groups):
            failures += 1
            if failures == TRIES * len(renew.sources):
                return False
            continue
        await pool.adopt(Prepare(renew.epoch, previous.sn + len(reply.groups), previous, reply.groups))
        report("journal")
    return True
