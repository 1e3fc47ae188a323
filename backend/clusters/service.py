"""The response of `GET /api/cluster`, from the picture and from the operating system."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.clusters import views
from backend.names import COORDINATION
from backend.picture import DataNodeState, JournalNodeState, ServerState
from backend.running import Running
from nodes.config import opened
from nodes.real.clock import monotonic_ns
from nodes.supervisor.supervisor import SERVER_PORT

CLOCK = "monotonic ns of this machine"


def cluster(running: Running) -> dict[str, Any]:
    fabric, config = running.fabric, running.home.file.cluster
    picture = fabric.picture
    return {
        "cluster": config.cluster,
        "protocol": config.protocol,
        "fabric": fabric.kind,
        "run": running.store.run,
        "seq": picture.seq,
        "clock": CLOCK,
        "now_ns": monotonic_ns(),
        "settled": fabric.settled(),
        "start_s": running.start_s,
        "trouble": running.trouble or running.store.trouble,
        "variant": config.variant,
        "holes": list(opened(config.holes)),
        "timing": msgspec.structs.asdict(config.timing),
        "groups": groups(running),
        "replicated": msgspec.to_builtins(running.counted.servers),
        "pipelines": msgspec.to_builtins(running.counted.pipelines),
        "servers": servers(running),
        "data_nodes": data_nodes(running),
        "journal_nodes": journal_nodes(running),
        "clients": clients(running),
        "coordination": coordination(running),
        "links": links(running),
        "faults": views.faults(picture),
        "invariants": running.checks.invariants(),
    }


def groups(running: Running) -> list[dict[str, Any]]:
    reported = []
    for state in running.fabric.picture.groups.values():
        counters = running.counted.groups.get(state.name)
        counted = msgspec.structs.asdict(counters) if counters else None
        reported.append({**views.group(state), "counters": counted})
    return reported


def servers(running: Running) -> list[dict[str, Any]]:
    fabric = running.fabric
    reported = []
    for state in fabric.picture.servers.values():
        row = views.server(state)
        row["process"], row["pid"] = fabric.state_of(state.name), fabric.pid_of(state.name)
        if row["process"] == "stopped":
            row["believes"] = "none"
        reported.append(row | place(running, state))
    return reported


def place(running: Running, state: ServerState | DataNodeState | JournalNodeState) -> dict[str, str]:
    """Where it listens, and what it runs in."""
    box = running.fabric.box(state.name)
    where = f"{box['address']}:{SERVER_PORT}" if box["address"] else state.address
    return {**box, "address": where or running.fabric.peers().get(state.name, "")}


def data_nodes(running: Running) -> list[dict[str, Any]]:
    return [node(running, state) for state in running.fabric.picture.data_nodes.values()]


def journal_nodes(running: Running) -> list[dict[str, Any]]:
    return [node(running, state) for state in running.fabric.picture.journal_nodes.values()]


def node(running: Running, state: DataNodeState | JournalNodeState) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(state),
        "process": running.fabric.state_of(state.name),
        "pid": running.fabric.pid_of(state.name),
        **place(running, state),
    }


def workload(running: Running) -> dict[str, Any]:
    plan = running.fabric.workload
    return {**running.fabric.throttle, "clients": plan.clients if plan else 0}


def clients(running: Running) -> list[dict[str, Any]]:
    fabric = running.fabric
    return [
        {
            "name": name,
            "pid": fabric.pid_of(name),
            "process": fabric.state_of(name),
            **fabric.box(name),
            **workload(running),
        }
        for name in fabric.picture.clients
    ]


def coordination(running: Running) -> dict[str, Any]:
    fabric, ensemble = running.fabric, running.fabric.ensemble
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


def links(running: Running) -> list[dict[str, Any]]:
    return [
        {"a": link.a, "b": link.b, "direction": link.direction, "rule": link.rule}
        for link in running.fabric.ledger.links()
    ]
