"""The cluster as a short document and as rows of a table: `GET /api/status`, which `./cloverlab status` prints."""

from __future__ import annotations

from typing import Any

from backend.tables import aligned
from nodes.kinds import KINDS
from nodes.roles import IN_STEP, LETTERS, SERVING

NODE_KEYS = ("name", "process", "pid", "address")
SERVER_KEYS = ("name", "group", "role", "process", "epoch", "sn", "lag", "pid", "address")
GROUP_KEYS = ("name", "epoch", "active", "commit_sn", "counters")


def short(cluster: dict[str, Any]) -> dict[str, Any]:
    """The document of `status`."""
    servers = [{key: server[key] for key in SERVER_KEYS} for server in cluster["servers"]]
    return {
        "cluster": cluster["cluster"],
        "protocol": cluster["protocol"],
        "settled": cluster["settled"],
        "problems": problems(cluster),
        "servers": servers,
        **tables(cluster["nodes"]),
        "groups": [{key: group[key] for key in GROUP_KEYS} for group in cluster["groups"]],
        "replicated": cluster["replicated"],
    }


def problems(cluster: dict[str, Any]) -> list[str]:
    """A line for each process that does not run, server that is not in step, group without service and violated invariant."""
    servers = cluster["servers"]
    processes = [
        *servers,
        *cluster["nodes"],
        *cluster["clients"],
        {"name": "coordination", **cluster["coordination"]},
    ]
    found = [f"{each['name']} is {each['process']}" for each in processes if each["process"] != "running"]
    found += [
        f"{server['name']} is {server['role']}"
        for server in servers
        if server["process"] == "running" and server["role"] not in IN_STEP
    ]
    served = {
        server["group"] for server in servers if server["role"] in SERVING and server["believes"] in SERVING
    }
    found += [f"{group['name']} is not served" for group in cluster["groups"] if group["name"] not in served]
    broken = (each["invariant"] for each in cluster["invariants"] if each["state"] == "red")
    found += [f"invariant {name} is violated" for name in broken]
    return [*found, cluster["trouble"]] if cluster["trouble"] else found


def tables(nodes: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Nodes by the word of their kind, in the order of these words, with their numbers as fields."""
    return {
        kind.table: [
            {key: node[key] for key in NODE_KEYS} | node["figures"]
            for node in nodes
            if node["kind"] == kind.name
        ]
        for kind in sorted(KINDS.values(), key=lambda kind: kind.table)
    }


def rows(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each process."""
    several = len(cluster["groups"]) > 1
    found = [
        row(
            f"{server['group']}/{server['name']}" if several else server["name"],
            server, server["role"], LETTERS.get(server["role"], "-"),
            {key: server[key] for key in ("epoch", "sn", "lag")},
        )
        for server in cluster["servers"]
    ]  # fmt: skip
    for node in cluster["nodes"]:
        kind, figures = KINDS[node["kind"]], dict(node["figures"])
        known = {key: figures.pop(key) for key in ("epoch", "sn") if key in figures}
        shown = [
            f"{figures[column.field]} {column.label}" for column in kind.columns if column.field in figures
        ]
        found.append(row(node["name"], node, shown[0] if shown else kind.label, numbers=known))
    found.append(row("coordination", cluster["coordination"]))
    for client in cluster["clients"]:
        rate = "paused" if client["paused"] else f"{client['rate_per_s']:g}/s"
        found.append(row(client["name"], client, rate))
    return found


NO_NUMBERS: dict[str, int] = {}


def row(
    name: str, process: dict[str, Any], role: str = "", letter: str = "", numbers: dict[str, int] = NO_NUMBERS
) -> dict[str, Any]:
    return {
        "": letter, "server": name, "role": role, "process": process["process"],
        **{key: numbers.get(key, "") for key in ("epoch", "sn", "lag")},
        "pid": process["pid"] or "-", "address": process.get("address", ""),
    }  # fmt: skip


def table(cluster: dict[str, Any]) -> str:
    """The rows as text."""
    found = rows(cluster)
    return aligned([tuple(found[0]), *(tuple(each.values()) for each in found)])
