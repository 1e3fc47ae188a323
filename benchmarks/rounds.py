"""Rounds of random faults on real processes: no lost write, no violated invariant, no failed call. Kills under load: no lost write."""

from __future__ import annotations

import asyncio
import gc
import random
import sys

import uvloop

from backend.errors import LabError, Malformed
from benchmarks import _kills
from benchmarks._cluster import Bench, Make, cluster, processes, report
from nodes.config import Timing, WorkloadConfig
from nodes.faults.table import BY_NAME
from nodes.trace.events import Called, Stamped

ROUNDS = 20
ROUNDS_MOST = 100_000
TIMING = Timing(heartbeat_ms=400, session_timeout_ms=1_000, ack_timeout_ms=300)
MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}
WORKLOAD = WorkloadConfig(clients=8, rate_per_s=200, mix=MIX)
FAULTS = (
    "crash", "power_loss", "pause", "pause", "island", "cut", "take_lock", "expire_session", "lose", "delay"
)  # fmt: skip
OF_ANY = ("crash", "pause", "island")
"""Faults that may also target a coordination server, where the fabric can reach each of them."""
ORDINARY = ("", "ENOENT", "EEXIST")
SETTLE_S = 60.0


async def fault(bench: Bench, rng: random.Random) -> None:
    """Injects one random fault and undoes it after a random time."""
    names, ensemble = list(bench.fabric.home.servers()), bench.fabric.coordination_servers
    verb = rng.choice(FAULTS)
    server = rng.choice([*names, *ensemble] if verb in OF_ANY else names)
    other = rng.choice([name for name in [*names, *(ensemble or ["coordination"])] if name != server])
    lasting = rng.choice((0.3, 1.0, 2.5))
    undo = BY_NAME["cut" if verb == "island" else verb].undo
    options: dict[str, float] = (
        {"share": 0.2} if verb == "lose" else {"ms": rng.choice((20, 400))} if verb == "delay" else {}
    )
    targets = {"take_lock": ["g1"], "cut": [server, other], "lose": [server, other], "delay": [server, other]}
    try:
        faulted = targets.get(verb, [server])
        await bench.faults.do("cut" if verb == "island" else verb, faulted, options)
        await asyncio.sleep(lasting)
        if undo is not None:
            await bench.faults.do(undo.verb, faulted, undo.options)
    except LabError:
        pass


async def mend(bench: Bench) -> None:
    """Undoes all faults of a round."""
    await bench.faults.do("heal_all", [], {})
    for name in [*bench.fabric.coordination_servers, *bench.fabric.home.servers()]:
        state = bench.fabric.state_of(name)
        if state != "running":
            await bench.faults.do("resume" if state == "paused" else "restart", [name], {})


async def measure(rounds: int, seed: int, make: Make = processes) -> tuple[int, int, int]:
    """Returns (clean rounds in a row, calls, failed calls)."""
    calls = failed = 0

    def on_event(stamped: Stamped) -> None:
        nonlocal calls, failed
        if type(stamped.event) is Called:
            calls += 1
            failed += stamped.event.error not in ORDINARY

    async with cluster(on_event, TIMING, WORKLOAD, make=make) as bench:
        for number in range(rounds):
            rng = random.Random(f"{seed}/{number}")
            await asyncio.gather(*(fault(bench, rng) for _ in range(2)))
            await mend(bench)
            await bench.until(bench.fabric.settled, SETTLE_S)
            before = calls
            await bench.until(lambda before=before: calls > before + 20)  # type: ignore[misc]
            print(f"{number + 1}/{rounds}", end="\r", file=sys.stderr)
            if failed or bench.broken():
                print(bench.broken(), file=sys.stderr)
                return number, calls, failed
    return rounds, calls, failed


def main(rounds: str = str(ROUNDS)) -> int:
    """`[ROUNDS]`: rounds of kills with the audit, after 20 of all kinds of faults. Prints one JSON object."""
    if not rounds.isdecimal() or not 0 < int(rounds) <= ROUNDS_MOST:
        raise Malformed(f"{rounds[:40]!r} is no number of rounds between 1 and {ROUNDS_MOST}")
    gc.set_threshold(200_000, 50, 1000)
    clean, calls, failed = uvloop.run(measure(ROUNDS, 1))
    killed = _kills.measure(int(rounds))
    for failure in killed.failures:
        print(f"{failure.invariant} ({failure.place}): {failure.explanation}", file=sys.stderr)
    figures = {
        "process_rounds_clean": clean,
        "calls": calls,
        "failed_calls": failed,
        "process_kills_clean": killed.kills,
        "process_kill_rounds_clean": killed.rounds,
        "process_kill_audits": killed.audits,
        "process_kill_calls": killed.calls,
        "process_kill_failures": len(killed.failures),
    }
    config = {"rounds": ROUNDS, "kill_rounds": int(rounds), "session_timeout_ms": TIMING.session_timeout_ms}
    report("rounds", config, figures, {})
    return 1 if killed.failures else 0
