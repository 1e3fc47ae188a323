"""The state of a cluster as its events tell it: a pure reducer, so that the present and any past moment
are made the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from nodes.config import ClusterConfig
from nodes.faults.table import BY_NAME, lasts
from nodes.trace import events as e
from nodes.trace.base import Event
from nodes.trace.block_events import NodeHolds
from nodes.trace.journal_events import JournalStored

FENCED = "answers nobody: its coordination session is not confirmed"
PAUSED = "paused"


class ServerState(msgspec.Struct):
    name: str
    group: str
    role: str = "down"
    """Its place in the global view."""
    believes: str = "none"
    process: str = "stopped"
    epoch: int = 0
    sn: int = 0
    """The last durable group."""
    applied_sn: int = 0
    commit_sn: int = 0
    lag: int = 0
    pid: int = 0
    address: str = ""
    faults: list[int] = []
    warning: str = ""
    stopped_ns: int = 0


class GroupState(msgspec.Struct):
    name: str
    epoch: int = 0
    active: str = ""
    lock_owner: str = ""
    configuration: int = 0
    members: list[str] = []
    commit_sn: int = 0


class DataNodeState(msgspec.Struct):
    name: str
    process: str = "stopped"
    pid: int = 0
    address: str = ""
    blocks: int = 0
    octets: int = 0
    damaged: int = 0
    """Replicas that are known to be."""
    faults: list[int] = []
    warning: str = ""


class JournalNodeState(msgspec.Struct):
    """A journal node or a bookie."""

    name: str
    process: str = "stopped"
    pid: int = 0
    address: str = ""
    sn: int = 0
    """The last group that it stored."""
    epoch: int = 0
    """Of the last writer; at a bookie the number of the ledger."""
    faults: list[int] = []
    warning: str = ""


Struck = ServerState | DataNodeState | JournalNodeState


class FaultState(msgspec.Struct):
    fault: int
    verb: str
    targets: list[str]
    options: dict[str, Any]
    at_ns: int


class ClientState(msgspec.Struct):
    name: str
    pid: int = 0


class Picture(msgspec.Struct):
    """Everything the page shows of one moment, but for what only the operating system knows."""

    at_ns: int = 0
    seq: int = 0
    servers: dict[str, ServerState] = {}
    groups: dict[str, GroupState] = {}
    data_nodes: dict[str, DataNodeState] = {}
    journal_nodes: dict[str, JournalNodeState] = {}
    clients: dict[str, ClientState] = {}
    ensemble: list[str] = []
    """The servers of the coordination service by name, when they can be struck one by one."""
    faults: dict[int, FaultState] = {}
    broken: dict[str, str] = {}
    """Invariants that failed, and why."""

    @classmethod
    def of(cls, cluster: ClusterConfig, added: dict[str, str], clients: list[str]) -> Picture:
        groups = {group.name: GroupState(group.name, members=list(group.members)) for group in cluster.groups}
        homes = {name: group.name for group in cluster.groups for name in group.members} | added
        return cls(
            servers={name: ServerState(name, group) for name, group in homes.items()},
            groups=groups,
            data_nodes={name: DataNodeState(name) for name in cluster.data.nodes},
            journal_nodes={name: JournalNodeState(name) for name in cluster.journal.nodes},
            clients={name: ClientState(name) for name in clients},
        )

    def apply(self, stamped: e.Stamped, seq: int) -> None:
        self.seq = seq
        if stamped.at_ns > self.at_ns:
            self.at_ns = stamped.at_ns
        step = STEPS.get(type(stamped.event))
        if step is not None:
            step(self, stamped, stamped.event)

    def server(self, name: str, group: str = "") -> ServerState:
        if name not in self.servers:
            self.servers[name] = ServerState(name, group or next(iter(self.groups), ""))
        return self.servers[name]

    def process(self, name: str) -> Struck | None:
        """The metadata server, data node or journal node of that name."""
        return self.servers.get(name) or self.node(name)

    def node(self, name: str) -> DataNodeState | JournalNodeState | None:
        return self.data_nodes.get(name) or self.journal_nodes.get(name)

    def group(self, name: str) -> GroupState:
        return self.groups.setdefault(name, GroupState(name))


def started(picture: Picture, stamped: e.Stamped, event: e.Started) -> None:
    if stamped.server in picture.clients:
        picture.clients[stamped.server].pid = event.pid
        return
    node = picture.node(stamped.server)
    if node is not None:
        node.process, node.pid, node.address, node.warning = "running", event.pid, event.address, ""
        return
    server = picture.server(stamped.server)
    server.process, server.pid, server.address = "running", event.pid, event.address
    server.believes, server.stopped_ns, server.warning = "none", 0, ""


def stopped(picture: Picture, stamped: e.Stamped, event: e.Stopped) -> None:
    mark_stopped(picture, stamped.server, stamped.at_ns)


def mark_stopped(picture: Picture, name: str, at_ns: int) -> None:
    server, node = picture.servers.get(name), picture.node(name)
    if server is not None:
        server.process, server.believes, server.pid = "stopped", "none", 0
        server.stopped_ns = at_ns
    elif node is not None:
        node.process, node.pid = "stopped", 0


def node_holds(picture: Picture, stamped: e.Stamped, event: NodeHolds) -> None:
    node = picture.data_nodes.get(stamped.server)
    if node is not None:
        node.blocks, node.octets, node.damaged = event.blocks, event.octets, event.damaged


def journal_stored(picture: Picture, stamped: e.Stamped, event: JournalStored) -> None:
    node = picture.journal_nodes.get(stamped.server)
    if node is not None:
        node.sn, node.epoch = event.sn, event.epoch


def role_changed(picture: Picture, stamped: e.Stamped, event: e.RoleChanged) -> None:
    server = picture.server(stamped.server, event.group)
    server.group, server.believes, server.epoch = event.group, event.role, event.epoch
    lease_confirmed(picture, stamped, event)


def durable(picture: Picture, stamped: e.Stamped, event: e.Durable) -> None:
    server = picture.server(stamped.server)
    server.sn, server.epoch = event.sn, event.epoch
    server.lag = max(0, picture.group(server.group).commit_sn - event.sn)


def cut(picture: Picture, stamped: e.Stamped, event: e.Cut) -> None:
    server = picture.server(stamped.server)
    server.sn = event.sn
    server.applied_sn = min(server.applied_sn, event.sn)


def committed(picture: Picture, stamped: e.Stamped, event: e.Committed) -> None:
    picture.group(event.group).commit_sn = event.sn
    picture.server(stamped.server).commit_sn = event.sn
    for server in picture.servers.values():
        if server.group == event.group:
            server.lag = max(0, event.sn - server.sn)


def applied(picture: Picture, stamped: e.Stamped, event: e.Applied) -> None:
    server = picture.server(stamped.server)
    server.applied_sn = event.sn
    server.commit_sn = max(server.commit_sn, event.sn)


def journal_opened(picture: Picture, stamped: e.Stamped, event: e.JournalOpened) -> None:
    server = picture.server(stamped.server)
    server.sn, server.epoch, server.applied_sn = event.last_sn, event.epoch, event.image_sn
    server.commit_sn = 0


def warned(picture: Picture, stamped: e.Stamped, event: e.Warned) -> None:
    """That it answers nobody is not written over by the reason."""
    struck = picture.process(stamped.server)
    if struck is not None and struck.warning != FENCED:
        struck.warning = event.what


def lease_lost(picture: Picture, stamped: e.Stamped, event: e.LeaseLost) -> None:
    picture.server(stamped.server).warning = FENCED


def lease_confirmed(picture: Picture, stamped: e.Stamped, event: e.LeaseConfirmed | e.RoleChanged) -> None:
    server = picture.server(stamped.server)
    if server.warning == FENCED:
        server.warning = ""


def placed(picture: Picture, stamped: e.Stamped, event: e.Placed) -> None:
    server = picture.server(event.server, event.group)
    server.role = event.state or "down"


def lock_held(picture: Picture, stamped: e.Stamped, event: e.LockHeld) -> None:
    picture.group(event.group).lock_owner = event.owner


def epoch_raised(picture: Picture, stamped: e.Stamped, event: e.EpochRaised) -> None:
    group = picture.group(event.group)
    group.epoch, group.active = event.epoch, event.active


def configured(picture: Picture, stamped: e.Stamped, event: e.Configured) -> None:
    group = picture.group(event.group)
    group.configuration, group.members = event.number, list(event.members)


def fault_injected(picture: Picture, stamped: e.Stamped, event: e.FaultInjected) -> None:
    for name in event.targets:
        struck = picture.process(name)
        if struck is not None:
            strike(picture, struck, event, stamped.at_ns)
    if lasts(event.verb):
        picture.faults[event.fault] = FaultState(
            event.fault, event.verb, list(event.targets), event.options, stamped.at_ns
        )


def strike(picture: Picture, struck: Struck, event: e.FaultInjected, at_ns: int) -> None:
    if lasts(event.verb):
        struck.faults = [*struck.faults, event.fault]
    verb = BY_NAME.get(event.verb)
    if verb is not None and verb.ends_process:
        mark_stopped(picture, struck.name, at_ns)
        if verb.empties and isinstance(struck, DataNodeState):
            struck.blocks = struck.octets = struck.damaged = 0
    elif verb is not None and verb.leaves:
        struck.process = verb.leaves


def process_ended(picture: Picture, stamped: e.Stamped, event: e.ProcessEnded) -> None:
    struck = picture.process(event.server)
    if struck is not None:
        mark_stopped(picture, event.server, stamped.at_ns)
        struck.warning = event.reason


def process_found(picture: Picture, stamped: e.Stamped, event: e.ProcessFound) -> None:
    struck = picture.process(event.server)
    if struck is None:
        return
    struck.process, struck.pid, struck.warning = "running", event.pid, ""
    if isinstance(struck, ServerState):
        struck.believes, struck.stopped_ns = event.role, 0


def fault_ended(picture: Picture, stamped: e.Stamped, event: e.FaultEnded) -> None:
    picture.faults.pop(event.fault, None)
    verb = BY_NAME.get(event.verb)
    everybody: list[Struck] = [
        *picture.servers.values(), *picture.data_nodes.values(), *picture.journal_nodes.values()
    ]  # fmt: skip
    for struck in everybody:
        if event.fault in struck.faults:
            struck.faults = [number for number in struck.faults if number != event.fault]
            if struck.process == PAUSED and verb is not None and verb.leaves == PAUSED:
                struck.process = "running"


def check_failed(picture: Picture, stamped: e.Stamped, event: e.CheckFailed) -> None:
    picture.broken.setdefault(event.invariant, event.explanation)


STEPS: dict[type[Event], Callable[[Picture, e.Stamped, Any], None]] = {
    e.Started: started, e.Stopped: stopped, e.RoleChanged: role_changed, e.Durable: durable, e.Cut: cut,
    e.Committed: committed, e.Applied: applied, e.JournalOpened: journal_opened, e.Warned: warned,
    e.Placed: placed, e.LeaseLost: lease_lost, e.LeaseConfirmed: lease_confirmed,
    e.LockHeld: lock_held, e.EpochRaised: epoch_raised, e.Configured: configured, e.FaultInjected:
    fault_injected,
    e.FaultEnded: fault_ended, e.ProcessEnded: process_ended, e.ProcessFound: process_found, e.CheckFailed: check_failed,
    NodeHolds: node_holds, JournalStored: journal_stored,
}  # fmt: skip
