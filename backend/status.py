"""The cluster as a short table, and as the JSON of `status --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nodes.roles import LETTERS

DATA_NODE_KEYS = ("name", "process", "blocks", "size", "pid", "address")
JOURNAL_NODE_KEYS = ("name", "process", "sn", "pid", "address")
SERVER_KEYS = ("name", "group", "role", "process", "epoch", "sn", "pid", "address")

GROUP_KEYS = ("name", "epoch", "active", "commit_sn", "counters")


def short(cluster: dict[str, Any]) -> dict[str, Any]:
    """The content of `status --json`."""
    servers = [{key: server[key] for key in SERVER_KEYS} for server in cluster["servers"]]
    return {
        "cluster": cluster["cluster"],
        "protocol": cluster["protocol"],
        "servers": servers,
        "data_nodes": [{key: node[key] for key in DATA_NODE_KEYS} for node in cluster["data_nodes"]],
        "journal_nodes": [{key: node[key] for key in JOURNAL_NODE_KEYS} for node in cluster["journal_nodes"]],
        "groups": [{key: group[key] for key in GROUP_KEYS} for group in cluster["groups"]],
        "replicated": cluster["replicated"],
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
    for node in cluster["data_nodes"]:
        held = f"{node['blocks']} blocks"
        rows.append(("", node["name"], held, node["process"], "", "", node["pid"] or "-", node["address"]))
    for node in cluster["journal_nodes"]:
        rows.append(
            (
                "",
                node["name"],
                "journal",
                node["process"],
                node["epoch"],
                node["sn"],
                node["pid"] or "-",
                node["address"],
            )
        )
    service = cluster["coordination"]
    rows.append(
        ("", "coordination", "", service["process"], "", "", service["pid"] or "-", service["address"])
    )
    for client in cluster["clients"]:
        rate = "paused" if client["paused"] else f"{client['rate_per_s']:g}/s"
        rows.append(("", client["name"], rate, client["process"], "", "", client["pid"] or "-", ""))
    return aligned(rows)


def aligned(rows: list[Sequence[object]]) -> str:
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
