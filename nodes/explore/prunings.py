"""Images are taken as the log grows, and journals are pruned as images come: a server whose journal begins behind every checkpoint needs its groups
for none of them (safety rule 14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nodes.config import SECOND, ClusterConfig
from nodes.explore.audit import Audited, nudge
from nodes.explore.prober import Prober
from nodes.families import family_named
from nodes.roles import IN_STEP
from nodes.trace.checkpoints import BarrierWritten
from nodes.trace.events import Committed, JournalOpened, Stamped
from nodes.trace.pool_events import ImageWritten, JournalPruned

SEGMENT_BYTES = 1_000
IMAGE_EVERY = 5
"""Only in trials with segments and intervals at most so large does every journal shrink within some rounds of writes."""
ROUNDS = 20
"""More than enough for several images, of which none prunes anything for five seconds after a server was renewed."""


def shrinks_soon(config: ClusterConfig) -> bool:
    """Whether every journal of this cluster is pruned within some rounds of writes."""
    small = 0 < config.knobs.segment_bytes <= SEGMENT_BYTES and 0 < config.image_every <= IMAGE_EVERY
    return small and family_named(config.protocol).cuts_journal


def takes_images(config: ClusterConfig) -> bool:
    """Whether groups take images within some rounds of writes."""
    return 0 < config.image_every <= IMAGE_EVERY


def check_images(trial: Audited, events: Sequence[Stamped]) -> None:
    """Writes until some server of each group has taken an image. A server that is alone takes none before its log is full."""
    cluster = trial.cluster
    groups = {
        name: server.group for name, server in cluster.servers.items() if cluster.places.get(name) in IN_STEP
    }
    together = Counter(groups.values())
    late, seen = {group for group, size in together.items() if size > 1}, len(events)
    if not late:
        return
    prober = Prober(cluster, "prober-images")
    for number in range(ROUNDS):
        prober.run(nudge(prober, number))
        cluster.run_for(SECOND)
        late -= {groups.get(each.server, "") for each in events[seen:] if type(each.event) is ImageWritten}
        if not late:
            break
    prober.client.die()
    for group in sorted(late):
        if growth_of(group, events[seen:]) > 2 * IMAGE_EVERY:
            trial.fail("service", "no image", f"{group} takes no image, though its log grows")


def growth_of(group: str, events: Sequence[Stamped]) -> int:
    """Number of journal groups that were committed in these events. A placement may leave a group without any."""
    sns = [each.event.sn for each in events if type(each.event) is Committed and each.event.group == group]
    return max(sns, default=0) - min(sns, default=0)


def behind_barriers(events: Sequence[Stamped], groups: dict[str, str]) -> list[str]:
    """Servers whose journal began, when they were started last, behind each barrier of their group. `groups`: by server."""
    barriers: dict[str, int] = {}
    first: dict[str, int] = {}
    for each in events:
        event = each.event
        if type(event) is BarrierWritten:
            barriers[event.group] = max(event.sn, barriers.get(event.group, 0))
        elif type(event) is JournalOpened:
            first[each.server] = event.first_sn
    return [
        name
        for name, group in groups.items()
        if group in barriers and first.get(name, 0) - 1 > barriers[group]
    ]


def check_prunes(trial: Audited, events: Sequence[Stamped]) -> None:
    """Writes until each of these servers has pruned its journal since it was started."""
    cluster = trial.cluster
    groups = {name: server.group for name, server in cluster.servers.items() if server.process == "running"}
    late = set(behind_barriers(events, groups))
    seen = len(events)
    prober = Prober(cluster, "prober-pruned") if late else None
    for number in range(ROUNDS):
        late -= {each.server for each in events[seen:] if type(each.event) is JournalPruned}
        if prober is None or not late:
            break
        prober.run(nudge(prober, number))
        cluster.run_for(SECOND)
    if prober is not None:
        prober.client.die()
    for name in sorted(late):
        trial.fail(
            "journal", "not pruned", f"{name} prunes nothing, though its journal leads to no checkpoint"
        )
        return
