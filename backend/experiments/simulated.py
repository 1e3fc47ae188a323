"""What experiments in virtual time share: servers that take time for each message, and callers of their own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from itertools import count

from nodes.metadata.operations import Operation
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.desk import Desk
from nodes.trace.events import Called, Durable, Stamped

MESSAGE_NS = 50_000
"""A user-level server on a processor of 2 GHz, for each message that it takes."""


def charge(cluster: SimCluster, threads: int | None = None) -> None:
    """From now on every metadata server takes MESSAGE_NS for each message; `threads` as in `Desk`."""
    for name in cluster.view():
        machine = cluster.servers[name].machine
        assert machine is not None
        cluster.net.hosts[name].desk = Desk(machine, MESSAGE_NS, threads=threads)


def charge_writes(cluster: SimCluster) -> None:
    """After `charge`: a write that is in a server's journal takes as much there as a message, whoever was asked for it, and queues with them."""

    def on_event(stamped: Stamped) -> None:
        if type(stamped.event) is Durable:
            desk = cluster.net.hosts[stamped.server].desk
            assert desk is not None
            for _ in range(stamped.event.records):
                desk.take(_carried_out)

    cluster.on_event(on_event)


def _carried_out() -> None:
    """Nothing that takes virtual time of its own."""


def answered(cluster: SimCluster) -> list[int]:
    """The nanoseconds that each call took which is answered from now on; it grows while the cluster runs."""
    latencies_ns: list[int] = []

    def on_event(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
            latencies_ns.append(event.returned_ns - event.invoked_ns)

    cluster.on_event(on_event)
    return latencies_ns


def answered_in(cluster: SimCluster, window_ns: int) -> list[int]:
    """Runs for so long; the nanoseconds that each call took which was answered meanwhile."""
    latencies_ns = answered(cluster)
    cluster.run_for(window_ns)
    return latencies_ns


def clients_at(cluster: SimCluster, members: list[str], each: int) -> list[SimClient]:
    """`each` clients that begin with each of these members, dealt round; a client draws its member itself."""
    found: dict[str, list[SimClient]] = {name: [] for name in members}
    for number in count():
        client = cluster.start_client(f"client{number}")
        begins_with = found.get(client.client.believed_active, [])
        if len(begins_with) < each:
            begins_with.append(client)
        if all(len(there) == each for there in found.values()):
            break
    return [client for place in range(each) for client in (found[name][place] for name in members)]


def call_on(
    cluster: SimCluster, client: SimClient, operations: Iterable[Operation], think_ns: int, rng: random.Random
) -> None:
    """One more caller of this client: thinks for `think_ns` in the mean, calls, waits for the answer. A call that fails ends the run."""

    async def calls() -> None:
        for operation in operations:
            if think_ns:
                await client.clock.sleep(int(rng.expovariate(1 / think_ns)))
            await client.client.call(operation)

    def ended(task: asyncio.Task[None]) -> None:
        error = task.exception()
        if error is not None:
            cluster.loop.errors.append(error)

    client.begin(calls()).add_done_callback(ended)
