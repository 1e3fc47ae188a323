"""A sentence for each event: what its server did or saw. In a story, server and time precede it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from nodes.trace import block_events, checkpoints, election_events, journal_events, lease_events, pool_events
from nodes.trace import events as e

LONGEST = 160
"""Longest sentence in characters; longer ones are cut."""


class Terms(NamedTuple):
    """A family's terms for a place in its order of writes, and for a tenure."""

    place: str = "sn"
    term: str = "epoch"


TERMS = Terms()


def words(event: Any, terms: Terms = TERMS) -> str:
    """The sentence of an event, in one line."""
    sentence = " ".join(PROSE[type(event)](event, terms).split())
    return sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1] + "…"


def sentence(stamped: e.Stamped, terms: Terms = TERMS) -> str:
    """The sentence with its subject, to be read without the rest of a story."""
    kind = type(stamped.event)
    if kind in OWN_SUBJECT:
        return words(stamped.event, terms)
    return f"{stamped.server}{':' if kind in LABELLED else ''} {words(stamped.event, terms)}"


def is_story(event: Any) -> bool:
    """Whether the event has a line of its own in a story; other events are too many, or add nothing."""
    if isinstance(event, pool_events.ReplicasDisagree):
        return event.file != "journal"
    if isinstance(event, block_events.BlockHealth):
        return event.health == "missing"
    if isinstance(event, pool_events.Repairing):
        return event.offset >= event.size
    return type(event) not in QUIET


def operation(reported: Any) -> str:
    """`mkdir /a`: the name of a call and its paths, as typed at a command line."""
    fields = reported if isinstance(reported, list) else msgspec.to_builtins(reported)
    tag, *others = fields or ["nothing"]
    paths = [str(field) for field in others if isinstance(field, str) and field.startswith("/")]
    return " ".join([tag.lower(), *paths])


def begins(event: e.Called | e.Invoked) -> str:
    """The beginning of a call, from the client's side."""
    return f"calls {operation(event.operation)} (call {event.number} of {event.client})"


def _called(event: e.Called, t: Terms) -> str:
    ends = event.error or "success"
    by = f" by {event.server} at {t.place} {event.sn} of {t.term} {event.epoch}" if event.server else ""
    took_ms = (event.returned_ns - event.invoked_ns) / 1e6
    return f"call {event.number} ({operation(event.operation)}) is answered {ends}{by} after {took_ms:.1f} ms"


def _committed(event: e.Committed, t: Terms) -> str:
    calls = list(islice((f"{client} {number}" for client, number in event.operations if client), 5))
    of = f" with call {', '.join(calls[:4])}{' …' if len(calls) > 4 else ''}" if calls else ""
    return f"commits {t.place} {event.sn} of {t.term} {event.epoch}{of}; {', '.join(event.holders)} hold it"


def _role(event: e.RoleChanged, t: Terms) -> str:
    return f"becomes {event.role} in {event.group} at {t.place} {event.sn} of {t.term} {event.epoch}: {event.reason}"


def _step(event: e.StepTaken, t: Terms) -> str:
    name = " ".join(filter(None, (event.procedure, event.step, event.checkpoint)))
    outcome = f"{event.outcome}, " if event.outcome else ""
    took = f" after {event.took_ms:.1f} ms without admission" if event.took_ms else ""
    return f"{name} of {t.term} {event.epoch}: {outcome}{event.detail}{took} [{event.paper}]"


def _drawn(event: election_events.Drawn, t: Terms) -> str:
    ends = ", ".join(
        f"{s} {number} ({t.place} {sn} of {t.term} {epoch})" for s, epoch, sn, number in event.draws
    )
    return f"reads the draws of {event.group}, {event.winner or 'no server'} wins: {ends}"


def _placed(event: e.Placed, t: Terms) -> str:
    if not event.state:
        return f"{event.server} has no place in the view of {event.group} any more"
    return f"the view of {event.group} has {event.server} as {event.state} of {t.term} {event.epoch}, {t.place} {event.sn}"


def _fault(event: e.FaultInjected, t: Terms) -> str:
    """Without the options that are off or empty, as most are that a caller left alone."""
    options = "".join(
        f" {name}" if value is True else f" {name}={value}"
        for name, value in event.options.items()
        if value is not False and value not in (None, "")
    )
    return f"fault {event.fault}: {event.verb} {' '.join(event.targets)}{options}"


def _opened(event: e.JournalOpened, t: Terms) -> str:
    if event.last_sn < event.first_sn:
        return f"opens an empty journal: {t.place} {event.first_sn} is next"
    return f"opens its journal, {t.place} {event.first_sn} to {event.last_sn} of {t.term} {event.epoch}"


