"""The views of the groups that a client asks for and is sent: each is a hint, and every server decides for itself whether it leads (CFS §4.4)."""

from __future__ import annotations

from collections.abc import Mapping

from nodes.client.routing import Routes
from nodes.config import ClusterConfig
from nodes.families import family_named
from nodes.wire.messages import AskView, ViewCopy
from nodes.world import World


class Views:
    """Asks servers and data nodes for views, and takes their copies into the routes of the groups."""

    def __init__(self, world: World, cluster: ClusterConfig, groups: Mapping[int, Routes]):
        self._world = world
        self._groups = groups
        self._data_nodes = cluster.data.nodes
        self._mutations = cluster.mutations
        self._name_actives = family_named(cluster.protocol).asked != "anywhere"

    def ask(self, group: int) -> None:
        """Asks every server of a group, because any of them may be the next one that does not answer. They send each new view from then on."""
        routes = self._groups[group]
        routes.asks_views = True
        for server in routes.servers:
            self._world.network.send(server, AskView())

    def ask_pool(self, group: int) -> None:
        """After a round without an answer: asks for the copy of the view in the pool (CFS §4.4)."""
        for node in self._data_nodes:
            self._world.network.send(node, AskView(group))

    def learn(self, peer: str, copy: ViewCopy) -> list[int]:
        """Learns servers that were added since. Returns the groups that have a new active."""
        if self._mutations.view_unreachable:
            return []
        led_anew = []
        for number, routes in self._groups.items():
            ours = routes.knows(peer)
            if copy.active and (ours or (peer in self._data_nodes and number == copy.group)):
                self._learn_servers(routes, copy)
                if ours and self._name_actives and routes.accept_view(copy.epoch, copy.active):
                    led_anew.append(number)
        return led_anew

    def _learn_servers(self, routes: Routes, copy: ViewCopy) -> None:
        """Learns the servers of a group. The copy has the addresses of all registered servers, and only the active surely belongs to that group."""
        names = [copy.active]
        if self._mutations.view_of_all_groups:
            names += copy.addresses
        for name in names:
            self._world.network.know(name, copy.addresses.get(name, ""))
            routes.learn(name)
