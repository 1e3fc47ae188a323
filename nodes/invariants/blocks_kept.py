"""blocks kept: no command takes the last good replica of a block, the block map names no replica that is not there, and who reads a file finds
what was acknowledged (docs/data-nodes.md)."""

from __future__ import annotations

from nodes.invariants.checker import PATIENCE_NS, Check, place_in_trace
from nodes.invariants.replicas import Held, Replicas
from nodes.trace.block_events import (
    BlockHealth,
    FileCalled,
    ReplicaDamaged,
    ReplicaRemoved,
    ReplicasFound,
    ReplicaStored,
)
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Serving, Stamped

NEEDS_ANOTHER = ("excess", "stale", "damaged")
"""Reasons for which a replica may be removed only while another node has the block whole."""


class BlocksKept(Check):
    """Data nodes tell what they store and remove, the actives what they make of it; their traces come in any order."""

    name = "blocks kept"
    meaning = (
        "no command takes a block's last good replica, the block map names none that is not there, and a file holds "
        "what was acknowledged"
    )

    def __init__(self) -> None:
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
        }
        self.replicas = Replicas()
        self._removals: list[tuple[Stamped, ReplicaRemoved]] = []
        """Nobody is known yet who had the block at that time."""
        self._named: list[tuple[Stamped, BlockHealth, str]] = []
        """Holders that an active named and that have not told yet that they are."""
        self._missing: list[tuple[Stamped, BlockHealth]] = []
        """Blocks of files of which an active knows no replica."""
        self._epochs: dict[str, int] = {}
        """By group: the newest in which somebody has served."""
        self._short: list[tuple[Stamped, FileCalled]] = []
        """What was read was not all; a recovery may have set the rest aside."""
        self._taken_back_ns = 0

    # --- what data nodes tell --------------------------------------------------------------------------------------

    def _on_stored(self, stamped: Stamped, event: ReplicaStored) -> None:
        self.replicas.hold(event.block, event.stamp, event.length, stamped)
        self.checked += 1

    def _on_found(self, stamped: Stamped, event: ReplicasFound) -> None:
        self.replicas.find(event.blocks, event.more, stamped)
        self.checked += 1

    def _on_damaged(self, stamped: Stamped, event: ReplicaDamaged) -> None:
        self.replicas.lose(event.block, "damaged", stamped)

    def _on_removed(self, stamped: Stamped, event: ReplicaRemoved) -> None:
        self.replicas.lose(event.block, event.reason, stamped)
        if event.reason not in NEEDS_ANOTHER:
            return
        if self._has_another(event):
            self.checked += 1
        else:
            self._removals.append((stamped, event))

    def _has_another(self, event: ReplicaRemoved) -> bool:
        """One that is as new as what was removed."""
        return any(held.stamp >= event.stamp for held in self.replicas.holders(event.block).values())

    # --- what the actives tell -------------------------------------------------------------------------------------

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
        """Whether the node has the replica, or had it until so recently that the report of it may be under way."""
        held = self.replicas.holders(event.block).get(name)
        if held is not None and held.stamp == event.stamp:
            return True
        gone = self.replicas.gone(event.block, name)
        return gone is not None and gone.stamp == event.stamp and stamped.at_ns - gone.at_ns <= PATIENCE_NS

    # --- what applications tell ------------------------------------------------------------------------------------

    def _on_file(self, stamped: Stamped, event: FileCalled) -> None:
        if event.wrong_at >= 0:
            self.fail(
                f"{event.client} read {event.path} and found other octets than were written, from octet {event.wrong_at} on",
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
        """What was waited for may have been told meanwhile; what is too old to come is wrong."""
        self._judge(now_ns - PATIENCE_NS)

    def finish(self) -> None:
        self._judge(1 << 63)

    def _judge(self, oldest_ns: int) -> None:
        removals, self._removals = self._removals, []
        for stamped, removed in removals:
            if self._has_another(removed):
                self.checked += 1
            elif stamped.at_ns > oldest_ns:
                self._removals.append((stamped, removed))
            else:
                self.fail(
                    f"{stamped.server} removed its replica of block {removed.block:016x} as {removed.reason}, "
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
                    f"{called.client} read {called.octets} octets of {called.path}, and what was acknowledged at "
                    f"{called.lacking_ns} ns was not among them",
                    place_in_trace(stamped),
                )

    def _judge_missing(self, oldest_ns: int) -> None:
        """A block that a file names was not free before. Who is deposed may not have heard yet that the file was deleted."""
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

    def _freed_before(self, stamped: Stamped, health: BlockHealth) -> tuple[str, Held] | None:
        """The data node that removed the block as freed before it was named, where none has it now."""
        if any(held.stamp >= health.stamp for held in self.replicas.holders(health.block).values()):
            return None
        return next(
            (
                (node, held)
                for node, held in self.replicas.lost(health.block).items()
                if held.reason == "freed" and held.stamp >= health.stamp and held.at_ns <= stamped.at_ns
            ),
            None,
        )
