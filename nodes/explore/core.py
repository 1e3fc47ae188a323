"""Healing after the faults: first only a core that must suffice to serve, then everything."""

from __future__ import annotations

import random
from collections import Counter

from nodes.config import ClusterConfig
from nodes.explore.atlas import Atlas
from nodes.explore.stage import Scripted, Stage
from nodes.families import family_named
from nodes.faults.check import FaultUnsupported
from nodes.faults.table import LINK_VERBS
from nodes.roles import SERVING
from nodes.sim.ensemble import COORDINATION

WORST = 0.6
"""Share of trials that leave out the servers behind the most faults of links."""


def heal_core(cluster: Stage, atlas: Atlas, config: ClusterConfig, rng: random.Random) -> list[str]:
    """Heals a core that each family promises to be sufficient; returns the servers that are left out.

    Of each set of servers as many are left out as the family may lose at once, less those whose disks were damaged. The last one that is not gone
    for ever stays.
    """
    left: list[str] = []
    worst = faults_by_server(cluster) if rng.random() < WORST else Counter[str]()
    for label, members in sets_of(cluster, config).items():
        count = min(atlas.survives(label), spared(label, len(members), config))
        damaged = atlas.damaged(label)
        candidates = [name for name in members if name not in damaged]
        rng.shuffle(candidates)
        candidates.sort(key=lambda name: -worst[name])
        count = min(count - len(damaged), len(members) - gone_of(cluster, members) - 1)
        left += without_last_known(candidates[: max(0, count)], label, members, config)
    cut_off_half_there(cluster, left, config, rng)
    heal_links(cluster, left)
    start_and_mend(cluster, left)
    return sorted(left)


def without_last_known(left: list[str], label: str, members: list[str], config: ClusterConfig) -> list[str]:
    """The servers to leave out, but for one that clients know when these are all of that kind. Clients know the servers of the first
    configuration, and ask data nodes for others."""
    known = [
        name for group in config.groups if group.name == label for name in group.members if name in members
    ]
    if config.data.nodes or not known or not set(known) <= set(left):
        return left
    return [name for name in left if name != known[0]]


def members_to_lose(cluster: Stage, atlas: Atlas, config: ClusterConfig, rng: random.Random) -> list[str]:
    """A member of each set that may lose one more: in half of the draws one that serves, in the others one that counts without serving. All but those
    that are gone for ever are there and count, on whatever disk; the last one of these stays."""
    lost: list[str] = []
    for label, members in sets_of(cluster, config).items():
        serving = [name for name in members if cluster.places.get(name) in SERVING]
        others = [name for name in members if name not in serving and not cluster.servers[name].gone]
        gone = gone_of(cluster, members)
        count = min(atlas.survives(label), spared(label, len(members), config))
        candidates = serving if serving and (not others or rng.random() < 0.5) else others
        if len(members) - gone > 1 and count > gone:
            lost += without_last_known([rng.choice(candidates)], label, members, config)
    return lost


def gone_of(cluster: Stage, members: list[str]) -> int:
    """The number of members whose machines are gone for ever."""
    return sum(cluster.servers[name].gone for name in members)


def faults_by_server(cluster: Stage) -> Counter[str]:
    """Standing faults of links at each server."""
    return Counter(
        name for verb, names in cluster.faults.standing.values() if verb in LINK_VERBS for name in names
    )


GIVES_WAY = ("mams", "2pc")
"""Families in which a leader that reaches coordination alone is known to give way (safety rule 17), by a thousand seeds each."""


def cut_off_half_there(cluster: Stage, left: list[str], config: ClusterConfig, rng: random.Random) -> None:
    """Cuts off left-out servers. Behind links that pass some messages, or that join it to a part of the core, such a server could lead as long as
    its session lives, and no family promises to replace it. One that reaches coordination alone is replaced where leaders give way."""
    at_links = faults_by_server(cluster).keys()
    clients = {name for name, server in cluster.servers.items() if server.client}
    of_core = at_links - {*left} - clients
    gives_way = config.protocol in GIVES_WAY
    for name in left:
        if name not in at_links and not of_core:
            continue
        if gives_way and rng.random() < 0.5:
            for other in cluster.servers:
                if other != name and other not in clients:
                    cluster.faults.do("cut", [name, other])
        else:
            cluster.faults.do("cut", [name])


def spared(label: str, members: int, config: ClusterConfig) -> int:
    """The number of a set's members that are not needed to serve now: less than half of a replica group's present configuration."""
    if label == "data":
        return 0
    family = family_named(config.protocol)
    if label == "journal" or family.journal_nodes:
        return members
    counted = (members - 1) // 2
    if family.journal_sync == "two_phase":
        # A group needs the answers of all, and removes who is silent down to its floor.
        first = next((len(group.members) for group in config.groups if group.name == label), members)
        counted = min(counted, members - config.floor(first))
    return max(0, counted)


def sets_of(cluster: Stage, config: ClusterConfig) -> dict[str, list[str]]:
    """The members that count: of the present configuration in families that change it, else of the first one."""
    found = {group.name: list(group.members) for group in config.groups}
    for group, members in cluster.configured.items():
        found[group] = [name for name in members if name in cluster.servers]
    return found | {"journal": config.journal.nodes, "data": config.data.nodes}


def heal_links(cluster: Stage, left: list[str]) -> None:
    """Mends every link except those of left-out servers."""
    if not left:
        cluster.faults.heal_all()
        return
    names = [name for name in (*cluster.servers, COORDINATION) if name not in left]
    cluster.faults.heal(names, others=names)


def start_and_mend(cluster: Stage, left: list[str]) -> None:
    """Repairs disks and clocks, and starts every server that is not left out or gone for ever."""
    cluster.mend_coordination()
    for name, server in cluster.servers.items():
        if name in left or server.gone or server.client:
            continue
        cluster.mend_disk(name)
        try:
            if server.process == "paused":
                cluster.faults.resume(name)
            elif server.process == "stopped":
                cluster.faults.restart(name)
        except FaultUnsupported:
            continue


def heal_all(cluster: Stage) -> None:
    """Ends every fault and the background losses, and starts every server that can run: replicas of a group that loses messages are never all
    equal."""
    cluster.clear_up()
    heal_links(cluster, [])
    start_and_mend(cluster, [])
    for name, server in cluster.servers.items():
        if server.process == "paused" and not server.gone:
            cluster.faults.resume(name)


def disturbed_still(cluster: Stage, clients: list[Scripted]) -> str:
    """Servers that are not in step, calls that have not returned and questions that are open, as text."""
    view = ", ".join(
        f"{name} {cluster.places.get(name) or cluster.servers[name].process}" for name in cluster.view()
    )
    waiting = [f"{client.name} waits for {calls_in_words(client)}" for client in clients if not client.done]
    asked = [f"not answered yet: {question}" for question in cluster.unanswered]
    return "; ".join([f"the view is {view}", *waiting, *asked])


def calls_in_words(client: Scripted) -> str:
    """The calls under way; a client without one is between two calls."""
    calls = [f"call {number} ({call})" for number, call in client.under_way.items()]
    return ", ".join(calls) or "its next call"
