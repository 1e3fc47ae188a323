"""Pictures as JSON, in the same form for the present and the past."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.picture import GroupState, Picture, ServerState

TABLES = ("servers", "groups", "nodes")
"""Parts of a picture that have rows by name."""
FENCED = "serves no client: its coordination session is not confirmed"


def server(state: ServerState) -> dict[str, Any]:
    row = msgspec.structs.asdict(state)
    return row | {"warning": FENCED} if state.fenced else row


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
        "nodes": {name: msgspec.structs.asdict(each) for name, each in state.nodes.items()},
        "faults": faults(state),
        "invariants": dict(state.broken),
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What makes one picture the other: rows that differ, and whole values of everything else."""
    parts = {
        part: {name: row for name, row in value.items() if before[part].get(name) != row}
        if part in TABLES
        else value
        for part, value in after.items()
        if before[part] != value
    }
    return {part: value for part, value in parts.items() if value or part not in TABLES}
