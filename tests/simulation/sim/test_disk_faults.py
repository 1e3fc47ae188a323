"""Effects of simulated disk faults on a server; each is allowed by the guarantees of real disks and file systems."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from nodes.config import SECOND, one_group
from nodes.faults.check import FaultUnsupported
from nodes.sim.cluster import SimCluster
from nodes.sim.disk import MediumFile, MediumStore, SimDisk, SimFile
from nodes.sim.loop import Loop, Machine
from nodes.sim.medium import LEFT_BEHIND, SECTOR
from nodes.sim.server import SimServer

SAFE, LATE = b"s" * 700, b"l" * 2_000


class Disk:
    """One server's disk in a world of its own."""

    def __init__(self, seed: int = 1):
        self.loop = Loop(random.Random(seed))  # type: ignore[abstract]
        self.store = MediumStore(random.Random(seed))
        self.machine = Machine(self.loop, "a")
        self.disk = SimDisk(self.machine, self.store)

    def run(self, procedure: Coroutine[Any, Any, Any], for_ns: int = SECOND) -> None:
        self.machine.call(lambda: self.loop.create_task(procedure))
        self.loop.run(self.loop.now_ns + for_ns)

    def file(self, late: bytes = LATE) -> SimFile:
        """A file with some durable bytes and some that are not."""
        file = self.disk.open_append("journal/1")
        file.append(SAFE)
        self.run(file.sync())
        file.append(late)
        return file


def left(torn: str, seed: int) -> bytes:
    disk = Disk(seed)
    disk.file()
    disk.store.lose_power(torn, seed)
    return disk.disk.read("journal/1")


def test_each_way_of_tearing_keeps_what_was_synced() -> None:
    for torn in ("prefix", "nothing", "everything", "sectors", "zeros", "any"):
        assert all(left(torn, seed)[: len(SAFE)] == SAFE for seed in range(40))


def test_what_is_left_is_as_its_name_says() -> None:
    assert all((SAFE + LATE).startswith(left("prefix", seed)) for seed in range(20))
    assert len({len(left("prefix", seed)) for seed in range(20)}) > 10
    assert left("nothing", 1) == SAFE and left("everything", 1) == SAFE + LATE
    assert left("zeros", 1) == SAFE + bytes(len(LATE))
    assert len({left("any", seed) for seed in range(40)}) > 10


def test_any_subset_of_the_sectors_may_survive() -> None:
    patterns = set()
    for seed in range(200):
        data = left("sectors", seed)
        later = range(SECTOR * 2, len(data) - SECTOR, SECTOR)
        sectors = [data[start : start + SECTOR] for start in later]
        assert all(sector in (b"l" * SECTOR, bytes(SECTOR)) for sector in sectors)
        patterns.add(tuple(sector[0] for sector in sectors))
    assert (0, ord("l"), 0) in patterns and (ord("l"), 0, ord("l")) in patterns


def test_a_new_name_that_was_not_synced_may_vanish_or_stay() -> None:
    found = set()
    for seed in range(20):
        disk = Disk(seed)
        disk.disk.open_append("journal/new").append(b"x" * 100)
        disk.store.lose_power("sectors", seed)
        found.add(bool(disk.disk.names("journal")))
    assert found == {True, False}


def killed_in(begin: Callable[[SimDisk], Coroutine[Any, Any, None]], seed: int) -> Disk:
    """A disk whose process ends in the middle of a call."""
    disk = Disk(seed)
    disk.run(disk.disk.replace("epoch", b"old"))
    disk.run(begin(disk.disk), 1)
    disk.machine.die()
    return disk


def outcomes(begin: Callable[[SimDisk], Coroutine[Any, Any, None]], apply_fault: str) -> set[tuple[str, ...]]:
    """Possible sets of files, with their content, when a process ends in the middle of a call."""
    found = set()
    for seed in range(60):
        disk = killed_in(begin, seed)
        if apply_fault == "crash":
            disk.store.crash(disk.store.stream(seed))
        else:
            disk.store.lose_power(apply_fault, seed)
        found.add(tuple(f"{path}={bytes(file.data).decode()}" for path, file in disk.store.files.items()))
    return found


@pytest.mark.parametrize("apply_fault", ["crash", "prefix", "sectors"])
def test_a_replacement_is_there_or_not_when_it_is_interrupted(apply_fault: str) -> None:
    found = outcomes(lambda disk: disk.replace("epoch", b"new"), apply_fault)
    assert {("epoch=old",), ("epoch=new",)} <= found
    assert any(len(each) == 2 and each[1].startswith(f"epoch{LEFT_BEHIND}=") for each in found)


