"""A backup of a checkpoint, restored into a cluster of another family and number of groups."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from random import Random
from typing import Any

import msgspec
import pytest

from nodes.backup.decoder import BackupReader
from nodes.backup.export import Export
from nodes.backup.records import BackupDamaged, BackupHeader, Encoder, Record, Totals
from nodes.backup.restore import Restore, TargetTaken
from nodes.backup.sources import AskServer, NoSource, Sources
from nodes.config import SECOND, DataConfig
from nodes.errors import FsError
from nodes.metadata.operations import (
    Attributes,
    Create,
    Delete,
    Link,
    List,
    Mkdir,
    Rename,
    SetOwner,
    SetPermission,
    SetReplication,
    SetTimes,
    Stat,
)
from nodes.metadata.pages import TreePage
from nodes.metadata_server.checkpoints import states
from nodes.metadata_server.checkpoints.history import JournalHistory
from nodes.sim.cluster import SimClient
from nodes.units import ROOT
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.recovery.content import NODES, append, get, parts_of, put
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.recovery.recorded import Recorded

LIMIT_NS = 120 * SECOND


def run(lab: Checkpoints, client: SimClient, procedure: Coroutine[Any, Any, Any]) -> Any:
    task = client.begin(procedure)
    lab.cluster.run_until(task.done, LIMIT_NS)
    return task.result()


def export(lab: Checkpoints, marked: dict[str, Any]) -> bytes:
    """The backup as it is written, read from the last server of each group that can."""

    async def ask(server: str, question: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = await lab.cluster.begin_asking(server, question)
        return answer

    return written(lab, marked, ask)


def written(lab: Checkpoints, marked: dict[str, Any], ask: AskServer) -> bytes:
    servers = {group.number: group.members[::-1] for group in lab.config.groups}
    header = BackupHeader("lab", lab.config.protocol, "1", marked["name"], 0, 0, {})
    barriers = {group.number: place(marked, group.name) for group in lab.config.groups}
    reading = Export(header, barriers, Sources(servers, ask), lab.eve.files.block)

    async def gather() -> bytes:
        encoder = Encoder()
        return encoder.head() + b"".join([encoder.part(record) async for record in reading.records()])

    return bytes(run(lab, lab.eve, gather()))


def place(marked: dict[str, Any], group: str) -> dict[str, int]:
    return {word: marked["barriers"][group][word] for word in ("sn", "epoch")}


async def records_of(data: bytes, reader: BackupReader) -> AsyncIterator[Record]:
    for at in range(0, len(data), 1000):
        for record in reader.records(data[at : at + 1000]):
            yield record
    reader.finish()


def restore(lab: Checkpoints, data: bytes, into: str = "/") -> Totals:
    restoring = Restore(lab.ada.client, lab.ada.files, into)
    totals: Totals = run(lab, lab.ada, restoring.restore(records_of(data, BackupReader())))
    return totals


def tree(lab: Checkpoints, path: str = "/") -> dict[str, Any]:
    """Attributes and content of everything below a path, without the numbers that a cluster chooses itself."""
    found: dict[str, Any] = {}
    names: dict[int, list[str]] = {}
    ahead, above = [path], len(path.rstrip("/"))
    while ahead:
        here = ahead.pop()
        seen = lab.call(Stat(here)).result
        assert isinstance(seen, Attributes)
        names.setdefault(seen.inode, []).append(here)
        content = None
        if seen.kind == "file":
            content = get(lab, here) if seen.length else b""
        else:
            ahead += [f"{here.rstrip('/')}/{name}" for name in lab.call(List(here)).result.names]  # type: ignore[union-attr]
        found[here[above:] or "/"] = (
            seen.kind, seen.mode, seen.owner, seen.group, seen.mtime_ns, seen.atime_ns, seen.length,
            seen.replication, seen.nlink, content, names[seen.inode][0][above:] or "/",
        )  # fmt: skip
    return found


def build(lab: Checkpoints) -> None:
    """Directories in several groups, files with and without content, hard links and attributes of all kinds."""
    lab.fill("work", 4)
    put(lab, "/work/d0/data", Random(1).randbytes(150_000))
    append(lab, "/work/d0/data", Random(2).randbytes(70_000))
    lab.call(Link("/work/d0/data", "/work/d3/same"))
    lab.call(Link("/work/d1/f", "/also ü"))
    lab.call(Mkdir("/work/empty", mode=0o700))
    lab.call(SetPermission("/work/d2", 0o1777))
    lab.call(SetOwner("/work/d0/data", "ada", "lab"))
    lab.call(SetReplication("/work/d0/data", 2))
    lab.call(SetTimes("/work/d0/data", 1_000, 2_000))
    lab.call(SetTimes("/work/empty", 3_000, 4_000))
    lab.call(SetOwner("/", "root", "wheel"))


class Members(Recorded):
    """A family without an active."""

    def settle(self) -> None:
        Groups.settle(self)

    def quiet(self) -> bool:
        return True

    def pages(self) -> list[TreePage]:
        return [msgspec.convert(self.cluster.ask("mds1", {"do": "tree"}), TreePage, strict=False)]


def lab_of(seed: int, protocol: str, groups: int, standbys: int) -> Checkpoints:
    kind = Members if protocol == "symmetric" else Recorded
    return kind(protocol, seed, groups, standbys, data=DataConfig(nodes=NODES))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (("mams", 2, 2), ("multi-paxos", 3, 2)),
        (("packed-paxos", 2, 2), ("mams", 1, 1)),
        (("qjm", 2, 1), ("single", 1, 0)),
        (("single", 1, 0), ("symmetric", 1, 2)),
        (("hadoop-ha", 1, 1), ("2pc", 2, 1)),
        (("bookkeeper", 1, 1), ("backupnode", 2, 1)),
    ],
    ids=lambda shape: shape[0],
)
def test_a_backup_has_the_tree_of_its_checkpoint_in_another_family(
    source: tuple[str, int, int], target: tuple[str, int, int]
) -> None:
    """What was done after the barrier is not in the backup: content that was appended, removed and rewritten, and names that were moved."""
    lab = lab_of(21, *source)
    build(lab)
    marked = lab.mark("monday")
    before = tree(lab)
    append(lab, "/work/d0/data", b"later")
    lab.call(Delete("/work/d0/data"))
    put(lab, "/work/d0/data", b"another file")
    lab.call(Rename("/work/d1", "/moved"))
    lab.call(Create("/later"))
    data = export(lab, marked)
    lab.finish()

    other = lab_of(22, *target)
    totals = restore(other, data)
    assert tree(other) == before
    files = [each for path, each in before.items() if each[0] == "file" and each[-1] == path]
    assert totals == Totals(len(before) - len(files) - 2, len(files), 2, 220_000)
    other.finish()


def small(seed: int = 31) -> Checkpoints:
    lab = lab_of(seed, "mams", 2, 2)
    lab.fill("work", 4)
    put(lab, "/work/d0/data", Random(1).randbytes(150_000))
    return lab


def test_an_export_goes_on_with_another_server_when_one_dies() -> None:
    """The first server of a group dies after each answer that it gave; the next one has the same state."""
    lab = small()
    marked = lab.mark("monday")
    before = tree(lab)
    asked: list[str] = []

    async def ask(server: str, question: dict[str, Any]) -> dict[str, Any]:
        if lab.cluster.servers[server].process != "running":
            return {"refused": "does not run"}
        answer: dict[str, Any] = await lab.cluster.begin_asking(server, question)
        asked.append(server)
        if len(asked) == 3:
            lab.cluster.faults.crash(server)
        return answer

    data = written(lab, marked, ask)
    died = asked[2]
    assert died not in asked[3:]
    other = lab_of(32, "mams", 1, 1)
    restore(other, data)
    assert tree(other) == before
    lab.finish()


def test_a_later_checkpoint_of_the_same_name_is_not_exported_in_its_place() -> None:
    lab = small()
    marked = lab.mark("monday")
    lab.ask({"do": "delete_checkpoint", "name": "monday"})
    lab.call(Create("/later"))
    lab.mark("monday")
    with pytest.raises(NoSource, match="another checkpoint has the name monday now"):
        export(lab, marked)


def test_a_state_stays_in_memory_only_as_long_as_it_is_read() -> None:
    lab = small()
    marked = lab.mark("monday")
    server = lab.servers(1)[0]
    question = {"do": "checkpoint_objects", "name": "monday", "inodes": [ROOT], **place(marked, "g1")}
    assert lab.ask(question, server)["objects"]
    lab.ask({"do": "delete_checkpoint", "name": "monday"})
    assert lab.ask(question, server)["objects"], "the reading that has begun goes on"
    lab.run_ms(31_000)
    assert "not complete" in lab.ask(question, server)["refused"]


def test_a_checkpoint_that_was_recovered_to_is_exported_again() -> None:
    lab = small()
    marked = lab.mark("monday")
    before = export(lab, marked)
    put(lab, "/later", b"later")
    lab.recover("monday")
    put(lab, "/later", b"in another life")
    assert export(lab, marked) == before
    lab.finish()


def test_a_block_that_no_data_node_has_ends_the_export() -> None:
    lab = small()
    marked = lab.mark("monday")
    for node in NODES:
        lab.cluster.faults.crash(node)
    with pytest.raises(FsError, match=r"EIO.*no data node gives block"):
        export(lab, marked)


def test_a_directory_with_entries_is_not_restored_into() -> None:
    data = export(lab := small(), lab.mark("monday"))
    before = tree(lab)
    for into in ("/", "/work", "/work/d0/data", "/work/d0/data/below"):
        with pytest.raises(TargetTaken):
            restore(lab, data, into)
    assert tree(lab) == before
    restore(lab, data, "/new/place")
    assert tree(lab, "/new/place") == before


def test_a_restore_that_breaks_off_counts_what_it_has_created() -> None:
    data = export(lab := small(), lab.mark("monday"))
    other = lab_of(33, "mams", 1, 1)
    restoring = Restore(other.ada.client, other.ada.files, "/")
    with pytest.raises(BackupDamaged, match="cut off"):
        run(other, other.ada, restoring.restore(records_of(data[:-40_000], BackupReader())))
    found = tree(other)
    files = [path for path, each in found.items() if each[0] == "file"]
    assert (restoring.totals.directories, restoring.totals.files) == (len(found) - len(files), len(files))


@pytest.mark.parametrize("lost", [40_000, 20_000, 5_000, 100])
def test_a_restore_goes_on_behind_one_that_broke_off(lost: int) -> None:
    data = export(lab := small(), lab.mark("monday"))
    wanted, other = tree(lab), lab_of(33, "mams", 1, 1)
    half = Restore(other.ada.client, other.ada.files, "/")
    with pytest.raises(BackupDamaged, match="cut off"):
        run(other, other.ada, half.restore(records_of(data[:-lost], BackupReader())))
    inodes = {path: other.call(Stat(path)).result.inode for path in tree(other)}  # type: ignore[union-attr]
    again = Restore(other.ada.client, other.ada.files, "/", again=True)
    totals = run(other, other.ada, again.restore(records_of(data, BackupReader())))
    assert tree(other) == wanted
    changed = [path for path, inode in inodes.items() if other.call(Stat(path)).result.inode != inode]  # type: ignore[union-attr]
    assert len(changed) <= 1, "only the file in which it broke off is made anew"
    reread = Restore(other.ada.client, other.ada.files, "/", again=True)
    assert run(other, other.ada, reread.restore(records_of(data, BackupReader()))) == totals
    assert tree(other) == wanted


def test_going_on_does_not_replace_a_directory_by_a_file() -> None:
    data = export(lab := small(), lab.mark("monday"))
    other = lab_of(33, "mams", 1, 1)
    name = next(path for path, each in tree(lab).items() if each[0] == "file")
    other.call(Mkdir(name, parents=True))
    again = Restore(other.ada.client, other.ada.files, "/", again=True)
    with pytest.raises(FsError, match="EEXIST"):
        run(other, other.ada, again.restore(records_of(data, BackupReader())))
    assert other.call(Stat(name)).result.kind == "directory"  # type: ignore[union-attr]


def test_pages_of_names_and_of_blocks_follow_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = small()
    for number in range(5):
        lab.call(Create(f"/work/f{number}"))
    lab.call(Create("/work/blocks"))
    run(lab, lab.ada, lab.ada.files.append("/work/blocks", parts_of(bytes(3000)), block_size=512))
    marked = lab.mark("monday")
    whole = export(lab, marked)
    monkeypatch.setattr(states, "NAMES_MAX", 2)
    assert export(lab, marked) == whole


def test_a_server_that_rebuilds_another_state_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = small()
    marked = lab.mark("monday")
    rebuilt = JournalHistory.state_at
    monkeypatch.setattr(JournalHistory, "state_at", lambda history, sn: rebuilt(history, sn - 5))
    with pytest.raises(NoSource, match="lead to another digest than that of checkpoint monday"):
        export(lab, marked)
