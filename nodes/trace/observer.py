"""Events of the global view, made from changes of the coordination tree. Pure: the caller reports each change."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from nodes.trace.base import Event
from nodes.trace.events import Configured, EpochRaised, LockHeld, Placed, SessionEnded

NODE = re.compile(r"^/cloverlab/groups/([^/]+)/(lock|epoch|configuration|view/([^/]+))$")


class Observer:
    """Remembers the last value of each node, so that a repeated value makes only one event."""

    def __init__(self) -> None:
        self.holders: dict[str, str] = {}
        """Owner of the lock by group."""
        self.places: dict[tuple[str, str], tuple[str, int, int]] = {}
        self.sessions: dict[str, int] = {}
        """The session that owns each server's place, by server."""
        self._epochs: dict[str, tuple[int, str]] = {}
        self._configurations: dict[str, int] = {}

    def changed(self, path: str, data: bytes | None, session: int = 0) -> list[Event]:
        """Events of a node that was created or set, or removed when `bytes` is None. `session` owns an ephemeral node."""
        found = NODE.match(path)
        if found is None:
            return []
        group, node, server = found[1], found[2], found[3]
        fields = parsed(data)
        if server:
            return self._place(group, server, fields, session)
        if node == "lock":
            return self._lock(group, fields)
        if node == "epoch" and fields is not None:
            return self._epoch(group, fields)
        if node == "configuration" and fields is not None:
            return self._configuration(group, fields)
        return []

    def known_paths(self) -> list[str]:
        """The ephemeral nodes that existed at the last report."""
        locks = [f"/cloverlab/groups/{group}/lock" for group, owner in self.holders.items() if owner]
        places = [
            f"/cloverlab/groups/{group}/view/{server}"
            for (group, server), place in self.places.items()
            if place[0]
        ]
        return locks + places

    def session_ended(self, session: int, reason: str) -> list[Event]:
        """Events of an ended session. Removals of its nodes are reported one by one besides."""
        names = [server for server, owner in self.sessions.items() if owner == session]
        for server in names:
            del self.sessions[server]
        return [SessionEnded(server, session, reason) for server in names]

    def _place(self, group: str, server: str, fields: dict[str, Any] | None, session: int) -> list[Event]:
        place = (
            ("", 0, 0)
            if fields is None
            else (str(fields.get("state", "")), number(fields, "epoch"), number(fields, "sn"))
        )
        if session and fields is not None:
            self.sessions[server] = session
        before = self.places.get((group, server), ("", 0, 0))
        if place == before:
            return []
        self.places[group, server] = place
        return [Placed(group, server, *place)]

    def _lock(self, group: str, fields: dict[str, Any] | None) -> list[Event]:
        owner = str(fields.get("owner", "")) if fields is not None else ""
        if self.holders.get(group, "") == owner:
            return []
        self.holders[group] = owner
        return [LockHeld(group, owner)]

    def _epoch(self, group: str, fields: dict[str, Any]) -> list[Event]:
        epoch = (number(fields, "epoch"), str(fields.get("active", "")))
        if self._epochs.get(group) == epoch:
            return []
        self._epochs[group] = epoch
        return [EpochRaised(group, *epoch)]

    def _configuration(self, group: str, fields: dict[str, Any]) -> list[Event]:
        configured = number(fields, "number")
        if self._configurations.get(group) == configured:
            return []
        self._configurations[group] = configured
        recorded = fields.get("disks") or fields.get("instances")
        disks = {name: number(recorded, name) for name in recorded} if isinstance(recorded, dict) else {}
        return [Configured(group, configured, [str(name) for name in fields.get("members", [])], disks)]


def parsed(data: bytes | None) -> dict[str, Any] | None:
    """The JSON object in a node; None for a removed node; empty for bytes that are no JSON object."""
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name, 0)
    return value if isinstance(value, int) else 0
