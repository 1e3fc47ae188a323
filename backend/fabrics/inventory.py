"""Which containers a control plane has: told by its environment, the same under compose, Swarm and Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backend.errors import CannotStart
from backend.fabrics.names import CLIENT
from nodes.supervisor.messages import PORT
from nodes.supervisor.supervisor import SERVER_PORT
from nodes.supervisor.zookeeper import CLIENT_PORT

TOKEN_FILE = Path("/run/secrets/cloverlab/token")
"""Made by the control plane at its first start, read by the supervisors."""


class Inventory(msgspec.Struct, frozen=True):
    """Names of hosts by what runs on them. A supervisor answers at `supervisor` with the name put in."""

    servers: list[str]
    spares: list[str]
    """Hosts without a server, for `add_server`."""
    zookeepers: list[str]
    supervisor: str

    @classmethod
    def told(cls, environment: Mapping[str, str]) -> Inventory:
        """Raises CannotStart when a variable is missing or wrong."""

        def names(variable: str) -> list[str]:
            return environment.get(variable, "").split()

        inventory = cls(
            names("CLOVERLAB_SERVERS"),
            names("CLOVERLAB_SPARES"),
            names("CLOVERLAB_ZOOKEEPERS"),
            environment.get("CLOVERLAB_SUPERVISOR", f"{{name}}.control:{PORT}"),
        )
        if len(inventory.servers) < 2 or not inventory.zookeepers:
            raise CannotStart(
                "CLOVERLAB_SERVERS names two servers at least, CLOVERLAB_ZOOKEEPERS one, with blanks between"
            )
        if "{name}" not in inventory.supervisor or not inventory.supervisor.rpartition(":")[2].isdigit():
            raise CannotStart(
                f"CLOVERLAB_SUPERVISOR is like '{{name}}.control:{PORT}', not {inventory.supervisor!r}"
            )
        return inventory

    def hosts(self) -> list[str]:
        return [*self.zookeepers, *self.servers, *self.spares, CLIENT]

    def coordination(self, cluster: str) -> str:
        """Every cluster lives below a node of its own."""
        return ",".join(f"{name}:{CLIENT_PORT}" for name in self.zookeepers) + f"/{cluster}"

    def supervisor_of(self, name: str) -> tuple[str, int]:
        host, _, port = self.supervisor.format(name=name).rpartition(":")
        return host, int(port)


def data_address(name: str) -> str:
    """Where a metadata server listens; its name resolves on the data network only."""
    return f"{name}:{SERVER_PORT}"
