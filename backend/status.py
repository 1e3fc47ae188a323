"""The cluster as a short table, and as the JSON of `status --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.tables import aligned
from nodes.kinds import KINDS
from nodes.roles import LETTERS

NODE_KEYS = ("name", "process", "pid", "address")
SERVER_KEYS = ("name", "group", "role", "process", "epoch", "sn", "pid", "address")

GROUP_KEYS = ("name", "epoch", "active", "commit_sn", "counters")


def short(cluster: dict[str, Any]) -> dict[str, Any]:
    """The content of `status --json`."""
    servers = [{key: server[key] for key in SERVER_KEYS} for server in cluster["servers"]]
    return {
        "cluster": cluster["cluster"],
        "protocol": cluster["protocol"],
        "servers": servers,
        **tables(cluster["nodes"]),
        "groups": [{key: group[key] for key in GROUP_KEYS} for group in cluster["groups"]],
        "replicated": cluster["replicated"],
    }


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


def table(cluster: dict[str, Any]) -> str:
    several = len(cluster["groups"]) > 1
    rows: list[Sequence[object]] = [("", "server", "role", "process", "epoch", "sn", "pid", "address")]
    for s in cluster["servers"]:
        rows.append(
            (
                LETTERS.get(s["role"], "-"),
                f"{s['group']}/{s['name']}" if several else s["name"],
                s["role"],
                s["process"],
                s["epoch"],
                s["sn"],
                s["pid"] or "-",
                s["address"] or "-",
            )
        )
    for node in cluster["nodes"]:
        kind, figures = KINDS[node["kind"]], dict(node["figures"])
        epoch, sn = figures.pop("epoch", ""), figures.pop("sn", "")
        first = [
            f"{figures[column.field]} {column.label}" for column in kind.columns if column.field in figures
        ]
        does = first[0] if first else kind.label
        place = node["pid"] or "-", node["address"]
        rows.append(("", node["name"], does, node["process"], epoch, sn, *place))
    service = cluster["coordination"]
    rows.append(
        ("", "coordination", "", service["process"], "", "", service["pid"] or "-", service["address"])
    )
    for client in cluster["clients"]:
        rate = "paused" if client["paused"] else f"{client['rate_per_s']:g}/s"
        rows.append(("", client["name"], rate, client["process"], "", "", client["pid"] or "-", ""))
    return aligned(rows)
