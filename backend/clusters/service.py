"""The response of `GET /api/cluster`, from the picture and from the operating system."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.clusters import views
from backend.names import COORDINATION
from backend.picture import FaultTarget, NodeState
from backend.running_cluster import Running
from nodes.config import opened
from nodes.kinds import KINDS
from nodes.supervisor.supervisor import SERVER_PORT


def cluster(running: Running) -> dict[str, Any]:
    fabric, config = running.fabric, running.home.file.cluster
    picture = fabric.picture
    return {
        "cluster": config.cluster,
        "protocol": config.protocol,
        "fabric": fabric.kind,
        "run": running.store.run,
        "seq": picture.seq,
        "clock": fabric.clock_name,
        "now_ns": fabric.now_ns,
        "settled": fabric.settled(),
        "start_s": running.start_s,
        "trouble": running.fabric.trouble or running.trouble or running.store.trouble,
        "kept_s": running.settings.kept_s,
        "variant": config.variant,
        "holes": list(opened(config.holes)),
        "detection": config.detection,
        "timing": msgspec.structs.asdict(config.timing),
        "groups": groups(running),
        "replicated": msgspec.to_builtins(running.counted.servers),
        "pipelines": msgspec.to_builtins(running.counted.pipelines),
        "servers": servers(running),
        "nodes": nodes(running),
        **tables(running),
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


def place(running: Running, state: FaultTarget) -> dict[str, str]:
    """Where it listens, and what it runs in."""
    box = running.fabric.box(state.name)
    where = f"{box['address']}:{SERVER_PORT}" if box["address"] else state.address
    return {**box, "address": where or running.fabric.peers().get(state.name, "")}


def nodes(running: Running) -> list[dict[str, Any]]:
    return [
        msgspec.structs.asdict(state) | of_process(running, state)
        for state in running.fabric.picture.nodes.values()
    ]


def tables(running: Running) -> dict[str, list[dict[str, Any]]]:
    """The nodes by the word of their kind."""
    rows: dict[str, list[dict[str, Any]]] = {kind.table: [] for kind in KINDS.values()}
    for state in running.fabric.picture.nodes.values():
        rows[KINDS[state.kind].table].append(state.row() | of_process(running, state))
    return rows


def of_process(running: Running, state: NodeState) -> dict[str, Any]:
    fabric = running.fabric
    return {
        "process": fabric.state_of(state.name),
        "pid": fabric.pid_of(state.name),
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
    fabric, ensemble = running.fabric, running.fabric.coordination
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
        for link in running.fabric.link_faults()
    ]
