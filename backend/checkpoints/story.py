"""Markings and goings back as events tell them (CFS §4.3): who has drained, who has written, why one is void, what was set aside. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from nodes.trace.base import Event
from nodes.trace.block_events import BlocksSetAside
from nodes.trace.checkpoints import BarrierWritten, CheckpointOutcome, TakenBack
from nodes.trace.events import Stamped, StepTaken

PROCEDURE = "checkpoint"


class Part(msgspec.Struct):
    """One group's part in a marking: when each step was reached; 0 when it was not."""

    drain_ns: int = 0
    drained_ns: int = 0
    written_ns: int = 0
    resumed_ns: int = 0
    sn: int = 0
    """Of the barrier."""


class Marking(msgspec.Struct):
    name: str
    time_server: str = ""
    began_ns: int = 0
    ended_ns: int = 0
    """0 while it is not decided."""
    outcome: str = ""
    groups: dict[str, Part] = {}

    @property
    def reason(self) -> str:
        """Why a void one is void: the groups of which a word is missing."""
        if self.outcome != "void":
            return ""
        if not any(part.drain_ns for part in self.groups.values()):
            return "not every active told its system time: nobody had to drain"
        silent = [group for group, part in self.groups.items() if not part.drained_ns and not part.written_ns]
        if silent:
            return f"{' and '.join(silent)} did not drain in time"
        unwritten = [group for group, part in self.groups.items() if not part.written_ns]
        if unwritten:
            return f"{' and '.join(unwritten)} did not write the barrier in time"
        return "an active changed, or the time server was lost, before all was decided"


class Aside(msgspec.Struct):
    """What one server has set aside."""

    group: str
    groups: int
    operations: int
    sn: int
    at_ns: int


class Blocks(msgspec.Struct):
    """What one data node has set aside, of all groups."""

    blocks: int = 0
    octets: int = 0


class Recovery(msgspec.Struct):
    incarnation: int
    checkpoint: str
    servers: dict[str, Aside] = {}
    data_nodes: dict[str, Blocks] = {}


class Story:
    """`homes`: the group of each server."""

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
            self.markings[name] = Marking(name, groups={group: Part() for group in self._homes.values()})
        return self.markings[name]

    def on_step(self, stamped: Stamped, event: StepTaken) -> None:
        if event.procedure != PROCEDURE:
            return
        name = event.detail.partition(":")[0].partition(" ")[0]
        marking = self._marking(name)
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
            if f" is {VOID}:" in event.detail and not marking.outcome:
                marking.outcome, marking.ended_ns = VOID, stamped.at_ns

    def on_barrier(self, stamped: Stamped, event: BarrierWritten) -> None:
        part = self._marking(event.name).groups.setdefault(event.group, Part())
        part.written_ns, part.sn = stamped.at_ns, event.sn

    def on_outcome(self, stamped: Stamped, event: CheckpointOutcome) -> None:
        if event.outcome:
            marking = self._marking(event.name)
            marking.outcome, marking.ended_ns = event.outcome, stamped.at_ns

    def on_taken_back(self, stamped: Stamped, event: TakenBack) -> None:
        recovery = self.recoveries.setdefault(
            event.incarnation, Recovery(event.incarnation, event.checkpoint)
        )
        recovery.servers[stamped.server] = Aside(
            event.group, event.groups, event.operations, event.sn, stamped.at_ns
        )

    def on_set_aside(self, stamped: Stamped, event: BlocksSetAside) -> None:
        recovery = self.recoveries.get(event.incarnation)
        if recovery is not None:
            node = recovery.data_nodes.setdefault(stamped.server, Blocks())
            node.blocks += event.blocks
            node.octets += event.octets


VOID = "void"
STEPS: dict[type[Event], Callable[[Story, Stamped, Any], None]] = {
    StepTaken: Story.on_step, BarrierWritten: Story.on_barrier, CheckpointOutcome: Story.on_outcome,
    TakenBack: Story.on_taken_back, BlocksSetAside: Story.on_set_aside,
}  # fmt: skip
KINDS = tuple(kind.__name__ for kind in STEPS)


def told(homes: dict[str, str], events: Iterable[Stamped]) -> dict[str, Any]:
    """After these events, which are in order; the oldest first."""
    story = Story(homes)
    for stamped in events:
        story.see(stamped)
    return {
        "markings": [
            {**msgspec.to_builtins(each), "reason": each.reason} for each in story.markings.values()
        ],
        "recoveries": [msgspec.to_builtins(each) for each in story.recoveries.values()],
    }
