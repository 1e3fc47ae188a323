"""The logical volume (VSSP §III.B, Fig. 3): a tree from directories to files to their replicas, merged from reports and never persisted. Pure.

Replicas are ranked by (incarnation, epoch, last valid sn); checksums vote only over the same sn range, and a valid longer journal is never
removed or cut by a vote (safety rule 18).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from nodes.errors import Damaged
from nodes.protocols.vssp.manifest import (
    DIRECTORY,
    MANIFEST_MAX,
    PARTITION_MAX,
    image_of,
    manifest_file,
)
from nodes.slots import StoredFile

JOURNAL = "journal"
JOURNAL_MAX = 1 << 40
FILES_MOST = 4096


class BadReport(Damaged):
    """A report that cannot be true; one line gives the reason."""


class RecoverReplica(msgspec.Struct, frozen=True):
    """Command to complete the node's replica from the source's, from `offset` on, as far as the report shows."""

    node: str
    file: str
    source: str
    offset: int
    reason: str
    behind_by: int = 0
    """Number of journal groups that the source has behind the end of this replica."""


class RemoveReplica(msgspec.Struct, frozen=True):
    node: str
    file: str
    reason: str


class Disagreement(msgspec.Struct, frozen=True):
    """The reports do not show which replica is right."""

    node: str
    file: str
    reason: str


Finding = RecoverReplica | RemoveReplica | Disagreement
Replicas = dict[str, StoredFile]
"""Replicas of one file by pool node."""


class Volume:
    """`tree[directory][file][node]` is the node's replica of the file."""

    def __init__(self) -> None:
        self.tree: dict[str, dict[str, Replicas]] = {}
        self.nodes: list[str] = []

    def replicas(self, file: str) -> Replicas:
        directory, _, name = file.rpartition("/")
        return self.tree.get(directory, {}).get(name, {})

    def images(self) -> dict[str, list[str]]:
        """The nodes that have each image whole, oldest image first. A node with a part of it is not included."""
        files = self.tree.get(DIRECTORY, {})
        named = sorted({known[0] for file in files if (known := image_of(file))})
        return {image: [node for node in self.nodes if self._whole(image, node)] for image in named}

    def _whole(self, image: str, node: str) -> bool:
        files = self.tree[DIRECTORY]
        if node not in files.get(manifest_file(image), {}):
            return False
        mine = [replicas.get(node) for file, replicas in files.items() if is_of(file, image)]
        return all(each is not None and each.valid == each.size for each in mine)


def check_report(files: list[StoredFile], disk_bytes: int) -> None:
    """Raises BadReport for content that no pool node can have."""
    if len(files) > FILES_MOST:
        raise BadReport(f"a report of {len(files)} files; {FILES_MOST} are the most")
    total, seen = 0, set[str]()
    for file in files:
        most = largest(file.name)
        if most is None:
            raise BadReport(f"the report names {file.name[:64]!r}, which is no file of a pool")
        if file.name in seen:
            raise BadReport(f"the report names {file.name} twice")
        seen.add(file.name)
        total += file.size
        if not 0 <= file.size <= most or total > disk_bytes:
            raise BadReport(f"{file.name} has {file.size} bytes, on a disk of {disk_bytes}")
        if not 0 <= file.valid <= file.size:
            raise BadReport(f"{file.name} has {file.valid} valid bytes of {file.size}")
        if file.first_sn < 0 or file.last_sn < file.first_sn - 1:
            raise BadReport(f"{file.name} reaches from sn {file.first_sn} to {file.last_sn}")


def largest(name: str) -> int | None:
    """The largest possible size in bytes of a file of this name; None when a pool has no such file."""
    if name == JOURNAL:
        return JOURNAL_MAX
    directory, _, file = name.rpartition("/")
    known = image_of(file) if directory == DIRECTORY else None
    if known is None:
        return None
    return MANIFEST_MAX if known[1] is None else PARTITION_MAX


def merge(reports: dict[str, list[StoredFile]]) -> Volume:
    volume = Volume()
    volume.nodes = sorted(reports)
    for node in volume.nodes:
        for file in reports[node]:
            directory, _, name = file.name.rpartition("/")
            volume.tree.setdefault(directory, {}).setdefault(name, {})[node] = file
    return volume


def rank(file: StoredFile) -> tuple[int, int, int]:
    return file.incarnation, file.epoch, file.last_sn


