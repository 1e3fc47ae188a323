"""The coordination tree as it is now. Pure but for the question to the service."""

from __future__ import annotations

from typing import Any

from backend.errors import NotThere
from backend.running_cluster import Running
from nodes.trace.observer import NODE

PLACES = "view"
NODES_MOST = 500
SESSIONS_MOST = 200
DATA_MOST = 1_000
"""Characters of a node's data in a view of the tree."""
Raw = dict[str, Any]


async def tree(lab: Running, path: str) -> list[Raw]:
    """A node and every node below it. Raises NotThere, Unavailable."""
    base = "/" + path.strip("/")
    nodes = await lab.fabric.coordination.nodes()
    servers = owners(nodes)
    found = [
        named(node, servers)
        for node in nodes
        if base == "/" or node["path"] == base or node["path"].startswith(base + "/")
    ]
    if not found and base != "/":
        raise NotThere(f"the coordination tree has no node {base[:80]!r}")
    return found


def view(nodes: list[Raw], opened: list[Raw] | None) -> Raw:
    """The tree, bounded, with its sessions and watches; `opened` are the sessions as the service reports them. The nodes of the groups are listed
    before all others."""
    servers = owners(nodes)
    chosen = sorted(nodes, key=lambda node: (NODE.match(node["path"]) is None, node["path"]))[:NODES_MOST]
    listed = sorted(chosen, key=lambda node: str(node["path"]))
    return {
        "nodes": [watched(node, servers) for node in listed],
        "left_out": len(nodes) - len(listed),
        **sessions(nodes, servers, opened),
        "watches_known": any("watches" in node for node in nodes),
    }


def watched(node: Raw, servers: dict[int, str]) -> Raw:
    data = node["data"]
    return {
        **named(node, servers),
        "data": data[:DATA_MOST],
        "cut": max(0, len(data) - DATA_MOST),
        "watchers": [servers.get(session) or f"{session:#x}" for session in watchers(node)],
    }


def named(node: Raw, servers: dict[int, str]) -> Raw:
    return {
        "path": node["path"],
        "data": node["data"],
        "version": node["version"],
        "session": f"{node['owner']:#x}" if node["owner"] else "",
        "owner": servers.get(node["owner"], ""),
    }


def watchers(node: Raw) -> list[int]:
    """Sessions that watch a node's data or its children, each once."""
    return sorted({session for table in node.get("watches", {}).values() for session in table})


def sessions(nodes: list[Raw], servers: dict[int, str], opened: list[Raw] | None) -> Raw:
    """The open sessions, those of servers first; where the service does not report them, those that own a node."""
    reported = {each["session"]: each for each in opened or []}
    owned: dict[int, list[str]] = {}
    watches: dict[int, int] = {}
    for node in nodes:
        if node["owner"]:
            owned.setdefault(node["owner"], []).append(node["path"])
        for session in watchers(node):
            watches[session] = watches.get(session, 0) + 1
    known = sorted(
        reported.keys() | owned.keys(), key=lambda each: (each not in servers, servers.get(each, ""), each)
    )
    listed = [
        {
            "session": f"{each:#x}",
            "server": servers.get(each, ""),
            "nodes": owned.get(each, []),
            "watches": watches.get(each, 0),
            "timeout_ms": reported[each]["timeout_ms"] if each in reported else 0,
            "connected": reported[each]["connected"] if each in reported else None,
        }
        for each in known[:SESSIONS_MOST]
    ]
    return {
        "sessions": listed,
        "sessions_left_out": len(known) - len(listed),
        "sessions_known": opened is not None,
    }


def owners(nodes: list[Raw]) -> dict[int, str]:
    """The server of each session that owns a place in a view."""
    found: dict[int, str] = {}
    for node in nodes:
        above, _, name = node["path"].rpartition("/")
        if node["owner"] and above.rpartition("/")[2] == PLACES:
            found[node["owner"]] = name
    return found
