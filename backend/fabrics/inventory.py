"""Which containers a control plane has: told by its environment, the same under compose, Swarm and Kubernetes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain
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

    groups: list[list[str]]
    """The servers of each replica group."""
    spares: list[str]
    """Hosts without a server, for `add_server` into any group."""
    data_nodes: list[str]
    zookeepers: list[str]
    supervisor: str

    @classmethod
    def told(cls, environment: Mapping[str, str]) -> Inventory:
        """Raises CannotStart when a variable is missing or wrong."""

        def names(variable: str) -> list[str]:
            return environment.get(variable, "").split()

        inventory = cls(
            [group.split() for group in environment.get("CLOVERLAB_GROUPS", "").split(",")],
            names("CLOVERLAB_SPARES"),
            names("CLOVERLAB_DATA_NODES"),
            names("CLOVERLAB_ZOOKEEPERS"),
            environment.get("CLOVERLAB_SUPERVISOR", f"{{name}}.control:{PORT}"),
        )
        if not all(inventory.groups) or not inventory.zookeepers:
            raise CannotStart(
                "CLOVERLAB_GROUPS names the servers of each group, with a comma between groups, and CLOVERLAB_ZOOKEEPERS"
                " one server at least, with blanks between names"
            )
        twice = [name for name, count in Counter(inventory.hosts()).items() if count > 1]
        if twice:
            raise CannotStart(f"{twice[0]} is named twice; each container runs one server")
        if "{name}" not in inventory.supervisor or not inventory.supervisor.rpartition(":")[2].isdigit():
            raise CannotStart(
                f"CLOVERLAB_SUPERVISOR is like '{{name}}.control:{PORT}', not {inventory.supervisor!r}"
            )
        return inventory

    def servers(self) -> list[str]:
        """Where a metadata server runs or may run."""
        return [*chain.from_iterable(self.groups), *self.spares]

    def hosts(self) -> list[str]:
        return [*self.zookeepers, *self.servers(), *self.data_nodes, CLIENT]

    def coordination(self, cluster: str) -> str:
        """Every cluster lives below a node of its own."""
        return ",".join(f"{name}:{CLIENT_PORT}" for name in self.zookeepers) + f"/{cluster}"

    def supervisor_of(self, name: str) -> tuple[str, int]:
        host, _, port = self.supervisor.format(name=name).rpartition(":")
        return host, int(port)


def data_address(name: str) -> str:
    """Where a metadata server or data node listens; its name resolves on the data network only."""
    return f"{name}:{SERVER_PORT}"
