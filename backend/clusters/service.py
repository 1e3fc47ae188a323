"""What `GET /api/cluster` tells, put together from the picture and from what the operating system knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backend.clusters import views
from backend.clusters.picture import DataNodeState, JournalNodeState, ServerState
from backend.fabrics.names import COORDINATION
from nodes.config import opened
from nodes.real.clock import monotonic_ns
from nodes.supervisor.supervisor import SERVER_PORT

if TYPE_CHECKING:
    from backend.lab import Lab

CLOCK = "monotonic ns of this machine"


def cluster(lab: Lab) -> dict[str, Any]:
    fabric, config = lab.fabric, lab.home.file.cluster
    picture = fabric.picture
    return {
        "cluster": config.cluster,
        "protocol": config.protocol,
        "fabric": fabric.kind,
        "run": lab.store.run,
        "seq": picture.seq,
        "clock": CLOCK,
        "now_ns": monotonic_ns(),
        "settled": fabric.settled(),
        "start_s": lab.start_s,
        "trouble": lab.trouble or lab.store.trouble,
        "variant": config.variant,
        "holes": list(opened(config.holes)),
        "timing": msgspec.structs.asdict(config.timing),
        "groups": groups(lab),
        "replicated": msgspec.to_builtins(lab.counted.servers),
        "pipelines": msgspec.to_builtins(lab.counted.pipelines),
        "servers": servers(lab),
        "data_nodes": data_nodes(lab),
        "journal_nodes": journal_nodes(lab),
        "clients": clients(lab),
        "coordination": coordination(lab),
        "links": links(lab),
        "faults": views.faults(picture),
        "lamps": lab.checks.lamps(),
    }


def groups(lab: Lab) -> list[dict[str, Any]]:
    told = []
    for state in lab.fabric.picture.groups.values():
        counters = lab.counted.groups.get(state.name)
        counted = msgspec.structs.asdict(counters) if counters else None
        told.append({**views.group(state), "counters": counted})
    return told


def servers(lab: Lab) -> list[dict[str, Any]]:
    fabric = lab.fabric
    told = []
    for state in fabric.picture.servers.values():
        row = views.server(state)
        row["process"], row["pid"] = fabric.state_of(state.name), fabric.pid_of(state.name)
        if row["process"] == "stopped":
            row["believes"] = "none"
        told.append(row | place(lab, state))
    return told


def place(lab: Lab, state: ServerState | DataNodeState | JournalNodeState) -> dict[str, str]:
    """Where it listens, and what it runs in."""
    box = lab.fabric.box(state.name)
    where = f"{box['address']}:{SERVER_PORT}" if box["address"] else state.address
    return {**box, "address": where or lab.fabric.peers().get(state.name, "")}


def data_nodes(lab: Lab) -> list[dict[str, Any]]:
    return [node(lab, state) for state in lab.fabric.picture.data_nodes.values()]


def journal_nodes(lab: Lab) -> list[dict[str, Any]]:
    return [node(lab, state) for state in lab.fabric.picture.journal_nodes.values()]


def node(lab: Lab, state: DataNodeState | JournalNodeState) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(state),
        "process": lab.fabric.state_of(state.name),
        "pid": lab.fabric.pid_of(state.name),
        **place(lab, state),
    }


def workload(lab: Lab) -> dict[str, Any]:
    plan = lab.fabric.workload
    return {**lab.fabric.throttle, "clients": plan.clients if plan else 0}


def clients(lab: Lab) -> list[dict[str, Any]]:
    fabric = lab.fabric
    return [
        {
            "name": name,
            "pid": fabric.pid_of(name),
            "process": fabric.state_of(name),
            **fabric.box(name),
            **workload(lab),
        }
        for name in fabric.picture.clients
    ]


def coordination(lab: Lab) -> dict[str, Any]:
    fabric, ensemble = lab.fabric, lab.fabric.ensemble
    return {
        "pid": fabric.pid_of(COORDINATION),
        "address": ",".join(ensemble.hosts),
        "process": fabric.state_of(COORDINATION) if ensemble.embedded else "running",
        "embedded": ensemble.embedded,
        "servers": [
            {
                "name": name,
                "role": fabric.role_of(name),
                "process": fabric.state_of(name),
                "pid": fabric.pid_of(name),
                **fabric.box(name),
            }
            for name in fabric.coordination_servers
        ],
    }


def links(lab: Lab) -> list[dict[str, Any]]:
    return [
        {"a": link.a, "b": link.b, "direction": link.direction, "rule": link.rule}
        for link in lab.fabric.ledger.links()
    ]


def processes(lab: Lab) -> dict[str, Any]:
    """Who runs: pushed to the page on every change."""
    return {
        "servers": [
            {key: row[key] for key in ("name", "process", "pid", "container", "image", "address")}
            for row in servers(lab)
        ],
        "data_nodes": data_nodes(lab),
        "journal_nodes": journal_nodes(lab),
        "clients": clients(lab),
        "coordination": coordination(lab),
        "links": links(lab),
    }
