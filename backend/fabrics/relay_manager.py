"""The control plane's side of the relay process."""

from __future__ import annotations

from backend.errors import Unavailable
from backend.fabrics import launch
from backend.fabrics.children import Child, Roster
from backend.fabrics.home import Home
from backend.fabrics.links import LinkFault, relay_rules
from backend.fabrics.sockets import ask
from backend.names import RELAYS


class RelayManager:
    """Keeps the relays' ports and sends the relays their rules."""

    def __init__(self, home: Home, children: Roster):
        self._home = home
        self._children = children
        self._socket = home.socket_of(RELAYS)
        self._targets: list[str] = []

    async def start(self, leftovers: dict[str, Child], servers: list[str], targets: list[str]) -> None:
        self._targets = targets
        adopted = RELAYS in leftovers
        if adopted:
            try:
                await ask(self._socket, {"do": "status"})
            except Unavailable:
                await leftovers[RELAYS].kill()
                adopted = False
        if not adopted:
            await self._children.spawn(
                RELAYS, "relays", "backend.fabrics.relays", "--control", str(self._socket)
            )
        for name in servers:
            await self.add(name, in_use=adopted)
            await self.apply([], name)

    async def add(self, name: str, in_use: bool = False) -> None:
        ports = [self._home.port_of(self._name(name, place), in_use) for place in range(len(self._targets))]
        await ask(self._socket, {"do": "add", "name": name, "ports": ports, "targets": self._targets})

    def address_of(self, name: str) -> str:
        """The host list through which the server reaches coordination."""
        ports = [self._home.file.ports[self._name(name, place)] for place in range(len(self._targets))]
        return ",".join(launch.address(port) for port in ports)

    async def apply(self, links: list[LinkFault], name: str) -> None:
        rules = relay_rules(links, name)
        reported = {
            "cut_to": rules["to"].drop,
            "cut_from": rules["from"].drop,
            "delay_ms": max(rules["to"].delay_ms, rules["from"].delay_ms),
            "jitter_ms": max(rules["to"].jitter_ms, rules["from"].jitter_ms),
            "loss": max(rules["to"].loss, rules["from"].loss),
        }
        await ask(self._socket, {"do": "rules", "name": name, "rules": reported})

    def _name(self, server: str, place: int) -> str:
        return f"relay-{server}" if place == 0 else f"relay-{server}-{place}"
