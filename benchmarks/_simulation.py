"""Shared parts of experiments in virtual time: servers that take time for each message, and callers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from itertools import count

from nodes.metadata.operations import Operation
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.service_time import ServiceTimeModel
from nodes.trace.events import Called, Durable, Stamped

MESSAGE_NS = 50_000
"""Time for each message of a user-level server on a processor of 2 GHz."""


def charge(cluster: SimCluster, threads: int | None = None) -> None:
    """Makes every metadata server take MESSAGE_NS for each message; `threads` as in `ServiceTimeModel`."""
    for name in cluster.view():
        machine = cluster.servers[name].machine
        assert machine is not None
        cluster.net.hosts[name].desk = ServiceTimeModel(machine, MESSAGE_NS, threads=threads)


def charge_writes(cluster: SimCluster) -> None:
    """Called after `charge`. A write in a server's journal takes as much time as a message and queues with them, whichever server received the
    call."""

    def on_event(stamped: Stamped) -> None:
        if type(stamped.event) is Durable:
            desk = cluster.net.hosts[stamped.server].desk
            assert desk is not None
            for _ in range(stamped.event.records):
                desk.take(_carried_out)

    cluster.on_event(on_event)


def _carried_out() -> None:
    """Takes no virtual time of its own."""


def answered(cluster: SimCluster) -> list[int]:
    """Durations in ns of the calls that are answered from now on; the list grows while the cluster runs."""
    latencies_ns: list[int] = []

    def on_event(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
            latencies_ns.append(event.returned_ns - event.invoked_ns)

    cluster.on_event(on_event)
    return latencies_ns


def answered_in(cluster: SimCluster, window_ns: int) -> list[int]:
    """Runs for `window_ns`; returns the durations in ns of the calls answered meanwhile."""
    latencies_ns = answered(cluster)
    cluster.run_for(window_ns)
    return latencies_ns


def clients_at(cluster: SimCluster, members: list[str], each: int) -> list[SimClient]:
    """`each` clients that call each of these members first. A client draws its first member, so clients are started until the numbers fit."""
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
    """One more caller of this client: it pauses for `think_ns` in the mean, calls and waits for the answer. A failed call ends the run."""

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
