"""Pictures as JSON: the same words for the present and the past."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.clusters.picture import GroupState, Picture, ServerState


def server(state: ServerState) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.structs.asdict(state)
    del told["stopped_ns"]
    return told


def group(state: GroupState) -> dict[str, Any]:
    return {
        "name": state.name,
        "epoch": state.epoch,
        "active": state.active,
        "lock_owner": state.lock_owner,
        "commit_sn": state.commit_sn,
        "configuration": {"number": state.configuration, "members": state.members},
    }


def faults(picture: Picture) -> list[dict[str, Any]]:
    return [msgspec.structs.asdict(fault) for fault in picture.faults.values()]


def picture(state: Picture) -> dict[str, Any]:
    return {
        "at_ns": state.at_ns,
        "seq": state.seq,
        "servers": {name: server(each) for name, each in state.servers.items()},
        "groups": {name: group(each) for name, each in state.groups.items()},
        "data_nodes": {name: msgspec.structs.asdict(each) for name, each in state.data_nodes.items()},
        "journal_nodes": {name: msgspec.structs.asdict(each) for name, each in state.journal_nodes.items()},
        "faults": faults(state),
        "lamps": dict(state.broken),
    }
