"""Rules for messages between processes: the faults in force decide which are dropped, delayed or lost, per transport."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from backend.names import COORDINATION, EVERYBODY

Direction = Literal["both", "to", "from"]
OPPOSITE: dict[Direction, Direction] = {"both": "both", "to": "from", "from": "to"}


class LinkFault(msgspec.Struct, frozen=True):
    """A fault on the link between a and b; `to` is the direction from a to b."""

    a: str
    b: str
    direction: Direction = "both"
    drop: bool = False
    delay_ms: float = 0
    loss: float = 0.0
    damage: float = 0.0
    jitter_ms: float = 0
    duplicate: float = 0.0
    reorder: float = 0.0
    rule: str = ""
    """The rule as text."""

    def touches(self, a: str | None, b: str | None) -> bool:
        """Whether healing a, or the link a, b, ends this fault."""
        ends = {self.a, self.b}
        return (a is None or a in ends) and (b is None or b in ends)


class LinkEffect(msgspec.Struct):
    """The effect on one direction of a link."""

    drop: bool = False
    delay_ms: float = 0
    loss: float = 0.0
    damage: float = 0.0
    jitter_ms: float = 0
    duplicate: float = 0.0
    reorder: float = 0.0

    def add(self, fault: LinkFault) -> None:
        self.drop = self.drop or fault.drop
        self.delay_ms += fault.delay_ms
        self.jitter_ms += fault.jitter_ms
        for share in ("loss", "damage", "duplicate", "reorder"):
            passes = (1 - getattr(self, share)) * (1 - getattr(fault, share))
            setattr(self, share, 1 - passes)


def ways(direction: Direction) -> tuple[Literal["to", "from"], ...]:
    return ("to", "from") if direction == "both" else (direction,)


def seen_from(fault: LinkFault, name: str) -> list[tuple[str, Literal["to", "from"]]]:
    """Peers and directions that the process `name` must treat for this fault. Both ends apply a cut; only the sender applies other faults."""
    peers: list[tuple[str, Literal["to", "from"]]] = []
    if fault.a == name:
        peers += [(fault.b, way) for way in ways(fault.direction)]
    if fault.b == name:
        peers += [(fault.a, way) for way in ways(OPPOSITE[fault.direction])]
    if not fault.drop and fault.b != EVERYBODY:
        peers = [(peer, way) for peer, way in peers if way == "to"]
    return peers


def transport_rules(faults: list[LinkFault], name: str) -> list[dict[str, Any]]:
    """The `rules` of the control socket for the process `name`."""
    merged: dict[tuple[str, str], LinkEffect] = {}
    for fault in faults:
        for peer, way in seen_from(fault, name):
            if peer != COORDINATION:
                merged.setdefault((peer, way), LinkEffect()).add(fault)
    return [
        {"peer": peer, "direction": way, **msgspec.structs.asdict(rule)}
        for (peer, way), rule in merged.items()
    ]


def relay_rules(faults: list[LinkFault], name: str) -> dict[Literal["to", "from"], LinkEffect]:
    """The rules of the relay between the server `name` and coordination; `to` is the direction to coordination."""
    merged: dict[Literal["to", "from"], LinkEffect] = {"to": LinkEffect(), "from": LinkEffect()}
    for fault in faults:
        for way in relay_ways(fault, name):
            merged[way].add(fault)
    return merged


def relay_ways(fault: LinkFault, name: str) -> tuple[Literal["to", "from"], ...]:
    if fault.a == name and fault.b in (COORDINATION, EVERYBODY):
        return ways(fault.direction)
    if fault.a == COORDINATION and fault.b in (name, EVERYBODY):
        return ways(OPPOSITE[fault.direction])
    return ()
