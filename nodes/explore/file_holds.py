"""What must not last for ever: the hold of a dead client on a file."""

from __future__ import annotations

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.explore.audit import Audited
from nodes.explore.plan import Plan
from nodes.explore.prober import Prober
from nodes.metadata.operations import Append, Create

TTL_MAX_MS = 20_000
"""The longest session of which the end is awaited."""
EVERY = 4
"""One in so many seeds awaits it: a session that never ends is found soon, and the wait is long."""
BLOCK_BYTES = 512
SERVICE_NS = 30 * SECOND
TIMES = 5
AGAIN = ("ETIMEDOUT", "ESTALE")
"""Errors of a call that may be repeated: its outcome is unknown, or its session has to be opened anew."""


WRITER = "auditor-writer"
PATH = f"/{WRITER}"


def awaits_hold(plan: Plan) -> bool:
    """Whether a trial of this plan awaits the end of a dead client's hold. Sessions end by stamps, and stamps stand still as long as a leader's clock
    is behind those of its predecessor: with wrong clocks there is no bound."""
    right = all(fault.verb not in ("skew_clock", "drift_clock") for fault in plan.faults)
    return right and plan.seed % EVERY == 0 and plan.cluster.session_ttl_ms <= TTL_MAX_MS


def leave_hold(trial: Audited) -> None:
    """Lets a client append to a file and die. Raises FsError."""
    writer = Prober(trial.cluster, WRITER)
    writer.run(held_by(writer, PATH))
    writer.client.die()


def check_hold_ends(trial: Audited) -> None:
    """Checks that the file can be written again within some session lifetimes: a session ends by a record. Raises FsError."""
    cluster, ttl_ms = trial.cluster, trial.config.session_ttl_ms
    heir = Prober(cluster, "auditor-heir")
    until_ns = cluster.now_ns + 4 * ttl_ms * MILLISECOND + SERVICE_NS
    while not heir.run(appends(heir, PATH)):
        if cluster.now_ns > until_ns:
            trial.fail(
                "service", "hold", f"{PATH} is still held by a client that died {ttl_ms} ms times four ago"
            )
            return
        cluster.run_for(ttl_ms * MILLISECOND // 4)
    heir.client.die()


async def held_by(prober: Prober, path: str) -> None:
    """Creates the file and begins to append to it. Raises FsError."""
    await acknowledged(prober, Create(path), "EEXIST")
    await acknowledged(prober, Append(path, BLOCK_BYTES, False))


async def acknowledged(prober: Prober, call: Create | Append, done: str = "") -> None:
    """Repeats a call until it is carried out. While a full log makes writes wait, the session of a new client may take longer to open than it lasts.

    `done`: the error of a copy of a call that had been carried out. Raises FsError.
    """
    for last in (*(False,) * TIMES, True):
        try:
            await prober.client.client.call(call)
            return
        except FsError as error:
            if error.name == done:
                return
            if error.name not in AGAIN or last:
                raise


async def appends(prober: Prober, path: str) -> bool:
    """Whether the file is free; the caller holds it then. Raises FsError for any other error."""
    try:
        await prober.client.client.call(Append(path, BLOCK_BYTES, False))
    except FsError as error:
        if error.name in ("EBUSY", *AGAIN):
            return False
        raise
    return True