def _health(event: block_events.BlockHealth, t: Terms) -> str:
    return f"block {event.block:x} of {event.group} is {event.health}; on {', '.join(event.holders) or 'no data node'}"


def _file(event: block_events.FileCalled, t: Terms) -> str:
    return f"{event.verb} {event.path} ({event.size} bytes) is answered {event.error or 'success'}"


def _shared(event: e.SharedStep, t: Terms) -> str:
    outcome = "commit" if event.commit else "abort"
    return (
        f"{event.step} of distributed operation {event.coordinator}/{event.seq} in {event.group}: {outcome}"
    )


PROSE: dict[type[e.AnyEvent], Callable[[Any, Terms], str]] = {
    e.Started: lambda event, t: f"starts as process {event.pid}",
    e.Stopped: lambda event, t: f"stops: {event.reason}",
    e.RoleChanged: _role,
    e.StepTaken: _step,
    election_events.Drawn: _drawn,
    e.Serving: lambda event, t: f"serves {event.group} from {t.place} {event.sn} of {t.term} {event.epoch}",
    e.StoppedServing: lambda event, t: (
        f"serves {event.group} no more in {t.term} {event.epoch}: {event.reason}"
    ),
    e.Durable: lambda event, t: (
        f"has synced {t.place} {event.sn} of {t.term} {event.epoch} ({event.records} records)"
    ),
    e.Cut: lambda event, t: f"cuts its journal behind {t.place} {event.sn}: {event.reason}",
    e.Committed: _committed,
    e.SharedStep: _shared,
    e.Applied: lambda event, t: (
        f"has applied {t.place} {event.sn} of {t.term} {event.epoch}, digest {event.digest:016x}"
    ),
    e.Delivered: lambda event, t: (
        f"delivers {event.sender}'s message {event.counter} of view {event.view} as {t.place} {event.sn}"
    ),
    e.JournalOpened: _opened,
    e.JournalCorrupt: lambda event, t: (
        f"finds {event.file} corrupt at offset {event.offset}, {t.place} {event.sn}: {event.reason}"
    ),
    e.Renewing: lambda event, t: f"renews by {event.phase}, {t.place} {event.sn} of {event.goal_sn}",
    pool_events.ImageWritten: lambda event, t: (
        f"wrote image {event.image} at {t.place} {event.sn} to {', '.join(event.holders)}"
    ),
    pool_events.ImageShelved: lambda event, t: f"keeps image {event.image} at {t.place} {event.sn}",
    pool_events.ImageRefused: lambda event, t: f"refuses image {event.image}: {event.reason}",
    pool_events.PacketRefused: lambda event, t: f"refuses a packet of image {event.image}: {event.reason}",
    pool_events.JournalPruned: lambda event, t: f"prunes its journal up to {t.place} {event.first_sn}",
    checkpoints.BarrierWritten: lambda event, t: (
        f"commits barrier {event.name} of {event.group} as {t.place} {event.sn} of {t.term} {event.epoch}"
    ),
    checkpoints.BlocksAtBarrier: lambda event, t: (
        f"{len(event.blocks)} blocks of {event.group} are named at barrier {event.name}"
    ),
    checkpoints.CheckpointOutcome: lambda event, t: (
        f"checkpoint {event.name} is {event.outcome or 'of unknown outcome'}"
    ),
    checkpoints.TakenBack: lambda event, t: (
        f"is back at checkpoint {event.checkpoint}, incarnation {event.incarnation}, {t.place} {event.sn}"
    ),
    pool_events.PoolReported: lambda event, t: f"{event.node} reports {event.files} files",
    pool_events.ReportRefused: lambda event, t: f"refuses the report of {event.node}: {event.reason}",
    pool_events.ReplicasDisagree: lambda event, t: (
        f"{event.file} on {event.node} differs ({event.remedy or 'no remedy'}): {event.reason}"
    ),
    pool_events.Repairing: lambda event, t: (
        f"repairs {event.file} from {event.source}, {event.offset} of {event.size} bytes"
    ),
    lease_events.LeaseLost: lambda event, t: (
        f"has lost its lease in {t.term} {event.epoch}, late by {event.late_ns / 1e6:.0f} ms"
    ),
    lease_events.LeaseConfirmed: lambda event, t: f"has its lease again in {t.term} {event.epoch}",
    lease_events.LockRemoved: lambda event, t: (
        f"the lock of {event.group} is taken from {event.holder}: "
        + (f"{', '.join(event.agreed)} receive nothing from it" if event.agreed else "its process has ended")
    ),
    e.WritesWait: lambda event, t: (
        f"writes of {event.group} {'wait for an image' if event.waits else 'go on'}: "
        f"{event.size} bytes of journal lie behind the newest one, {event.limit} are the most"
    ),
    e.Warned: lambda event, t: f"warns: {event.what}",
    e.Commanded: lambda event, t: (
        f"is asked to {event.command.replace('_', ' ')}" + (f": {event.about}" if event.about else "")
    ),
    e.Ignored: lambda event, t: f"ignores {event.kind} of {event.sender}: {event.reason}",
    e.Placed: _placed,
    e.LockHeld: lambda event, t: (
        f"the lock of {event.group} is {'held by ' + event.owner if event.owner else 'free'}"
    ),
    e.EpochRaised: lambda event, t: (
        f"{t.term} {event.epoch} of {event.group} begins under {event.active or 'no leader'}"
    ),
    e.Configured: lambda event, t: (
        f"configuration {event.number} of {event.group} is {', '.join(event.members)}"
    ),
    block_events.ReplicaStored: lambda event, t: (
        f"stores block {event.block:x} (stamp {event.stamp}, {event.length} bytes)"
    ),
    block_events.ReplicaDamaged: lambda event, t: (
        f"has a damaged replica of block {event.block:x}: {event.why}"
    ),
    block_events.ReplicaRemoved: lambda event, t: (
        f"removes block {event.block:x} (stamp {event.stamp}): {event.removal}"
    ),
    block_events.WriteRefused: lambda event, t: f"takes no more of block {event.block:x}: {event.why}",
    block_events.ReplicasFound: lambda event, t: f"finds {len(event.blocks)} replicas on its disk",
    block_events.NodeHolds: lambda event, t: f"holds {event.blocks} blocks, {event.damaged} of them damaged",
    block_events.BlockHealth: _health,
    block_events.BlocksSetAside: lambda event, t: f"sets {event.blocks} blocks of {event.group} aside",
    block_events.DataNodeLost: lambda event, t: f"gives data node {event.node} up for {event.group}",
    block_events.FileCalled: _file,
    journal_events.JournalStored: lambda event, t: (
        f"stores the journal up to {t.place} {event.sn} of {t.term} {event.epoch}"
    ),
    journal_events.WriterFenced: lambda event, t: f"refuses writers before {t.term} {event.epoch}",
    journal_events.LedgersForgotten: lambda event, t: (
        f"forgets ledgers before {event.below}; its journal begins with record {event.first_record}"
    ),
    e.SessionEnded: lambda event, t: f"the session of {event.server} has {event.reason}",
    e.Called: _called,
    e.Invoked: lambda event, t: begins(event),
    e.FaultInjected: _fault,
    e.FaultEnded: lambda event, t: f"fault {event.fault} is over: {event.verb} {' '.join(event.targets)}",
    e.ProcessEnded: lambda event, t: f"the process of {event.server} has ended: {event.reason}",
    e.ProcessFound: lambda event, t: f"{event.server} is found running as process {event.pid}",
    e.ServerRemoved: lambda event, t: f"{event.server} has left {event.group} for good",
    e.CheckFailed: lambda event, t: f"{event.invariant} does not hold: {event.explanation}",
    e.MessageSent: lambda event, t: f"sends {event.kind} to {event.to}",
}
"""The sentence of every kind of event; a test checks that none is missing."""

LABELLED = (e.StepTaken, e.SharedStep)
OWN_SUBJECT = (
    e.Called, e.CheckFailed, e.Configured, e.EpochRaised, e.FaultEnded, e.FaultInjected, e.LockHeld, lease_events.LockRemoved,
    e.Placed, e.ProcessEnded, e.ProcessFound, e.ServerRemoved, e.SessionEnded, e.WritesWait, block_events.BlockHealth,
    block_events.FileCalled, checkpoints.BlocksAtBarrier, checkpoints.CheckpointOutcome, pool_events.PoolReported,
    pool_events.ReplicasDisagree,
)  # fmt: skip
"""Events whose sentences have another subject than the reporting server."""
QUIET = (
    e.Applied, e.Called, e.Committed, e.Delivered, election_events.Drawn, e.Durable, e.Invoked, e.SharedStep, e.StepTaken, block_events.FileCalled,
    block_events.NodeHolds, block_events.ReplicaRemoved, block_events.ReplicasFound, block_events.ReplicaStored,
    checkpoints.BlocksAtBarrier, journal_events.JournalStored, pool_events.PoolReported,
)  # fmt: skip
