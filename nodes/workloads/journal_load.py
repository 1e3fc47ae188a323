"""Records written directly into the leader's journal at a given rate, to measure how long each takes to commit (CFS §5.2; `reproduce cfs-fig8a`)."""

from __future__ import annotations

from typing import Any

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Done
from nodes.metadata.records import AlterRecord, OpenSessionRecord
from nodes.metadata_server.tenure import ServingLeader
from nodes.slots import RecordWriter
from nodes.units import ROOT, OpId
from nodes.world import World

TICK_NS = 1 * MILLISECOND
RATE_MAX = 1_000_000
COUNT_MAX = 1_000_000
BYTES_MAX = 1 << 16


def answer_load(world: World, leader: ServingLeader) -> None:
    """The question `load_journal`: {"rate": per second, "count", "bytes": bytes of each record}. The answer has mean, median and 99th
    percentile of records, and the mean of groups; {"refused"} when this server cannot measure.
    """

    async def load(question: dict[str, Any]) -> dict[str, Any]:
        rate, count, size = (int(question[key]) for key in ("rate", "count", "size"))
        writer = leader.writer
        if writer is None or not leader.serving:
            return {"refused": "this server does not lead"}
        if not (0 < rate <= RATE_MAX and 0 < count <= COUNT_MAX and 0 < size <= BYTES_MAX):
            return {"refused": f"at most {RATE_MAX} a second, {COUNT_MAX} records, {BYTES_MAX} bytes each"}
        flushes, flushing_ns = writer.flushes, writer.flushing_ns
        taken = await times(world, leader, writer, rate, count, "x" * size)
        if taken is None:
            return {"refused": "the lead was lost"}
        flush_ms = (writer.flushing_ns - flushing_ns) / (writer.flushes - flushes) / MILLISECOND
        return {**summary(taken), "flush_ms": flush_ms}

    world.answer("load_journal", load)


async def times(
    world: World, leader: ServingLeader, writer: RecordWriter, rate: int, count: int, text: str
) -> list[int] | None:
    """Nanoseconds from each record to its commit, ascending; None when the tenure ended before.

    Records that had to wait for room count from when they were due.
    """
    answering, clock = leader.answering, world.clock
    taken: list[int] = []
    session, number = f"journal-load.{clock.wall_ns()}", 1
    writer.apply(OpenSessionRecord(OpId(session, number), number, answering.now_ns(), Done()))

    def safe(since_ns: int, records: int) -> None:
        taken.extend([clock.monotonic_ns() - since_ns] * records)

    began_ns, begun, late = clock.monotonic_ns(), 0, False
    while len(taken) < count:
        if not leader.serving:
            return None
        now = clock.monotonic_ns()
        due = min(count, (now - began_ns) * rate // SECOND + 1) - begun
        given = 0
        while given < due and not (writer.stalled or writer.full or answering.still):
            number += 1
            given += 1
            op_id = OpId(session, number)
            writer.apply(AlterRecord(op_id, number, answering.now_ns(), Done(), ROOT, owner=text))
        if given:
            since_ns = began_ns + (begun + given // 2) * SECOND // rate if late else now
            writer.after_commit(lambda since_ns=since_ns, given=given: safe(since_ns, given))  # type: ignore[misc]
        begun += given
        late = given < due
        await clock.sleep(TICK_NS)
    return sorted(taken)


def summary(taken: list[int]) -> dict[str, Any]:
    count = len(taken)
    return {
        "mean_ms": sum(taken) / count / MILLISECOND,
        "p50_ms": taken[count // 2] / MILLISECOND,
        "p99_ms": taken[count * 99 // 100] / MILLISECOND,
    }
