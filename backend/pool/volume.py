"""The storage pool of each replica group as events tell it (VSSP §III.B): files by pool nodes, who agrees, what is being repaired. Pure."""

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
    source: str = ""
    """Whose replica it is repaired from."""
    began: int = 0
    """Where that began: what lies before was good."""
    offset: int = 0


class Renewal(msgspec.Struct):
    phase: str
    sn: int
    goal_sn: int


class Node(msgspec.Struct):
    name: str
    told_ns: int = 0
    """When its last report came; 0 when none has."""
    files: int = 0
    octets: int = 0
    refused: str = ""
    """Why its last report was not believed."""
    renewal: Renewal | None = None
    struck: str = ""
    """The kind of file that a person has damaged here, while no report or start has come since."""


class Image(msgspec.Struct):
    name: str
    sn: int = 0
    octets: int = 0
    partitions: int = 0
    writer: str = ""
    """Empty when it was not seen being written."""
    took_ms: int = 0
    whole: list[str] = []
    """Nodes where it counts."""
    refused: dict[str, str] = {}
    """Nodes that found it damaged, and why."""


class Pool(msgspec.Struct):
    """Of one replica group."""

    group: str
    nodes: dict[str, Node] = {}
    images: dict[str, Image] = {}
    files: dict[str, dict[str, Replica]] = {}
    """Replicas by file and node."""

    def replica(self, file: str, node: str) -> Replica | None:
        return self.files.get(file, {}).get(node)

    def of_image(self, image: str, node: str) -> list[Replica]:
        prefix = f"image/{image}."
        return [held[node] for file, held in self.files.items() if file.startswith(prefix) and node in held]


class Pools:
    """`homes`: the group of each server. Events of others are passed over."""

    def __init__(self, homes: dict[str, str]):
        self._homes = homes
        self.groups = {group: Pool(group) for group in dict.fromkeys(homes.values())}
        for name, group in homes.items():
            self.groups[group].nodes[name] = Node(name)

    def see(self, stamped: Stamped) -> None:
        if isinstance(stamped.event, FaultInjected):
            self._struck(stamped.event)
            return
        group = self._homes.get(stamped.server)
        step = STEPS.get(type(stamped.event))
        if group is not None and step is not None:
            step(self.groups[group], stamped, stamped.event)

    def _struck(self, event: FaultInjected) -> None:
        for name in event.targets if event.verb == "corrupt" else ():
            if name in self._homes:
                what = str(event.options.get("what", JOURNAL)).partition("_")[0]
                self.groups[self._homes[name]].nodes[name].struck = what


def on_report(pool: Pool, stamped: Stamped, event: PoolReported) -> None:
    """What the node has now takes the place of what was known of it, findings included."""
    node = pool.nodes.setdefault(event.node, Node(event.node))
    node.told_ns, node.files, node.octets = stamped.at_ns, event.files, event.octets
    node.refused = node.struck = ""
    for held in pool.files.values():
        held.pop(event.node, None)
    for each in event.held:
        pool.files.setdefault(each.name, {})[event.node] = Replica(
            each.size, each.valid, each.checksum, each.epoch, each.first_sn, each.last_sn
        )
        if each.name.startswith("image/"):
            name = image_name(each.name)
            pool.images.setdefault(name, Image(name)).sn = each.last_sn
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
    """Files and images that nobody has any more are forgotten."""
    pool.files = {file: held for file, held in pool.files.items() if held}
    named = {image_name(file) for file in pool.files}
    pool.images = {
        name: image for name, image in pool.images.items() if name in named or image.whole or image.refused
    }


def on_report_refused(pool: Pool, stamped: Stamped, event: ReportRefused) -> None:
    pool.nodes.setdefault(event.node, Node(event.node)).refused = event.reason


def on_disagree(pool: Pool, stamped: Stamped, event: ReplicasDisagree) -> None:
    found = pool.files.setdefault(event.file, {}).setdefault(event.node, Replica(0, 0, 0, 0, 0, -1))
    journal = event.file == JOURNAL
    state: State = "damaged"
    if not event.remedy:
        state = "disputed"
    elif journal and event.remedy == "recover":
        state = "behind"
    found.state, found.reason = state, event.reason


def on_repairing(pool: Pool, stamped: Stamped, event: Repairing) -> None:
    found = pool.files.setdefault(f"image/{event.file}", {}).setdefault(
        stamped.server, Replica(0, 0, 0, 0, 0, -1)
    )
    found.source, found.began, found.offset = event.source, event.began, event.offset
    found.size, found.valid = event.size, event.offset
    found.state = "repaired" if event.offset >= event.size else "repairing"


def on_written(pool: Pool, stamped: Stamped, event: ImageWritten) -> None:
    image = image_of(pool, event.image, event.sn, event.octets, event.partitions)
    image.writer, image.took_ms = stamped.server, event.took_ms
    image.whole = sorted({*image.whole, *event.holders})
    for node in event.holders:
        image.refused.pop(node, None)


def on_shelved(pool: Pool, stamped: Stamped, event: ImageShelved) -> None:
    """Nothing of it is damaged here any more."""
    image = image_of(pool, event.image, event.sn, event.octets, event.partitions)
    image.whole = sorted({*image.whole, stamped.server})
    image.refused.pop(stamped.server, None)
    for replica in pool.of_image(event.image, stamped.server):
        if replica.state not in ("agrees", "repaired"):
            replica.state, replica.valid = "repaired", replica.size


def image_of(pool: Pool, name: str, sn: int, octets: int, partitions: int) -> Image:
    image = pool.images.setdefault(name, Image(name))
    image.sn, image.octets, image.partitions = sn, octets, partitions
    return image


def on_refused(pool: Pool, stamped: Stamped, event: ImageRefused) -> None:
    image = pool.images.setdefault(event.image, Image(event.image))
    image.refused[stamped.server] = event.reason
    if stamped.server in image.whole:
        image.whole.remove(stamped.server)
    pool.nodes.setdefault(stamped.server, Node(stamped.server)).struck = ""


def on_pruned(pool: Pool, stamped: Stamped, event: JournalPruned) -> None:
    found = pool.replica(JOURNAL, stamped.server)
    if found is not None:
        found.first_sn = event.first_sn


def on_journal_corrupt(pool: Pool, stamped: Stamped, event: JournalCorrupt) -> None:
    held = pool.files.setdefault(JOURNAL, {})
    found = held.setdefault(stamped.server, Replica(0, 0, 0, 0, 0, -1))
    found.state, found.valid = "damaged", event.offset
    found.reason = f"{event.file}, octet {event.offset}, sn {event.sn}: {event.reason}"
    pool.nodes.setdefault(stamped.server, Node(stamped.server)).struck = ""


def on_renewing(pool: Pool, stamped: Stamped, event: Renewing) -> None:
    node = pool.nodes.setdefault(stamped.server, Node(stamped.server))
    node.renewal = Renewal(event.phase, event.sn, event.goal_sn)


def on_role(pool: Pool, stamped: Stamped, event: RoleChanged) -> None:
    """A junior that has become something else is renewed."""
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
    """After these events, which are in order."""
    found = Pools(homes)
    for stamped in events:
        found.see(stamped)
    return list(found.groups.values())