def test_a_move_is_done_or_not_when_it_is_interrupted() -> None:
    assert outcomes(lambda disk: disk.move("epoch", "aside"), "prefix") == {("epoch=old",), ("aside=old",)}


def test_a_truncation_is_done_or_not_when_the_power_goes_in_between() -> None:
    found = set()
    for seed in range(40):
        disk = Disk(seed)
        file = disk.file(b"")
        disk.run(file.truncate(100), 1)
        assert file.size == 100
        disk.machine.die()
        disk.store.lose_power("sectors", seed)
        found.add(disk.disk.read("journal/1"))
    assert found == {SAFE, SAFE[:100]}


def test_a_finished_call_is_durable_and_what_a_truncation_removed_stays_away() -> None:
    disk = Disk()
    file = disk.file(b"")
    disk.run(file.truncate(100))
    disk.run(disk.disk.replace("epoch", b"7"))
    disk.run(disk.disk.move("epoch", "aside"))
    for seed in range(20):
        disk.store.lose_power("any", seed)
        assert disk.disk.read("journal/1") == SAFE[:100] and disk.disk.read("aside") == b"7"


def test_a_removal_is_durable_with_what_was_renamed_before_it() -> None:
    for seed in range(20):
        disk = Disk(seed)
        for path in ("journal/1", "journal/2"):
            disk.run(disk.disk.replace(path, b"old"))
        disk.store.rename("journal/1", "journal/3")
        disk.disk.remove("journal/2")
        disk.store.lose_power("nothing", seed)
        assert disk.disk.names("journal") == ["3"]


@pytest.mark.parametrize(
    "begin", [lambda disk: disk.replace("epoch", b"new"), lambda disk: disk.move("epoch", "aside")]
)
def test_what_a_killed_process_had_renamed_is_undone_by_a_later_power_loss(begin: Any) -> None:
    found = set()
    for seed in range(60):
        disk = killed_in(begin, seed)
        disk.store.crash(disk.store.stream(seed))
        done = bytes(disk.store.files["epoch"].data) != b"old" if "epoch" in disk.store.files else True
        disk.store.lose_power("prefix", seed)
        found.add((done, bytes(disk.store.files["epoch"].data) if "epoch" in disk.store.files else b""))
    assert (True, b"old") in found and len(found) == 3, "done and undone, done and kept, not done"


@pytest.mark.parametrize("ends", ["fails", "stops"])
def test_what_an_ended_process_was_replacing_does_not_come_back(ends: str) -> None:
    """Its call was done when the process ended, or never: not at the next power loss."""
    left = set[bytes]()
    for seed in range(20):
        cluster = SimCluster(one_group(1), seed)
        cluster.run_until(cluster.settled)
        server = cluster.servers["mds1"]
        begin_replacing(cluster, server, b"old")
        if ends == "fails":
            server.fail(OSError(errno.EIO, "Input/output error"))
        else:
            cluster.faults.stop("mds1")
        cluster.faults.restart("mds1")
        begin_replacing(cluster, server, b"new")
        cluster.run_for(SECOND)
        cluster.faults.power_loss("mds1", torn="everything")
        left.add(bytes(server.store.files["x/1"].data))
    assert left == {b"new"}


def begin_replacing(cluster: SimCluster, server: SimServer, data: bytes) -> None:
    world, machine = server.world, server.machine
    assert world is not None and machine is not None
    machine.call(lambda: world.scope.spawn(world.disk.replace("x/1", data), "replacing"))
    cluster.run_for(1_000)
    assert server.store.unfinished


def test_what_a_failed_sync_left_is_read_but_no_later_sync_makes_it_durable() -> None:
    disk, failed = Disk(), []
    file = disk.file()
    disk.store.failing["sync"] = 1

    async def sync() -> None:
        try:
            await file.sync()
        except OSError as error:
            failed.append(error.errno)
        file.append(b"more")
        await file.sync()

    disk.run(sync())
    assert failed == [errno.EIO] and disk.disk.read("journal/1") == SAFE + LATE + b"more"
    disk.store.lose_power("everything")
    assert disk.disk.read("journal/1") == SAFE + bytes(len(LATE)) + b"more"


