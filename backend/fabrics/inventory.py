"""Which containers a control plane has: told by its environment, the same under compose, Swarm and Kubernetes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import msgspec

from backend.errors import CannotStart
from backend.fabrics.names import CLIENT
from nodes.families import family_named
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
    carried: dict[str, str] = {}
    """Journal nodes or bookies, and the hosts that they run on: they have none of their own."""

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

    def of_family(self, protocol: str) -> Inventory:
        """As many of the groups as the family runs, as many servers in each as it allows; the other hosts are spares, and the first of
        them carry its journal nodes, for which groups are left out from the last on. Raises CannotStart."""
        try:
            family = family_named(protocol)
        except ValueError as error:
            raise CannotStart(str(error)) from None
        groups = [group[: family.standbys_max + 1] for group in self.groups[: family.groups_max]]
        journal_nodes = family.journal_names()
        while len(groups) > 1 and len(self._beside(groups)) < len(journal_nodes):
            groups.pop()
        spares = self._beside(groups)
        return msgspec.structs.replace(self, groups=groups, spares=spares).carrying(journal_nodes)

    def _beside(self, groups: list[list[str]]) -> list[str]:
        used = set(chain.from_iterable(groups))
        return [name for name in self.servers() if name not in used]

    def carrying(self, journal_nodes: list[str]) -> Inventory:
        """The first spares carry these. Raises CannotStart when there are too few."""
        if len(self.spares) < len(journal_nodes):
            raise CannotStart(
                f"{', '.join(journal_nodes)} need a container each, and beside the servers' there are"
                f" {len(self.spares)}; take servers out of CLOVERLAB_GROUPS"
            )
        carried = dict(zip(journal_nodes, self.spares, strict=False))
        return msgspec.structs.replace(self, carried=carried, spares=self.spares[len(carried) :])

    def servers(self) -> list[str]:
        """Where a metadata server runs or may run."""
        return [*chain.from_iterable(self.groups), *self.spares]

    def processes(self) -> list[str]:
        """Who runs or may run; a host bears the name of its process, but for those that carry another."""
        return [*self.zookeepers, *self.servers(), *self.data_nodes, *self.carried, CLIENT]

    def hosts(self) -> list[str]:
        return [self.host_of(name) for name in self.processes()]

    def host_of(self, process: str) -> str:
        return self.carried.get(process, process)

    def coordination(self, cluster: str) -> str:
        """Every cluster lives below a node of its own."""
        return ",".join(f"{name}:{CLIENT_PORT}" for name in self.zookeepers) + f"/{cluster}"

    def supervisor_of(self, process: str) -> tuple[str, int]:
        host, _, port = self.supervisor.format(name=self.host_of(process)).rpartition(":")
        return host, int(port)

    def data_address(self, process: str) -> str:
        """Where it listens; names of hosts resolve on the data network only."""
        return f"{self.host_of(process)}:{SERVER_PORT}"
