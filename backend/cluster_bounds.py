"""Bounds of a cluster that stands on a machine with many others: they hold for everybody who uses it."""

from __future__ import annotations

import msgspec

from backend.errors import Impossible
from nodes.config import SECOND


class ClusterBounds(msgspec.Struct, frozen=True):
    speed: float = 1.0
    """Largest speed of virtual time."""
    rate_per_s: float = 20.0
    clients: int = 4
    servers: int = 12
    log_bytes: int = 8 << 20
    """Size of all inputs; what a person writes into the namespace is in memory several times."""
    until_ns: int = 3_600 * SECOND
    """Virtual instant at which the clock pauses for good."""

    def check_speed(self, speed: float) -> None:
        """Raises Impossible."""
        if speed > self.speed:
            raise Impossible(
                f"in a class the clock runs at most x{self.speed:g}: many clusters share the machine"
            )

    def check_time(self, now_ns: int) -> None:
        """Raises Impossible."""
        if now_ns >= self.until_ns:
            raise Impossible(
                f"this cluster has run for {self.until_ns // SECOND} s, the most in a class: begin a new one"
            )

    def check_load(self, rate_per_s: float | None, clients: int | None) -> None:
        """Raises Impossible."""
        if (rate_per_s or 0) > self.rate_per_s or (clients or 0) > self.clients:
            raise Impossible(
                f"in a class a cluster has at most {self.rate_per_s:g} calls a second and {self.clients} at once"
            )

    def check_servers(self, verb: str, servers: int) -> None:
        """Raises Impossible when one more is added."""
        if verb == "add_server" and servers >= self.servers:
            raise Impossible(f"in a class a cluster has at most {self.servers} servers")
