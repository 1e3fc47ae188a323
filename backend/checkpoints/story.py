"""The history of markings and rollbacks, reduced from events (CFS §4.3): groups that drained and wrote, reasons of void checkpoints, quarantined
data. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from nodes.trace.base import Event
from nodes.trace.block_events import BlocksSetAside
from nodes.trace.checkpoints import BarrierWritten, CheckpointOutcome, TakenBack
from nodes.trace.events import Stamped, StepTaken


class MarkingPart(msgspec.Struct):
    """One group's part in a marking: when each step was reached; 0 when it was not."""

    drain_ns: int = 0
    drained_ns: int = 0
    written_ns: int = 0
    resumed_ns: int = 0
    sn: int = 0
    """Sn of the barrier."""


class Marking(msgspec.Struct):
    name: str
    time_server: str = ""
    began_ns: int = 0
    ended_ns: int = 0
    """Time of the decision; 0 while undecided."""
    outcome: str = ""
    """complete, void, or empty while it is not decided."""
    reason: str = ""
    """Why a void one is void, as far as servers reported."""
    groups: dict[str, MarkingPart] = {}

    def why_void(self) -> str:
        """The groups of which a word is missing."""
        if self.outcome != "void":
            return ""
        if not any(part.drain_ns for part in self.groups.values()):
            return "not every active reported its system time: no group had to drain"
        silent = [group for group, part in self.groups.items() if not part.drained_ns and not part.written_ns]
        if silent:
            return f"{' and '.join(silent)} did not drain in time"
        unwritten = [group for group, part in self.groups.items() if not part.written_ns]
        if unwritten:
            return f"{' and '.join(unwritten)} did not write the barrier in time"
        return "an active changed, or the time server was lost, before all was decided"


class Aside(msgspec.Struct):
    """What one server has quarantined."""

    group: str
    groups: int
    operations: int
    sn: int
    at_ns: int


class BlocksAside(msgspec.Struct):
    """What one data node has set aside, of all groups."""

    blocks: int = 0
    size: int = 0


class Recovery(msgspec.Struct):
    incarnation: int
    checkpoint: str
    servers: dict[str, Aside] = {}
    data_nodes: dict[str, BlocksAside] = {}


class CheckpointStory(msgspec.Struct):
    """The oldest first."""

    markings: list[Marking]
    recoveries: list[Recovery]


class Story:
    """Reducer of markings and rollbacks; `homes` is the group of each server."""

    def __init__(self, homes: dict[str, str]):
        self._homes = homes
        self.markings: dict[str, Marking] = {}
        self.recoveries: dict[int, Recovery] = {}

    def see(self, stamped: Stamped) -> None:
        step = STEPS.get(type(stamped.event))
        if step is not None:
            step(self, stamped, stamped.event)

    def _marking(self, name: str) -> Marking:
        if name not in self.markings:
            self.markings[name] = Marking(
                name, groups={group: MarkingPart() for group in self._homes.values()}
            )
        return self.markings[name]

    def on_step(self, stamped: Stamped, event: StepTaken) -> None:
        if not event.checkpoint:
            return
        marking = self._marking(event.checkpoint)
        if event.step == "begin":
            marking.time_server, marking.began_ns = stamped.server, stamped.at_ns
        part = marking.groups.get(self._homes.get(stamped.server, ""))
        if part is None:
            return
        if event.step == "drain":
            part.drain_ns = stamped.at_ns
        elif event.step == "drained":
            part.drained_ns = stamped.at_ns
        elif event.step == "resume":
            part.resumed_ns = stamped.at_ns
            if event.outcome == VOID and not marking.outcome:
                marking.outcome, marking.ended_ns = VOID, stamped.at_ns

    def on_barrier(self, stamped: Stamped, event: BarrierWritten) -> None:
        part = self._marking(event.name).groups.setdefault(event.group, MarkingPart())
        part.written_ns, part.sn = stamped.at_ns, event.sn

    def on_outcome(self, stamped: Stamped, event: CheckpointOutcome) -> None:
        if event.outcome:
            marking = self._marking(event.name)
            marking.outcome, marking.ended_ns = event.outcome, stamped.at_ns

    def on_taken_back(self, stamped: Stamped, event: TakenBack) -> None:
        recovery = self.recoveries.setdefault(
            event.incarnation, Recovery(event.incarnation, event.checkpoint)
        )
        recovery.checkpoint = recovery.checkpoint or event.checkpoint
        if event.sn or stamped.server not in recovery.servers:
            # A server that starts from an image of others reports this again, also when it has restored the barrier before.
            recovery.servers[stamped.server] = Aside(
                event.group, event.groups, event.operations, event.sn, stamped.at_ns
            )

    def on_set_aside(self, stamped: Stamped, event: BlocksSetAside) -> None:
        recovery = self.recoveries.get(event.incarnation)
        if recovery is not None:
            node = recovery.data_nodes.setdefault(stamped.server, BlocksAside())
            node.blocks += event.blocks
            node.size += event.size


VOID = "void"
STEPS: dict[type[Event], Callable[[Story, Stamped, Any], None]] = {
    StepTaken: Story.on_step, BarrierWritten: Story.on_barrier, CheckpointOutcome: Story.on_outcome,
    TakenBack: Story.on_taken_back, BlocksSetAside: Story.on_set_aside,
}  # fmt: skip
KINDS = tuple(kind.__name__ for kind in STEPS)


def reported(homes: dict[str, str], events: Iterable[Stamped]) -> dict[str, Any]:
    """After these events, which are in order."""
    story = Story(homes)
    for stamped in events:
        story.see(stamped)
    for marking in story.markings.values():
        marking.reason = marking.why_void()
    markings, recoveries = list(story.markings.values()), list(story.recoveries.values())
    found: dict[str, Any] = msgspec.to_builtins(CheckpointStory(markings, recoveries))
    return found
