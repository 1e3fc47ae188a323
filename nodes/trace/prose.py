"""Each event in a sentence of the field: what its server did or saw. Whose event it is, and when, stands before it in a story."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from nodes.trace import block_events, checkpoints, journal_events, pool_events
from nodes.trace import events as e

LONGEST = 160
"""Characters of a sentence; more of it is cut."""


def words(event: Any) -> str:
    """One line."""
    sentence = " ".join(PROSE[type(event)](event).split())
    return sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1] + "…"


def operation(told: Any) -> str:
    """`mkdir /a`: the name of a call and its paths, as a person would type them."""
    fields = told if isinstance(told, list) else msgspec.to_builtins(told)
    tag, *others = fields or ["nothing"]
    paths = [str(field) for field in others if isinstance(field, str) and field.startswith("/")]
    return " ".join([tag.lower(), *paths])


def begins(event: e.Called | e.Invoked) -> str:
    """A call as its client begins it."""
    return f"calls {operation(event.operation)} (call {event.number} of {event.client})"


def _called(event: e.Called) -> str:
    ends = event.error or "success"
    by = f" by {event.server} at sn {event.sn} of epoch {event.epoch}" if event.server else ""
    took_ms = (event.returned_ns - event.invoked_ns) / 1e6
    return f"call {event.number} ({operation(event.operation)}) is answered {ends}{by} after {took_ms:.1f} ms"


def _committed(event: e.Committed) -> str:
    calls = [f"{client} {number}" for client, number in event.operations if client]
    of = f" with call {', '.join(calls[:4])}{' …' if len(calls) > 4 else ''}" if calls else ""
    return f"commits sn {event.sn} of epoch {event.epoch}{of}; {', '.join(event.holders)} hold it"


def _role(event: e.RoleChanged) -> str:
    return f"becomes {event.role} in {event.group} at sn {event.sn} of epoch {event.epoch}: {event.reason}"


def _step(event: e.StepTaken) -> str:
    name = f"{event.procedure} {event.step}".strip()
    return f"{name} of epoch {event.epoch}: {event.detail} [{event.paper}]"


def _placed(event: e.Placed) -> str:
    if not event.state:
        return f"{event.server} has no place in the view of {event.group} any more"
    return (
        f"the view of {event.group} has {event.server} as {event.state} of epoch {event.epoch}, sn {event.sn}"
    )


def _fault(event: e.FaultInjected) -> str:
    options = "".join(f" {name}={value}" for name, value in event.options.items())
    return f"fault {event.fault}: {event.verb} {' '.join(event.targets)}{options}"


def _health(event: block_events.BlockHealth) -> str:
    return f"block {event.block:x} of {event.group} is {event.health}; on {', '.join(event.holders) or 'no data node'}"


def _file(event: block_events.FileCalled) -> str:
    return f"{event.verb} {event.path} ({event.octets} bytes) is answered {event.error or 'success'}"


def _shared(event: e.SharedStep) -> str:
    outcome = "commit" if event.commit else "abort"
    return (
        f"{event.step} of distributed operation {event.coordinator}/{event.seq} in {event.group}: {outcome}"
    )


PROSE: dict[type[e.AnyEvent], Callable[[Any], str]] = {
    e.Started: lambda event: f"starts as process {event.pid}",
    e.Stopped: lambda event: f"stops: {event.reason}",
    e.RoleChanged: _role,
    e.StepTaken: _step,
    e.Serving: lambda event: f"serves {event.group} from sn {event.sn} of epoch {event.epoch}",
    e.StoppedServing: lambda event: f"serves {event.group} no more in epoch {event.epoch}: {event.reason}",
    e.Durable: lambda event: f"has synced sn {event.sn} of epoch {event.epoch} ({event.records} records)",
    e.Cut: lambda event: f"cuts its journal behind sn {event.sn}: {event.reason}",
    e.Committed: _committed,
    e.SharedStep: _shared,
    e.Applied: lambda event: f"has applied sn {event.sn} of epoch {event.epoch}, digest {event.digest:016x}",
    e.Delivered: lambda event: (
        f"delivers {event.sender}'s message {event.counter} of view {event.view} as sn {event.sn}"
    ),
    e.JournalOpened: lambda event: (
        f"opens its journal, sn {event.first_sn} to {event.last_sn} of epoch {event.epoch}"
    ),
    e.JournalCorrupt: lambda event: (
        f"finds {event.file} corrupt at offset {event.offset}, sn {event.sn}: {event.reason}"
    ),
    e.Renewing: lambda event: f"renews by {event.phase}, sn {event.sn} of {event.goal_sn}",
    pool_events.ImageWritten: lambda event: (
        f"wrote image {event.image} at sn {event.sn} to {', '.join(event.holders)}"
    ),
    pool_events.ImageShelved: lambda event: f"keeps image {event.image} at sn {event.sn}",
    pool_events.ImageRefused: lambda event: f"refuses image {event.image}: {event.reason}",
    pool_events.PacketRefused: lambda event: f"refuses a packet of image {event.image}: {event.reason}",
    pool_events.JournalPruned: lambda event: f"prunes its journal up to sn {event.first_sn}",
    checkpoints.BarrierWritten: lambda event: (
        f"commits barrier {event.name} of {event.group} as sn {event.sn} of epoch {event.epoch}"
    ),
    checkpoints.BlocksAtBarrier: lambda event: (
        f"{len(event.blocks)} blocks of {event.group} are named at barrier {event.name}"
    ),
    checkpoints.CheckpointOutcome: lambda event: (
        f"checkpoint {event.name} is {event.outcome or 'of unknown outcome'}"
    ),
    checkpoints.TakenBack: lambda event: (
        f"is back at checkpoint {event.checkpoint}, incarnation {event.incarnation}, sn {event.sn}"
    ),
    pool_events.PoolReported: lambda event: f"{event.node} reports {event.files} files",
    pool_events.ReportRefused: lambda event: f"refuses the report of {event.node}: {event.reason}",
    pool_events.ReplicasDisagree: lambda event: (
        f"{event.file} on {event.node} differs ({event.remedy or 'no remedy'}): {event.reason}"
    ),
    pool_events.Repairing: lambda event: (
        f"repairs {event.file} from {event.source}, {event.offset} of {event.size} bytes"
    ),
    e.LeaseLost: lambda event: (
        f"has lost its lease in epoch {event.epoch}, late by {event.late_ns / 1e6:.0f} ms"
    ),
    e.LeaseConfirmed: lambda event: f"has its lease again in epoch {event.epoch}",
    e.Warned: lambda event: f"warns: {event.what}",
    e.Ignored: lambda event: f"ignores {event.kind} of {event.sender}: {event.reason}",
    e.Placed: _placed,
    e.LockHeld: lambda event: (
        f"the lock of {event.group} is {'held by ' + event.owner if event.owner else 'free'}"
    ),
    e.EpochRaised: lambda event: (
        f"epoch {event.epoch} of {event.group} begins under {event.active or 'nobody'}"
    ),
    e.Configured: lambda event: (
        f"configuration {event.number} of {event.group} is {', '.join(event.members)}"
    ),
    block_events.ReplicaStored: lambda event: (
        f"stores block {event.block:x} (stamp {event.stamp}, {event.length} bytes)"
    ),
    block_events.ReplicaDamaged: lambda event: f"has a damaged replica of block {event.block:x}: {event.why}",
    block_events.ReplicaRemoved: lambda event: (
        f"removes block {event.block:x} (stamp {event.stamp}): {event.reason}"
    ),
    block_events.ReplicasFound: lambda event: f"finds {len(event.blocks)} replicas on its disk",
    block_events.NodeHolds: lambda event: f"holds {event.blocks} blocks, {event.damaged} of them damaged",
    block_events.BlockHealth: _health,
    block_events.BlocksSetAside: lambda event: f"sets {event.blocks} blocks of {event.group} aside",
    block_events.DataNodeLost: lambda event: f"gives data node {event.node} up for {event.group}",
    block_events.FileCalled: _file,
    journal_events.JournalStored: lambda event: (
        f"stores the journal up to sn {event.sn} of epoch {event.epoch}"
    ),
    journal_events.WriterFenced: lambda event: f"refuses writers before epoch {event.epoch}",
    e.SessionEnded: lambda event: f"the session of {event.server} has {event.reason}",
    e.Called: _called,
    e.Invoked: begins,
    e.FaultInjected: _fault,
    e.FaultEnded: lambda event: f"fault {event.fault} is over: {event.verb} {' '.join(event.targets)}",
    e.ProcessEnded: lambda event: f"the process of {event.server} has ended: {event.reason}",
    e.ProcessFound: lambda event: f"{event.server} is found running as process {event.pid}",
    e.CheckFailed: lambda event: f"{event.invariant} does not hold: {event.explanation}",
    e.MessageSent: lambda event: f"sends {event.kind} to {event.to}",
    e.MessageReceived: lambda event: f"receives {event.kind} from {event.sender}",
    e.MessageDropped: lambda event: f"drops {event.kind} to {event.to}: {event.reason}",
}
"""Every kind of event has its sentence; a test looks."""
