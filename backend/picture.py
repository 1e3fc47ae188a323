"""The state of a cluster, reduced from its events. The reducer is pure, so the present and any past moment are computed alike."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Any

import msgspec

from backend.names import COORDINATION
from nodes.config import ClusterConfig
from nodes.faults.table import BY_NAME, lasts
from nodes.kinds import KINDS, ProcessKind, nodes_of
from nodes.roles import Role
from nodes.states import ProcessState
from nodes.trace import events as e
from nodes.trace import lease_events
from nodes.trace.base import Event

PAUSED = "paused"
ADD_SERVER = "add_server"


class ServerState(msgspec.Struct):
    name: str
    group: str
    role: Annotated[str, Role] = "down"
    """Its place in the global view; down has none."""
    believes: str = "none"
    """The role that it reports: one of those, elected or none."""
    process: ProcessState = "stopped"
    epoch: int = 0
    sn: int = 0
    """Sn of the last durable group."""
    applied_sn: int = 0
    commit_sn: int = 0
    lag: int = 0
    """Committed groups that are not durable on this server."""
    pid: int = 0
    address: str = ""
    faults: list[int] = []
    warning: str = ""
    fenced: bool = False
    """Whether the server serves no client because its coordination session is not confirmed."""
    stopped_ns: int = 0
    """Time of its last stop."""
    container: str = ""
    """Short id of its container; only the operating system knows it, in the present."""
    image: str = ""


class GroupState(msgspec.Struct):
    name: str
    epoch: int = 0
    active: str = ""
    lock_owner: str = ""
    configuration: int = 0
    members: list[str] = []
    commit_sn: int = 0


class NodeState(msgspec.Struct):
    """A node of any kind (nodes/kinds.py)."""

    name: str
    kind: str
    figures: dict[str, int]
    """Numbers that it reports, by the columns of its kind."""
    process: ProcessState = "stopped"
    pid: int = 0
    address: str = ""
    faults: list[int] = []
    warning: str = ""
    container: str = ""
    image: str = ""

    @classmethod
    def of(cls, name: str, kind: ProcessKind) -> NodeState:
        return cls(name, kind.name, dict.fromkeys((column.field for column in kind.columns), 0))

    def row(self) -> dict[str, Any]:
        """The state with its numbers beside the other fields."""
        row = {**self.figures, **msgspec.structs.asdict(self)}
        del row["kind"], row["figures"]
        return row


FaultTarget = ServerState | NodeState


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
    """The state that the page shows of one moment, without facts that only the operating system has."""

    at_ns: int = 0
    seq: int = 0
    servers: dict[str, ServerState] = {}
    groups: dict[str, GroupState] = {}
    nodes: dict[str, NodeState] = {}
    clients: dict[str, ClientState] = {}
    ensemble: list[str] = []
    """Names of the coordination servers, when faults can target each of them."""
    faults: dict[int, FaultState] = {}
    removed: list[str] = []
    """Servers that were removed for good; late events of them change nothing."""
    broken: dict[str, str] = {}
    """Violated invariants with their explanation."""

    @classmethod
    def of(
        cls, cluster: ClusterConfig, added: dict[str, str], clients: list[str], removed: Collection[str] = ()
    ) -> Picture:
        groups = {group.name: GroupState(group.name, members=list(group.members)) for group in cluster.groups}
        homes = {name: group.name for group in cluster.groups for name in group.members} | added
        return cls(
            servers={name: ServerState(name, group) for name, group in homes.items() if name not in removed},
            groups=groups,
            nodes={name: NodeState.of(name, kind) for name, kind in nodes_of(cluster).items()},
            clients={name: ClientState(name) for name in clients},
            removed=list(removed),
        )

    def apply(self, stamped: e.Stamped, seq: int) -> None:
        self.seq = seq
        if stamped.at_ns > self.at_ns:
            self.at_ns = stamped.at_ns
        step = STEPS.get(type(stamped.event))
        if step is not None:
            step(self, stamped, stamped.event)

    def kind_of(self, name: str) -> str | None:
        """The kind of fault target with this name; None for an unknown name."""
        if name in self.nodes:
            return self.nodes[name].kind
        named: dict[str, Collection[str]] = {
            "server": self.servers, "client": self.clients, "coordination": (COORDINATION, *self.ensemble),
            "group": self.groups,
        }  # fmt: skip
        return next((kind for kind, names in named.items() if name in names), None)

    def server(self, name: str, group: str = "") -> ServerState:
        if name in self.removed:
            return ServerState(name, group)
        if name not in self.servers:
            self.servers[name] = ServerState(name, group or next(iter(self.groups), ""))
        return self.servers[name]

    def process(self, name: str) -> FaultTarget | None:
        """The metadata server or node of that name."""
        return self.servers.get(name) or self.nodes.get(name)

    def group(self, name: str) -> GroupState:
        return self.groups.setdefault(name, GroupState(name))


def started(picture: Picture, stamped: e.Stamped, event: e.Started) -> None:
    if stamped.server in picture.clients:
        picture.clients[stamped.server].pid = event.pid
        return
    node = picture.nodes.get(stamped.server)
    if node is not None:
        node.process, node.pid, node.address, node.warning = "running", event.pid, event.address, ""
        return
    server = picture.server(stamped.server)
    server.process, server.pid, server.address = "running", event.pid, event.address
    server.believes, server.stopped_ns, server.warning, server.fenced = "none", 0, "", False


def stopped(picture: Picture, stamped: e.Stamped, event: e.Stopped) -> None:
    mark_stopped(picture, stamped.server, stamped.at_ns)


def mark_stopped(picture: Picture, name: str, at_ns: int) -> None:
    server, node = picture.servers.get(name), picture.nodes.get(name)
    if server is not None:
        server.process, server.believes, server.pid = "stopped", "none", 0
        server.stopped_ns, server.fenced = at_ns, False
    elif node is not None:
        node.process, node.pid = "stopped", 0


def node_reports(picture: Picture, stamped: e.Stamped, event: Event) -> None:
    node = picture.nodes.get(stamped.server)
    if node is not None and isinstance(event, KINDS[node.kind].reports):
        node.figures = {field: getattr(event, field) for field in node.figures}


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
    faulted = picture.process(stamped.server)
    if faulted is not None:
        faulted.warning = event.what


def lease_lost(picture: Picture, stamped: e.Stamped, event: lease_events.LeaseLost) -> None:
    picture.server(stamped.server).fenced = True


def lease_confirmed(
    picture: Picture, stamped: e.Stamped, event: lease_events.LeaseConfirmed | e.RoleChanged
) -> None:
    picture.server(stamped.server).fenced = False


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
    if event.verb == ADD_SERVER:
        picture.server(event.options["name"], event.targets[0])
    for name in event.targets:
        faulted = picture.process(name)
        if faulted is not None:
            apply_fault(picture, faulted, event, stamped.at_ns)
    if lasts(event.verb):
        picture.faults[event.fault] = FaultState(
            event.fault, event.verb, list(event.targets), event.options, stamped.at_ns
        )


def apply_fault(picture: Picture, faulted: FaultTarget, event: e.FaultInjected, at_ns: int) -> None:
    if lasts(event.verb):
        faulted.faults = [*faulted.faults, event.fault]
    verb = BY_NAME.get(event.verb)
    if verb is not None and verb.ends_process:
        mark_stopped(picture, faulted.name, at_ns)
        if verb.empties and isinstance(faulted, NodeState):
            faulted.figures = dict.fromkeys(faulted.figures, 0)
    elif verb is not None and verb.leaves:
        faulted.process = verb.leaves


def process_ended(picture: Picture, stamped: e.Stamped, event: e.ProcessEnded) -> None:
    faulted = picture.process(event.server)
    if faulted is not None:
        mark_stopped(picture, event.server, stamped.at_ns)
        faulted.warning = event.reason


def process_found(picture: Picture, stamped: e.Stamped, event: e.ProcessFound) -> None:
    faulted = picture.process(event.server)
    if faulted is None:
        return
    faulted.process, faulted.pid, faulted.warning = "running", event.pid, ""
    if isinstance(faulted, ServerState):
        faulted.believes, faulted.stopped_ns, faulted.fenced = event.role, 0, False


def server_removed(picture: Picture, stamped: e.Stamped, event: e.ServerRemoved) -> None:
    picture.servers.pop(event.server, None)
    picture.removed = [*picture.removed, event.server]


def fault_ended(picture: Picture, stamped: e.Stamped, event: e.FaultEnded) -> None:
    picture.faults.pop(event.fault, None)
    verb = BY_NAME.get(event.verb)
    everybody: list[FaultTarget] = [*picture.servers.values(), *picture.nodes.values()]
    for faulted in everybody:
        if event.fault in faulted.faults:
            faulted.faults = [number for number in faulted.faults if number != event.fault]
            if faulted.process == PAUSED and verb is not None and verb.leaves == PAUSED:
                faulted.process = "running"


def check_failed(picture: Picture, stamped: e.Stamped, event: e.CheckFailed) -> None:
    picture.broken.setdefault(event.invariant, event.explanation)


STEPS: dict[type[Event], Callable[[Picture, e.Stamped, Any], None]] = {
    e.Started: started, e.Stopped: stopped, e.RoleChanged: role_changed, e.Durable: durable, e.Cut: cut,
    e.Committed: committed, e.Applied: applied, e.JournalOpened: journal_opened, e.Warned: warned,
    e.Placed: placed, lease_events.LeaseLost: lease_lost, lease_events.LeaseConfirmed: lease_confirmed,
    e.LockHeld: lock_held, e.EpochRaised: epoch_raised, e.Configured: configured, e.ServerRemoved: server_removed,
    e.FaultInjected:
    fault_injected,
    e.FaultEnded: fault_ended, e.ProcessEnded: process_ended, e.ProcessFound: process_found, e.CheckFailed: check_failed,
    **{kind.reports: node_reports for kind in KINDS.values()},
}  # fmt: skip