def compare(volume: Volume, wanted: Iterable[str] = ()) -> list[Finding]:
    """The findings to be settled so that every node has every `wanted` image, and that replicas of one file are equal."""
    wanted = list(wanted)
    found: list[Finding] = []
    for node, file in outdated(volume, wanted):
        found.append(RemoveReplica(node, file, "a newer image is whole on a majority"))
    for image in wanted:
        found += lacking(volume, image)
    for replicas in volume.tree.get("", {}).values():
        found += compare_journals(replicas)
    return found


def outdated(volume: Volume, wanted: list[str]) -> list[tuple[str, str]]:
    """Files of images that never became whole anywhere and are older than the newest wanted one."""
    holders, newest = volume.images(), max(wanted, default="")
    return [
        (node, f"{DIRECTORY}/{file}")
        for file, replicas in sorted(volume.tree.get(DIRECTORY, {}).items())
        for node in replicas
        if (known := image_of(file)) and known[0] < newest and not holders[known[0]]
    ]


def lacking(volume: Volume, image: str) -> list[Finding]:
    """The repairs with which every node gets this image whole: partitions first, then the manifest, which a bad partition invalidates."""
    found: list[Finding] = []
    loads: Counter[str] = Counter()
    behind: dict[str, None] = {}
    files = [file for file in volume.tree.get(DIRECTORY, {}) if is_of(file, image)]
    for file in sorted(files, key=lambda file: (file == manifest_file(image), file)):
        name = f"{DIRECTORY}/{file}"
        replicas = volume.tree[DIRECTORY][file]
        good = {node: each for node, each in replicas.items() if each.valid == each.size}
        right = right_checksum(good)
        if right is None:
            found += [Disagreement(node, name, "two replicas differ and no third decides") for node in good]
            continue
        sources = [node for node in good if good[node].checksum == right]
        for node in volume.nodes:
            remade = file == manifest_file(image) and node in behind
            if node in sources and not remade:
                continue
            source = least_loaded([each for each in sources if each != node and each not in behind], loads)
            if source is not None:
                behind[node] = None
                found.append(RecoverReplica(node, name, source, *begin_of(replicas.get(node), right)))
    return found


def is_of(file: str, image: str) -> bool:
    known = image_of(file)
    return known is not None and known[0] == image


def begin_of(mine: StoredFile | None, right: int) -> tuple[int, str]:
    """(offset, reason) of a recovery."""
    if mine is None:
        return 0, "it is not there"
    if mine.valid < mine.size:
        return mine.valid, f"it is damaged behind byte {mine.valid}"
    return 0, "a partition of it is bad" if mine.checksum == right else "the others have another checksum"


def right_checksum(replicas: Replicas) -> int | None:
    """The checksum of a majority of replicas, or of all; None when there is no majority, or no replica."""
    votes = Counter(each.checksum for each in replicas.values())
    ordered = votes.most_common(2)
    if not ordered or (len(ordered) == 2 and ordered[0][1] == ordered[1][1]):
        return None
    return ordered[0][0]


def least_loaded(candidates: list[str], loads: Counter[str]) -> str | None:
    """The node with the fewest repairs to serve so far; None when there is none."""
    best = min(candidates, key=lambda node: (loads[node], node), default=None)
    if best is not None:
        loads[best] += 1
    return best


def compare_journals(replicas: Replicas) -> list[Finding]:
    """Replicas that end earlier recover from the one that ends last; checksums vote only among those that end at the same group."""
    found: list[Finding] = []
    if not replicas:
        return found
    ranked = sorted(replicas, key=lambda node: (rank(replicas[node]), node))
    best = ranked[-1]
    equal = {node: each for node, each in replicas.items() if rank(each) == rank(replicas[best])}
    right = right_checksum(equal)
    for node in sorted(replicas):
        mine = replicas[node]
        if node in equal and right is None:
            found.append(Disagreement(node, mine.name, f"journals that end at sn {mine.last_sn} differ"))
        elif node in equal and mine.checksum != right:
            source = min(each for each in equal if equal[each].checksum == right)
            found.append(
                RecoverReplica(node, mine.name, source, 0, f"others have another group {mine.last_sn}")
            )
        elif node not in equal and mine.last_sn > replicas[best].last_sn:
            found.append(
                Disagreement(node, mine.name, f"ends later than {best}, in an older epoch: it is not cut")
            )
        elif node not in equal and right is not None:
            source = min(each for each in equal if equal[each].checksum == right)
            last_sn = replicas[source].last_sn
            reason = f"ends at sn {mine.last_sn}, {source} at {last_sn}"
            behind_by = max(0, last_sn - mine.last_sn)
            found.append(RecoverReplica(node, mine.name, source, mine.valid, reason, behind_by))
    return found
