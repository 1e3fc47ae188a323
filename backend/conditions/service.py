"""Conditions on the state of a running cluster: which there are, and whether one holds."""

from __future__ import annotations

import msgspec

from backend.fabrics.watched_cluster import WatchedCluster
from backend.picture import Picture, ServerState
from backend.scenarios.conditions import holds_now
from backend.vocabulary import WORDS
from nodes.roles import LEADING

EVENTS = {
    "Serving": "a takeover ends: a server begins to serve its group",
    "CheckFailed": "a promise is broken",
    "FaultInjected": "a fault begins",
}


def choices(fabric: WatchedCluster) -> list[dict[str, str]]:
    """Examples in the words of the cluster's family, the most useful first. Real servers cannot be stopped at an event."""
    picture, words = fabric.picture, WORDS[fabric.home.file.cluster.protocol]
    leads = words.leads if words.leads in LEADING else "active"
    found = {"settled": "every group is served, and every server runs and is in step"}
    found |= {f"{leads} of {group} serves": f"{group} is served" for group in picture.groups}
    found |= EVENTS if fabric.virtual_clock is not None else {}
    found |= {f"{name} is {words.follows}": f"{name} is in step" for name in picture.servers}
    found |= {f"{name} is down": f"{name} has no place in the view" for name in picture.servers}
    return [{"text": text, "means": means} for text, means in found.items()]


def holds(fabric: WatchedCluster, text: str) -> bool:
    """Raises Malformed for what is no condition on the state, NotThere for a server or group that does not exist."""
    servers = {name: present(fabric, state) for name, state in fabric.picture.servers.items()}
    return holds_now(text, Picture(servers=servers, groups=fabric.picture.groups))


def present(fabric: WatchedCluster, state: ServerState) -> ServerState:
    """A server of the picture, with the state of its process."""
    process = fabric.state_of(state.name)
    believes = "none" if process == "stopped" else state.believes
    return msgspec.structs.replace(state, process=process, believes=believes)
