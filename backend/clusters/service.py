"""What `GET /api/cluster` tells, put together from the picture and from what the operating system knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backend.clusters import views
from backend.fabrics import launch
from nodes.real.clock import monotonic_ns

if TYPE_CHECKING:
    from backend.lab import Lab

CLOCK = "monotonic ns of this machine"


def cluster(lab: Lab) -> dict[str, Any]:
    fabric, config = lab.fabric, lab.home.file.cluster
    picture = fabric.picture
    return {
        "cluster": config.cluster,
        "protocol": config.protocol,
        "fabric": "processes",
        "run": lab.store.run,
        "seq": picture.seq,
        "clock": CLOCK,
        "now_ns": monotonic_ns(),
        "settled": fabric.settled(),
        "start_s": lab.start_s,
        "trouble": lab.trouble,
        "timing": msgspec.structs.asdict(config.timing),
        "groups": [views.group(group) for group in picture.groups.values()],
        "servers": servers(lab),
        "data_nodes": [],
        "clients": clients(lab),
        "coordination": coordination(lab),
        "links": links(lab),
        "faults": views.faults(picture),
        "lamps": lab.checks.lamps(),
    }


def servers(lab: Lab) -> list[dict[str, Any]]:
    fabric = lab.fabric
    told = []
    for state in fabric.picture.servers.values():
        row = views.server(state)
        row["process"], row["pid"] = fabric.state_of(state.name), fabric.pid_of(state.name)
        if row["process"] == "stopped":
            row["believes"] = "none"
        port = lab.home.file.ports.get(state.name)
        row["address"] = state.address or (launch.address(port) if port else "")
        told.append(row)
    return told


def workload(lab: Lab) -> dict[str, Any]:
    plan = lab.fabric.workload
    return {**lab.fabric.throttle, "clients": plan.clients if plan else 0}


def clients(lab: Lab) -> list[dict[str, Any]]:
    fabric = lab.fabric
    return [
        {"name": name, "pid": fabric.pid_of(name), "process": fabric.state_of(name), **workload(lab)}
        for name in fabric.picture.clients
    ]


def coordination(lab: Lab) -> dict[str, Any]:
    ensemble = lab.fabric.ensemble
    return {
        "pid": lab.fabric.pid_of(launch.COORDINATION),
        "address": ",".join(ensemble.hosts),
        "process": lab.fabric.state_of(launch.COORDINATION) if ensemble.embedded else "running",
        "embedded": ensemble.embedded,
    }


def links(lab: Lab) -> list[dict[str, Any]]:
    return [
        {"a": link.a, "b": link.b, "direction": link.direction, "rule": link.words()}
        for link in lab.fabric.ledger.links()
    ]


def processes(lab: Lab) -> dict[str, Any]:
    """Who runs: pushed to the page on every change."""
    return {
        "servers": [
            {"name": row["name"], "process": row["process"], "pid": row["pid"]} for row in servers(lab)
        ],
        "clients": clients(lab),
        "coordination": coordination(lab),
        "links": links(lab),
    }
