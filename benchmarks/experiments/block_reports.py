"""`cfs-fig10-reports`: time to report blocks to the active and all standbys (CFS §5.5.1, Fig. 10, right axis).

The real reports, codec, checks and block maps, in one process: no network, and one server after the other.
"""

from __future__ import annotations

import gc
import time
from itertools import pairwise

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from nodes.blocks.block_map import BlockMap
from nodes.blocks.credibility import wrong_row
from nodes.mechanisms import MESSAGES
from nodes.servers.reporter import ReplicaLedger
from nodes.units import GROUP_SHIFT
from nodes.wire.codec import Codec
from nodes.wire.data_messages import FINAL, FullReport, Heartbeat, ReplicaRow

GROUP = 1
SERVERS = 4
"""1A3S."""
DATA_NODES = 4
LENGTH = 64 << 10
"""Bytes of a block, as in the paper."""
COUNTS = (250_000, 500_000, 1_000_000, 1_500_000)
QUICK = (5_000, 10_000, 20_000)
QUICK_TIMES = 3
"""Quick runs of each count, of which the fastest counts: they last milliseconds, and the processor's caches serve others too."""
PAPER = {"blocks_1500000_over_250000": 6.0}
"""A straight line; the paper's is below 40 s for 1.5 million blocks."""


def rows_of(node: int, count: int) -> list[ReplicaRow]:
    """Every data node's share of `count` blocks of the group."""
    first = GROUP << GROUP_SHIFT
    return [ReplicaRow(first + number, 1, LENGTH, FINAL) for number in range(1 + node, 1 + count, DATA_NODES)]


def reported_s(count: int) -> float:
    """Seconds of one processor until all servers know all blocks. Raises ValueError when one does not."""
    codec = Codec(MESSAGES)
    ledgers = [ReplicaLedger(1 + node) for node in range(DATA_NODES)]
    rows = [rows_of(node, count) for node in range(DATA_NODES)]
    gc.collect()
    gc.freeze()
    began_s = time.process_time()
    for _ in range(SERVERS):
        blocks = BlockMap()
        for node, (ledger, each) in enumerate(zip(ledgers, rows, strict=True)):
            name = f"dn{node + 1}"
            blocks.on_beat(name, Heartbeat(ledger.boot, 0, "", 1 << 50, 0, 0), 0)
            for part in ledger.full(each):
                (message,) = codec.decode(codec.encode([part]))
                assert isinstance(message, FullReport)
                if any(wrong_row(GROUP, row) for row in message.rows) or not blocks.on_part(name, message):
                    raise ValueError(f"a report of {name} was refused")
        if len(blocks.blocks()) != count:
            raise ValueError(f"{len(blocks.blocks())} of {count} blocks are known")
    took_s = time.process_time() - began_s
    gc.unfreeze()
    return took_s


def run(quick: bool) -> ExperimentOutcome:
    counts, times = (QUICK, QUICK_TIMES) if quick else (COUNTS, 1)
    found = {count: min(reported_s(count) for _ in range(times)) for count in counts}
    most, least = counts[-1], counts[0]
    figures = {f"s_{count}": round(s, 3) for count, s in found.items()}
    figures[f"blocks_{most}_over_{least}"] = round(found[most] / found[least], 2)
    for less, more in pairwise(counts):
        figures[f"blocks_{more}_over_{less}"] = round(found[more] / found[less], 2)
    points: list[Point] = [(float(count), s) for count, s in found.items()]
    chart = Chart(
        "Block reports to one active and three standbys",
        "blocks",
        "seconds of one processor",
        {"reports": points},
    )
    config = {"fabric": "one process", "servers": SERVERS, "data_nodes": DATA_NODES, "blocks": list(counts)}
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = (
    "Each block is reported by one data node to all four servers: rows, codec, checks and block maps are the real ones, the network is left out. "
    "The servers take their reports at the same time in the paper, one after the other here."
)

EXPERIMENTS = [
    Experiment(
        "cfs-fig10-reports", "CFS §5.5.1, Fig. 10", "block reports to the active and the standbys", run
    )
]
