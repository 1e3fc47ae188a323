"""blocks kept: no command removes the last good replica of a block, the block map names no missing replica, and a reader of a file finds what
was acknowledged (docs/data-nodes.md)."""

from __future__ import annotations

from nodes.faults.table import BY_NAME
from nodes.invariants.checker import PATIENCE_NS, Check, place_in_trace
from nodes.invariants.replicas import Replicas, ReportedReplica
from nodes.trace.block_events import (
    BlockHealth,
    FileCalled,
    ReplicaDamaged,
    ReplicaRemoved,
    ReplicasFound,
    ReplicaStored,
)
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import FaultInjected, Serving, Stamped

NEEDS_ANOTHER = ("excess", "stale", "damaged")
"""Reasons that allow a removal only while another node has the whole block."""


class BlocksKept(Check):
    """Compares the reports of data nodes about stored and removed replicas with those of the actives. Traces arrive in any order."""

    name = "blocks kept"
    meaning = (
        "no command takes a block's last good replica, the block map names none that is not there, and a file holds "
        "what was acknowledged"
    )
    counts = "replicas of blocks"

    def __init__(self, replicas: Replicas) -> None:
        super().__init__()
        self.always = False
        self.steps = {
            ReplicaStored: self._on_stored,
            ReplicasFound: self._on_found,
            ReplicaRemoved: self._on_removed,
            ReplicaDamaged: self._on_damaged,
            BlockHealth: self._on_health,
            Serving: self._on_serving,
            FileCalled: self._on_file,
            TakenBack: self._on_taken_back,
            FaultInjected: self._on_fault,
        }
        self.replicas = replicas
        self._removals: list[tuple[Stamped, ReplicaRemoved]] = []
        """Removals while no other holder of the block at that time is known."""
        self._named: list[tuple[Stamped, BlockHealth, str]] = []
        """Holders that an active named and that have not reported the replica yet."""
        self._missing: list[tuple[Stamped, BlockHealth]] = []
        """Blocks of files for which an active knows no replica."""
        self._epochs: dict[str, int] = {}
        """By group: the newest epoch in which a server has served."""
        self._short: list[tuple[Stamped, FileCalled]] = []
        """Reads that returned too little; a recovery may have quarantined the rest."""
        self._taken_back_ns = 0
        self._disk_lost_ns: dict[str, int] = {}
        """By data node: the time when a fault last made its disk lose data."""

    # --- events of data nodes --------------------------------------------------------------------------------------

    def _on_stored(self, stamped: Stamped, event: ReplicaStored) -> None:
        self.replicas.hold(event.block, event.stamp, event.length, stamped)
        self.checked += 1

    def _on_found(self, stamped: Stamped, event: ReplicasFound) -> None:
        self.replicas.find(event.blocks, event.more, stamped)
        self.checked += 1

    def _on_damaged(self, stamped: Stamped, event: ReplicaDamaged) -> None:
        self.replicas.lose(event.block, "damaged", stamped)

    def _on_removed(self, stamped: Stamped, event: ReplicaRemoved) -> None:
        self.replicas.lose(event.block, event.removal, stamped)
        if event.removal not in NEEDS_ANOTHER:
            return
        if self._has_another(event):
            self.checked += 1
        else:
            self._removals.append((stamped, event))

    def _has_another(self, event: ReplicaRemoved) -> bool:
        """Whether another node has a replica as new as the removed one."""
        return any(held.stamp >= event.stamp for held in self.replicas.holders(event.block).values())

    def _lost_meanwhile(self, stamped: Stamped, event: ReplicaRemoved) -> bool:
        """Whether a fault has just made a disk lose the replica that was to stay: the command may have been on its way."""
        return any(
            node in self._disk_lost_ns
            and 0 <= stamped.at_ns - self._disk_lost_ns[node] <= PATIENCE_NS
            and held.stamp >= event.stamp
            for node, held in self.replicas.lost(event.block).items()
            if node != stamped.server
        )

    def _on_fault(self, stamped: Stamped, event: FaultInjected) -> None:
        if event.verb in BY_NAME and BY_NAME[event.verb].damages:
            for node in event.targets:
                self._disk_lost_ns[node] = stamped.at_ns

    # --- events of actives -----------------------------------------------------------------------------------------

    def _on_health(self, stamped: Stamped, event: BlockHealth) -> None:
        if (event.health in ("missing", "freed")) != (not event.holders):
            self.fail(
                f"{stamped.server} says that block {event.block:016x} is {event.health} and names "
                f"{len(event.holders)} holders",
                place_in_trace(stamped),
            )
        if event.health == "missing":
            self._missing.append((stamped, event))
        for name in event.holders:
            if self._had(stamped, event, name):
                self.checked += 1
            else:
                self._named.append((stamped, event, name))

    def _on_serving(self, stamped: Stamped, event: Serving) -> None:
        self._epochs[event.group] = max(self._epochs.get(event.group, 0), event.epoch)

    def _had(self, stamped: Stamped, event: BlockHealth, name: str) -> bool:
        """Whether the node has the replica, or had it so recently that the report of its removal may be under way."""
        held = self.replicas.holders(event.block).get(name)
        if held is not None and held.stamp == event.stamp:
            return True
        gone = self.replicas.gone(event.block, name)
        return gone is not None and gone.stamp == event.stamp and stamped.at_ns - gone.at_ns <= PATIENCE_NS

    # --- events of applications ------------------------------------------------------------------------------------

    def _on_file(self, stamped: Stamped, event: FileCalled) -> None:
        if event.wrong_at >= 0:
            self.fail(
                f"{event.client} read {event.path} and found other bytes than were written, from byte {event.wrong_at} on",
                place_in_trace(stamped),
            )
        elif event.lacking_ns:
            self._short.append((stamped, event))
        elif event.verb == "get" and not event.error:
            self.checked += 1

    def _on_taken_back(self, stamped: Stamped, event: TakenBack) -> None:
        self._taken_back_ns = max(self._taken_back_ns, stamped.at_ns)

    # --- verdicts --------------------------------------------------------------------------------------------------

    def on_time(self, now_ns: int) -> None:
        """Judges waiting facts. Their counterparts may have arrived meanwhile; those that are too old fail."""
        self._judge(now_ns - PATIENCE_NS)

    def finish(self) -> None:
        self._judge(1 << 63)

    def _judge(self, oldest_ns: int) -> None:
        removals, self._removals = self._removals, []
        for stamped, removed in removals:
            if self._has_another(removed):
                self.checked += 1
            elif self._lost_meanwhile(stamped, removed):
                continue
            elif stamped.at_ns > oldest_ns:
                self._removals.append((stamped, removed))
            else:
                self.fail(
                    f"{stamped.server} removed its replica of block {removed.block:016x} as {removed.removal}, "
                    "and no other data node has the block whole",
                    place_in_trace(stamped),
                )
        named, self._named = self._named, []
        for stamped, health, name in named:
            if self._had(stamped, health, name):
                self.checked += 1
            elif stamped.at_ns > oldest_ns:
                self._named.append((stamped, health, name))
            else:
                gone = self.replicas.gone(health.block, name)
                self.fail(
                    f"{stamped.server} names {name} as a holder of block {health.block:016x} with stamp "
                    f"{health.stamp}, which it has not",
                    *([gone.evidence] if gone is not None else []),
                    place_in_trace(stamped),
                )
        self._judge_missing(oldest_ns)
        short, self._short = self._short, []
        for stamped, called in short:
            if called.lacking_ns <= self._taken_back_ns:
                self.checked += 1
            elif stamped.at_ns > oldest_ns:
                self._short.append((stamped, called))
            else:
                self.fail(
                    f"{called.client} read {called.size} bytes of {called.path}, and what was acknowledged at "
                    f"{called.lacking_ns} ns was not among them",
                    place_in_trace(stamped),
                )

    def _judge_missing(self, oldest_ns: int) -> None:
        """A missing block of a file must not have been free before. A deposed active may not know yet that the file was deleted."""
        missing, self._missing = self._missing, []
        for stamped, health in missing:
            if stamped.at_ns > oldest_ns:
                self._missing.append((stamped, health))
                continue
            freed = self._freed_before(stamped, health)
            if freed is None or health.epoch < self._epochs.get(health.group, 0):
                self.checked += 1
                continue
            node, held = freed
            self.fail(
                f"{stamped.server} says that a file names block {health.block:016x}, which {node} had removed as freed, "
                "and no other data node has it",
                held.evidence,
                place_in_trace(stamped),
            )

    def _freed_before(self, stamped: Stamped, health: BlockHealth) -> tuple[str, ReportedReplica] | None:
        """The data node that removed the block as freed before it was named, if no node has it now."""
        if any(held.stamp >= health.stamp for held in self.replicas.holders(health.block).values()):
            return None
        return next(
            (
                (node, held)
                for node, held in self.replicas.lost(health.block).items()
                if held.removal == "freed" and held.stamp >= health.stamp and held.at_ns <= stamped.at_ns
            ),
            None,
        )
