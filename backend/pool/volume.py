"""The storage pool of each replica group, reduced from events (VSSP §III.B): files by pool node, nodes that agree, repairs in progress. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from nodes.trace.base import Event
from nodes.trace.events import FaultInjected, JournalCorrupt, Renewing, RoleChanged, Stamped
from nodes.trace.pool_events import (
    ImageRefused,
    ImageShelved,
    ImageWritten,
    JournalPruned,
    PoolReported,
    Repairing,
    ReplicasDisagree,
    ReportRefused,
)

JOURNAL = "journal"
State = Literal["agrees", "behind", "damaged", "disputed", "repairing", "repaired"]


class Replica(msgspec.Struct):
    """One file on one pool node."""

    size: int
    valid: int
    checksum: int
    epoch: int
    first_sn: int
    last_sn: int
    state: State = "agrees"
    reason: str = ""
    """Why it is not believed."""
    behind_by: int = 0
    """Journal groups that it lacks at the end; 0 where that is not known."""
    source: str = ""
    """Node whose replica is the source of the repair."""
    began: int = 0
    """Offset where the repair begins; the replica is good before it."""
    offset: int = 0


class Renewal(msgspec.Struct):
    phase: str
    sn: int
    goal_sn: int


class PoolNode(msgspec.Struct):
    name: str
    reported_ns: int = 0
    """Time of the node's last report; 0 without a report."""
    files: int = 0
    size: int = 0
    refused: str = ""
    """Reason why the node's last report was rejected."""
    renewal: Renewal | None = None
    faulted: str = ""
    """Kind of file that a corrupt fault has damaged here, with no report or start of the node since."""


class PoolImage(msgspec.Struct):
    name: str
    sn: int = 0
    size: int = 0
    partitions: int = 0
    writer: str = ""
    """Node that wrote the file; empty when no event showed the write."""
    took_ms: int = 0
    whole: list[str] = []
    """Nodes whose replica counts."""
    refused: dict[str, str] = {}
    """Nodes that found their replica damaged, with the reason."""


class Pool(msgspec.Struct):
    """The storage pool of one replica group."""

    group: str
    nodes: dict[str, PoolNode] = {}
    images: dict[str, PoolImage] = {}
    files: dict[str, dict[str, Replica]] = {}
    """Replicas by file and node."""

    def replica(self, file: str, node: str) -> Replica | None:
        return self.files.get(file, {}).get(node)

    def of_image(self, image: str, node: str) -> list[Replica]:
        prefix = f"image/{image}."
        return [held[node] for file, held in self.files.items() if file.startswith(prefix) and node in held]


class Pools:
    """Reducer of the pools; `homes` is the group of each server. Events of unknown servers are ignored."""

    def __init__(self, homes: dict[str, str]):
        self._homes = homes
        self.groups = {group: Pool(group) for group in dict.fromkeys(homes.values())}
        for name, group in homes.items():
            self.groups[group].nodes[name] = PoolNode(name)

    def see(self, stamped: Stamped) -> None:
        if isinstance(stamped.event, FaultInjected):
            self._faulted(stamped.event)
            return
        group = self._homes.get(stamped.server)
        step = STEPS.get(type(stamped.event))
        if group is not None and step is not None:
            step(self.groups[group], stamped, stamped.event)

    def _faulted(self, event: FaultInjected) -> None:
        for name in event.targets if event.verb == "corrupt" else ():
            if name in self._homes:
                what = str(event.options.get("what", JOURNAL)).partition("_")[0]
                self.groups[self._homes[name]].nodes[name].faulted = what


def on_report(pool: Pool, stamped: Stamped, event: PoolReported) -> None:
    """What the node has now takes the place of what was known of it, findings included."""
    node = pool.nodes.setdefault(event.node, PoolNode(event.node))
    node.reported_ns, node.files, node.size = stamped.at_ns, event.files, event.size
    node.refused = node.faulted = ""
    for held in pool.files.values():
        held.pop(event.node, None)
    for each in event.held:
        pool.files.setdefault(each.name, {})[event.node] = Replica(
            each.size, each.valid, each.checksum, each.epoch, each.first_sn, each.last_sn
        )
        if each.name.startswith("image/"):
            name = image_name(each.name)
            pool.images.setdefault(name, PoolImage(name)).sn = each.last_sn
    for image in pool.images.values():
        parts = pool.of_image(image.name, event.node)
        manifest = pool.replica(f"image/{image.name}.manifest", event.node)
        whole = manifest is not None and all(each.valid == each.size for each in parts)
        image.whole = sorted({*image.whole, event.node} if whole else {*image.whole} - {event.node})
        if whole:
            image.refused.pop(event.node, None)
    tidy(pool)


def image_name(file: str) -> str:
    return file.removeprefix("image/").rpartition(".")[0]