def test_kinds_of_access_fail_by_themselves() -> None:
    disk = Disk()
    file = disk.file()
    disk.store.failing["read"] = 2
    for _ in range(2):
        with pytest.raises(OSError):
            disk.disk.read("journal/1")
    assert disk.disk.read("journal/1")
    disk.store.failing["write"] = -1
    for _ in range(3):
        with pytest.raises(OSError):
            file.append(b"x")
    disk.run(file.sync())
    disk.store.mend()
    file.append(b"x")


def test_a_slow_disk_is_slow_now_and_then() -> None:
    store = MediumStore(random.Random(3))
    store.slow_ns, store.slow_spread_ns, store.slow_share = SECOND, SECOND, 0.5
    took = [store.sync_ns() for _ in range(200)]
    slow = [each for each in took if each > SECOND]
    assert 60 < len(slow) < 140 and max(slow) > 1.8 * SECOND


def test_a_new_medium_is_empty_and_well() -> None:
    disk = Disk()
    disk.file()
    disk.store.fails = True
    disk.store.replace_medium()
    assert disk.disk.names("journal") == []


# --- verbs -------------------------------------------------------------------------------------------------------


def settled(seed: int = 1) -> SimCluster:
    cluster = SimCluster(one_group(), seed)
    cluster.run_until(cluster.settled)
    return cluster


def test_a_full_disk_has_the_room_that_was_said() -> None:
    cluster = settled()
    store = cluster.servers["mds2"].store
    fault = cluster.faults.do("fill_disk", ["mds2"], {"free": 100})
    assert store.free() == 100
    assert cluster.faults.do("fill_disk", ["mds2"], {"on": False}) == fault
    assert store.free() > 1 << 39


def test_rot_strikes_any_file_at_any_place() -> None:
    faulted = set()
    for seed in range(20):
        cluster = settled(seed)
        files = cluster.servers["mds2"].store.files
        files["epoch"] = files["image/a.manifest"] = MediumFile()
        files["epoch"].data += b"a" * 99
        before = {path: bytes(file.data) for path, file in files.items()}
        cluster.faults.do("corrupt", ["mds2"], {"what": "any", "place": "drawn"})
        path = next(path for path, file in files.items() if bytes(file.data) != before[path])
        [offset] = [n for n, octet in enumerate(files[path].data) if octet != before[path][n]]
        faulted.add((path, offset))
    assert len({path for path, _ in faulted}) > 1 and len(faulted) > 10


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("fill_disk", {"free": -1}),
        ("fill_disk", {"free": "much"}),
        ("fail_disk", {"what": "spirit"}),
        ("fail_disk", {"times": -3}),
        ("slow_disk", {"share": 3}),
        ("slow_disk", {"spread_ms": -3}),
        ("slow_disk", {"slowly": True}),
        ("power_loss", {"torn": "somehow"}),
        ("corrupt", {"what": "spirit", "place": "drawn"}),
        ("corrupt", {"place": "left"}),
        ("corrupt", {"what": "block", "place": "drawn"}),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(verb: str, options: dict[str, Any]) -> None:
    cluster = settled()
    with pytest.raises(FaultUnsupported) as caught:
        cluster.faults.do(verb, ["mds2"], options)
    assert "\n" not in str(caught.value)
    assert cluster.servers["mds2"].process == "running" and not cluster.faults.standing


def test_a_new_disk_ends_the_faults_of_the_old_one() -> None:
    cluster = SimCluster(one_group(1), 1)
    for verb in ("slow_disk", "fail_disk", "fill_disk"):
        cluster.faults.do(verb, ["mds1"])
    cluster.faults.do("new_disk", ["mds1"])
    assert [verb for verb, _ in cluster.faults.standing.values()] == ["new_disk"]


@pytest.mark.parametrize("name", ["replace", "move"])
def test_a_cancelled_change_of_names_never_takes_effect(name: str) -> None:
    """A server cancels it before its turn at the disk; a crash long after must not carry it out over what came since."""
    for seed in range(20):
        disk = Disk(seed)
        disk.file()
        call = (
            disk.disk.move("journal/1", "journal/2")
            if name == "move"
            else disk.disk.replace("journal/2", LATE)
        )

        async def cancelled(call: Coroutine[Any, Any, None] = call, disk: Disk = disk) -> None:
            task = disk.loop.create_task(call)
            disk.machine.call(task.cancel)

        disk.run(cancelled())
        disk.store.crash(random.Random(seed))
        assert list(disk.store.files) == ["journal/1"]
