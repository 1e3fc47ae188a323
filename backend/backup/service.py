"""Export of a checkpoint as a stream of bytes, and import of such a stream through the control plane's smart client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import ClientDisconnect

from backend.checkpoints.service import answers_as_active, complete
from backend.errors import FaultImpossible, Impossible, LabError, Malformed, Unavailable, file_system_status
from backend.fabrics.client import FsClient
from backend.running_cluster import Running
from backend.version import version
from nodes.backup.decoder import BackupReader
from nodes.backup.export import Export
from nodes.backup.records import BackupDamaged, BackupHeader, Encoder, EndedEarly, Record, Totals
from nodes.backup.restore import Restore, TargetTaken
from nodes.backup.sources import Answer, NoSource, Sources
from nodes.errors import FsError

REBUILD_S = 60.0
"""Time for an answer: the first one of a server comes when it has rebuilt the state of the checkpoint."""


def sources(lab: Running) -> Sources:
    """The servers of every group, with the actives last: rebuilding a state keeps a server busy."""
    servers = sorted(
        lab.fabric.picture.servers.values(), key=lambda each: (answers_as_active(each), each.name)
    )

    async def ask(server: str, question: Answer) -> Answer:
        try:
            return await lab.fabric.ask(server, question, REBUILD_S)
        except Unavailable as error:
            return {"refused": error.message}

    groups = lab.home.file.cluster.groups
    return Sources(
        {group.number: [each.name for each in servers if each.group == group.name] for group in groups}, ask
    )


async def export(lab: Running, name: str) -> AsyncIterator[bytes]:
    """The bytes of a backup. Errors are raised before the first byte where that is possible; a later one ends the stream with its reason.

    Raises NotThere, Impossible, Unavailable, FsError.
    """
    checkpoint = await complete(lab, name)
    barriers = {
        group.number: {word: checkpoint["barriers"][group.name][word] for word in ("sn", "epoch")}
        for group in lab.home.file.cluster.groups
    }
    reading = Export(header_of(lab, checkpoint), barriers, sources(lab), streaming(lab).files().block)
    records, encoder = reading.records(), Encoder()
    try:
        first = [await anext(records), await anext(records)]
    except NoSource as error:
        raise Unavailable(str(error)) from None

    async def parts() -> AsyncIterator[bytes]:
        yield encoder.head() + b"".join(map(encoder.part, first))
        try:
            async for record in records:
                yield encoder.part(record)
        except (NoSource, BackupDamaged, FsError) as error:
            yield encoder.part(EndedEarly(str(error)))

    return parts()


def streaming(lab: Running) -> FsClient:
    """The client through which a backup streams. Raises FaultImpossible on a simulated cluster."""
    if not isinstance(lab.client, FsClient):
        raise FaultImpossible(
            "a simulated cluster exports and imports no backups; use processes or containers"
        )
    return lab.client


def header_of(lab: Running, checkpoint: dict[str, Any]) -> BackupHeader:
    cluster = lab.home.file.cluster
    barriers = {group: barrier["sn"] for group, barrier in checkpoint["barriers"].items()}
    return BackupHeader(
        cluster.cluster, cluster.protocol, version(), checkpoint["name"], checkpoint["incarnation"], checkpoint["stamp_ns"], barriers,
    )  # fmt: skip


async def restore(lab: Running, source: AsyncIterator[bytes], into: str, size: int, again: bool) -> Totals:
    """Creates the tree of a backup below `into`, which must not exist or be an empty directory, unless it is done `again` after one that broke off.

    `size`: bytes of content that will come. Raises Impossible and Malformed before anything is created; `BrokenOff` afterwards.
    """
    if size and not any(node.kind == "data_node" for node in lab.fabric.picture.nodes.values()):
        raise Impossible(
            "the backup has content, and this cluster has no data nodes; start one with --data-nodes 3"
        )
    client = streaming(lab)
    restoring = Restore(client.smart(), client.files(), into, again)
    try:
        return await restoring.restore(decoded(source))
    except TargetTaken as error:
        raise Impossible(f"{error}: import into another directory with --into PATH") from None
    except (FsError, LabError) as error:
        if restoring.totals == Totals():
            raise
        raise BrokenOff(error, restoring.totals, into) from None


async def decoded(source: AsyncIterator[bytes]) -> AsyncIterator[Record]:
    """The checked records of a stream. Raises Malformed."""
    reader = BackupReader()
    try:
        async for data in source:
            for record in reader.records(data):
                yield record
        reader.finish()
    except BackupDamaged as error:
        raise Malformed(f"the backup is not whole: {error}") from None
    except ClientDisconnect:
        raise Malformed("the backup was cut off on its way") from None


class BrokenOff(LabError):
    """An import that ended early. What it has created stays; the line says how much that is."""

    def __init__(self, error: FsError | LabError, done: Totals, into: str):
        if isinstance(error, LabError):
            self.status, cause = error.status, error.message
        else:
            self.status, cause = file_system_status(error.name), str(error)
        super().__init__(
            f"the import broke off: {cause}; {done.directories - 1} directories and {done.files} files were created "
            f"in {into[:80]}: import again with --continue, or remove them first"
        )