def tidy(pool: Pool) -> None:
    """Drops files and images that no node has any more."""
    pool.files = {file: held for file, held in pool.files.items() if held}
    named = {image_name(file) for file in pool.files}
    pool.images = {
        name: image for name, image in pool.images.items() if name in named or image.whole or image.refused
    }


def on_report_refused(pool: Pool, stamped: Stamped, event: ReportRefused) -> None:
    pool.nodes.setdefault(event.node, PoolNode(event.node)).refused = event.reason


def on_disagree(pool: Pool, stamped: Stamped, event: ReplicasDisagree) -> None:
    found = pool.files.setdefault(event.file, {}).setdefault(event.node, Replica(0, 0, 0, 0, 0, -1))
    journal = event.file == JOURNAL
    state: State = "damaged"
    if not event.remedy:
        state = "disputed"
    elif journal and event.remedy == "recover":
        state = "behind"
    found.state, found.reason, found.behind_by = state, event.reason, event.behind_by


def on_repairing(pool: Pool, stamped: Stamped, event: Repairing) -> None:
    found = pool.files.setdefault(f"image/{event.file}", {}).setdefault(
        stamped.server, Replica(0, 0, 0, 0, 0, -1)
    )
    found.source, found.began, found.offset = event.source, event.began, event.offset
    found.size, found.valid = event.size, event.offset
    found.state = "repaired" if event.offset >= event.size else "repairing"


def on_written(pool: Pool, stamped: Stamped, event: ImageWritten) -> None:
    image = image_of(pool, event.image, event.sn, event.size, event.partitions)
    image.writer, image.took_ms = stamped.server, event.took_ms
    image.whole = sorted({*image.whole, *event.holders})
    for node in event.holders:
        image.refused.pop(node, None)


def on_shelved(pool: Pool, stamped: Stamped, event: ImageShelved) -> None:
    """Clears the damage of the image at this node."""
    image = image_of(pool, event.image, event.sn, event.size, event.partitions)
    image.whole = sorted({*image.whole, stamped.server})
    image.refused.pop(stamped.server, None)
    for replica in pool.of_image(event.image, stamped.server):
        if replica.state not in ("agrees", "repaired"):
            replica.state, replica.valid = "repaired", replica.size


def image_of(pool: Pool, name: str, sn: int, size: int, partitions: int) -> PoolImage:
    image = pool.images.setdefault(name, PoolImage(name))
    image.sn, image.size, image.partitions = sn, size, partitions
    return image


def on_refused(pool: Pool, stamped: Stamped, event: ImageRefused) -> None:
    image = pool.images.setdefault(event.image, PoolImage(event.image))
    image.refused[stamped.server] = event.reason
    if stamped.server in image.whole:
        image.whole.remove(stamped.server)
    pool.nodes.setdefault(stamped.server, PoolNode(stamped.server)).faulted = ""


def on_pruned(pool: Pool, stamped: Stamped, event: JournalPruned) -> None:
    found = pool.replica(JOURNAL, stamped.server)
    if found is not None:
        found.first_sn = event.first_sn


def on_journal_corrupt(pool: Pool, stamped: Stamped, event: JournalCorrupt) -> None:
    held = pool.files.setdefault(JOURNAL, {})
    found = held.setdefault(stamped.server, Replica(0, 0, 0, 0, 0, -1))
    found.state, found.valid = "damaged", event.offset
    found.reason = f"{event.file}, byte {event.offset}, sn {event.sn}: {event.reason}"
    pool.nodes.setdefault(stamped.server, PoolNode(stamped.server)).faulted = ""


def on_renewing(pool: Pool, stamped: Stamped, event: Renewing) -> None:
    node = pool.nodes.setdefault(stamped.server, PoolNode(stamped.server))
    node.renewal = Renewal(event.phase, event.sn, event.goal_sn)


def on_role(pool: Pool, stamped: Stamped, event: RoleChanged) -> None:
    """A junior that changes its role has been renewed."""
    if event.role != "junior" and stamped.server in pool.nodes:
        pool.nodes[stamped.server].renewal = None


STEPS: dict[type[Event], Callable[[Pool, Stamped, Any], None]] = {
    PoolReported: on_report, ReportRefused: on_report_refused, ReplicasDisagree: on_disagree,
    Repairing: on_repairing, ImageWritten: on_written, ImageShelved: on_shelved, ImageRefused: on_refused,
    JournalPruned: on_pruned, JournalCorrupt: on_journal_corrupt, Renewing: on_renewing, RoleChanged: on_role,
}  # fmt: skip
KINDS = (*(kind.__name__ for kind in STEPS), FaultInjected.__name__)
"""The events that change a pool."""


def pools(homes: dict[str, str], events: Iterable[Stamped]) -> list[Pool]:
    """The pools after these events, which are in order."""
    found = Pools(homes)
    for stamped in events:
        found.see(stamped)
    return list(found.groups.values())
