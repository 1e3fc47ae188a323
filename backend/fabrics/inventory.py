"""The containers of a control plane, from its environment: the same under compose, Swarm and Kubernetes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import msgspec

from backend.errors import ClusterCannotStart, Malformed
from backend.names import CLIENT
from nodes.families import family_named
from nodes.kinds import KINDS
from nodes.supervisor.messages import PORT
from nodes.supervisor.secret import ContainerKeys, container_keys
from nodes.supervisor.supervisor import SERVER_PORT
from nodes.supervisor.zookeeper import CLIENT_PORT
from nodes.wire.keys import Keys, keys_of

TOKEN_FILE = Path("/run/secrets/cloverlab/token")
"""Path of the token that the control plane creates at its first start and the supervisors read."""


class Inventory(msgspec.Struct, frozen=True):
    """Names of hosts by purpose. The address of a supervisor is `supervisor` with the host's name put in."""

    groups: list[list[str]]
    """The servers of each replica group."""
    spares: list[str]
    """Hosts without a server, for `add_server` into any group."""
    nodes: dict[str, list[str]]
    """Hosts of the nodes of each kind that has hosts of its own."""
    zookeepers: list[str]
    supervisor: str
    carried: dict[str, str] = {}
    """Hosts of the nodes of all other kinds, taken from the spares."""

    @classmethod
    def reported(cls, environment: Mapping[str, str]) -> Inventory:
        """Raises ClusterCannotStart when a variable is missing or wrong."""

        def names(variable: str) -> list[str]:
            return environment.get(variable, "").split()

        inventory = cls(
            [group.split() for group in environment.get("CLOVERLAB_GROUPS", "").split(",")],
            names("CLOVERLAB_SPARES"),
            {
                kind.name: names(f"CLOVERLAB_{kind.table.upper()}")
                for kind in KINDS.values()
                if kind.own_hosts
            },
            names("CLOVERLAB_ZOOKEEPERS"),
            environment.get("CLOVERLAB_SUPERVISOR", f"{{name}}.control:{PORT}"),
        )
        if not all(inventory.groups) or not inventory.zookeepers:
            raise ClusterCannotStart(
                "CLOVERLAB_GROUPS names the servers of each group, with a comma between groups, and CLOVERLAB_ZOOKEEPERS"
                " one server at least, with blanks between names"
            )
        twice = [name for name, count in Counter(inventory.hosts()).items() if count > 1]
        if twice:
            raise ClusterCannotStart(f"{twice[0]} is named twice; each container runs one server")
        if "{name}" not in inventory.supervisor or not inventory.supervisor.rpartition(":")[2].isdigit():
            raise ClusterCannotStart(
                f"CLOVERLAB_SUPERVISOR is like '{{name}}.control:{PORT}', not {inventory.supervisor!r}"
            )
        return inventory

    def of_family(self, protocol: str) -> Inventory:
        """The inventory with as many groups and servers as the family runs. The other hosts become spares, and the first spares carry
        the nodes that the family needs. The last groups are left out when spares are missing. Raises Malformed, ClusterCannotStart."""
        try:
            family = family_named(protocol)
        except ValueError as error:
            raise Malformed(str(error)) from None
        groups = [group[: family.standbys_max + 1] for group in self.groups[: family.groups_max]]
        needed = chain.from_iterable(kind.named(family, kind.needed(family)) for kind in KINDS.values())
        nodes = list(needed)
        while len(groups) > 1 and len(self._beside(groups)) < len(nodes):
            groups.pop()
        spares = self._beside(groups)
        return msgspec.structs.replace(self, groups=groups, spares=spares).carrying(nodes)

    def _beside(self, groups: list[list[str]]) -> list[str]:
        used = set(chain.from_iterable(groups))
        return [name for name in self.servers() if name not in used]

    def carrying(self, nodes: list[str]) -> Inventory:
        """The inventory whose first spares carry these nodes. Raises ClusterCannotStart when there are too few."""
        if len(self.spares) < len(nodes):
            raise ClusterCannotStart(
                f"{', '.join(nodes)} need a container each, and beside the servers' there are"
                f" {len(self.spares)}; take servers out of CLOVERLAB_GROUPS"
            )
        carried = dict(zip(nodes, self.spares, strict=False))
        return msgspec.structs.replace(self, carried=carried, spares=self.spares[len(carried) :])

    def servers(self) -> list[str]:
        """Hosts that run or may run a metadata server."""
        return [*chain.from_iterable(self.groups), *self.spares]

    def processes(self) -> list[str]:
        """Processes that run or may run. A host has the name of its process, unless it is a spare that carries a node."""
        return [
            *self.zookeepers,
            *self.servers(),
            *chain.from_iterable(self.nodes.values()),
            *self.carried,
            CLIENT,
        ]

    def hosts(self) -> list[str]:
        return [self.host_of(name) for name in self.processes()]

    def keys(self, token: bytes) -> dict[str, ContainerKeys]:
        """The keys of every host. A client has none of a server, and a ZooKeeper server those of its supervisor alone. Raises WeakToken."""
        process = dict.fromkeys(self.hosts(), keys_of(token, serves=True))
        process |= dict.fromkeys(self.zookeepers, Keys()) | {CLIENT: keys_of(token, serves=False)}
        return {host: container_keys(token, host, each) for host, each in process.items()}

    def host_of(self, process: str) -> str:
        return self.carried.get(process, process)

    def coordination(self, cluster: str) -> str:
        """The coordination address of a cluster; every cluster has its own chroot."""
        return ",".join(f"{name}:{CLIENT_PORT}" for name in self.zookeepers) + f"/{cluster}"

    def supervisor_of(self, process: str) -> tuple[str, int]:
        host, _, port = self.supervisor.format(name=self.host_of(process)).rpartition(":")
        return host, int(port)

    def data_address(self, process: str) -> str:
        """Address at which a process listens; names of hosts resolve only on the data network."""
        return f"{self.host_of(process)}:{SERVER_PORT}"
