"""The junior's side of renewing (CFS §4.2.3): reads image and journal from the pool, then registers again."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica, keep_aside
from nodes.protocols.mams.messages import FetchGroups, Groups, Prepare, Renew, Renewed
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.trace.events import Renewing

FETCH_NS = 1_000 * MILLISECOND
TRIES = 5


async def read_from_pool(replica: Replica, pool: PoolJournal, active: str, renew: Renew) -> None:
    """Runs one renewing session and reports progress and outcome to the active."""

    def report(phase: str) -> None:
        replica.world.trace.emit(Renewing(phase, replica.log.last.sn, renew.goal_sn))
        replica.world.network.send(active, Renewed(renew.epoch, phase, replica.log.last))

    keep_sn = known_good_sn(replica, renew)
    if renew.image:
        report("image")
        keep_sn = await _read_image(replica, renew, keep_sn, lambda: report("image"))
    if keep_sn < replica.log.base.sn:
        report("failed")
        return
    await pool.cut(keep_sn, "the active's journal does not have what follows")
    report("done" if await _read_journal(replica, pool, renew, report) else "failed")


def known_good_sn(replica: Replica, renew: Renew) -> int:
    """The sn up to which the journal equals the active's. The active counts from a registration, which may be older than groups that this server
    has acknowledged since; a journal that ends in the active's own epoch is all of it from the active."""
    last = replica.log.last
    return max(renew.keep_sn, last.sn) if last.epoch == renew.epoch else renew.keep_sn


async def _read_image(replica: Replica, renew: Renew, keep_sn: int, progress: Callable[[], None]) -> int:
    """Reads an image. Returns the sn up to which the journal is then known to be good; -1 when no source has an image."""
    read = await replica.images.read(renew.sources, progress, renew.image_sn)
    if read is None:
        return -1
    namespace, mark = read
    # The image may have come while the active sent groups.
    keep_sn = max(keep_sn, known_good_sn(replica, renew))
    if mark.sn <= keep_sn or replica.log.holds(mark):
        return max(mark.sn, keep_sn)
    await keep_aside(replica, mark.sn)
    await replica.log.restart_at(mark)
    replica.state.restart(namespace, mark.sn)
    return mark.sn


async def _read_journal(
    replica: Replica, pool: PoolJournal, renew: Renew, report: Callable[[str], None]
) -> bool:
    """Reads committed groups up to the goal; False when the sources send none after several tries."""
    failures = 0
    while replica.log.last.sn < renew.goal_sn:
        previous = replica.log.last
        question = FetchGroups(0, 0, previous.sn + 1, renew.goal_sn)
        source = renew.sources[failures % len(renew.sources)]
        reply = await replica.calls.ask(source, question, FETCH_NS)
        if not isinstance(reply, Groups) or not reply.groups:
            failures += 1
            if failures == TRIES * len(renew.sources):
                return False
            continue
        await pool.adopt(Prepare(renew.epoch, previous.sn + len(reply.groups), previous, reply.groups))
        report("journal")
    return True
