"""The journal writer with too few servers: records that are rolled back are neither lost nor written without their effect."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from nodes.listeners import Listeners
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Made
from nodes.metadata.records import MakeRecord
from nodes.metadata_server.shared_steps import CommitEmitter
from nodes.metadata_server.writer import JournalWriter
from nodes.replicas.log import NOTHING, ReplicaLog
from nodes.replicas.state import ReplicatedState
from nodes.trace.present import UNKNOWN
from nodes.units import DIRECTORY, ROOT, OpId
from nodes.wire.messages import JournalGroup, Mark
from nodes.world import World


class Bench:
    """A writer whose idle steps run on demand, and whose groups are safe when there are enough servers."""

    def __init__(self) -> None:
        self.idle: list[Callable[[], None]] = []
        self.written: list[JournalGroup] = []
        self.lacks_quorum = False
        self.on_progress: Listeners[()] = Listeners()
        self.configuration_number = 0
        self.log = SimpleNamespace(last=NOTHING, mark_at=lambda sn: Mark(0, 1, sn, 0))
        self.namespace = Namespace()
        self.namespace.sessions.open("ada", 0, None)
        self.state = ReplicatedState(self.namespace, 0, lambda *reported: None)
        world = SimpleNamespace(
            when_idle=self.idle.append,
            clock=SimpleNamespace(wall_ns=lambda: 1_000, monotonic_ns=lambda: 0),
            trace=SimpleNamespace(emit=lambda event: 0, at=lambda: UNKNOWN, follows=lambda cause: None),
        )
        commits = CommitEmitter(world.trace, "g1", 1, False)
        self.writer = JournalWriter(
            cast(World, world),
            commits,
            1,
            0,
            cast(ReplicaLog, self.log),
            self.state,
            cast(Any, self),
            lambda: None,
        )

    def write(self, group: JournalGroup, data: bytes, mark: Mark) -> None:
        self.written.append(group)
        self.log.last = mark

    def report_commit(self, sn: int) -> None:
        pass

    def safe(self, sn: int) -> bool:
        return not self.lacks_quorum

    def holders(self, sn: int) -> list[str]:
        return []

    def run_idle(self) -> None:
        while self.idle:
            self.idle.pop(0)()


def make(number: int) -> MakeRecord:
    inode = (ROOT + number) | DIRECTORY
    return MakeRecord(
        OpId("ada", number), number, number, Made(inode), ROOT, [f"d{number}"], inode, True, 0o755
    )


def test_records_that_are_taken_back_before_their_group_is_closed_are_in_it_once_enough_are_there() -> None:
    bench = Bench()
    bench.writer.apply(make(1))
    bench.lacks_quorum = True
    bench.writer.on_tick()
    assert bench.writer.stalled
    empty = bench.namespace.digest
    bench.run_idle()
    assert bench.written == [] and bench.namespace.digest == empty
    bench.lacks_quorum = False
    bench.writer.on_tick()
    bench.run_idle()
    assert [len(group.records) for group in bench.written] == [1]
    bench.writer.count()
    other = Namespace()
    other.sessions.open("ada", 0, None)
    other.apply(make(1))
    assert bench.state.commit_sn == 1 and bench.namespace.digest == other.digest
