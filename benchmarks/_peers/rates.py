"""The figures that every peer has of its Java client: rates of calls, and the journal's latencies."""

from __future__ import annotations

from benchmarks._peers.figures import JOURNAL_RATES, RECORD_BYTES, Figures, PeerScale, journal_keys, rate_key
from benchmarks._peers.processes import JavaClient

MARGIN_S = 60.0


def call_rates(client: JavaClient, operations: tuple[str, ...], scale: PeerScale) -> Figures:
    """Calls a second of each operation at each number of callers; `failed_calls` of all."""
    figures: Figures = {"failed_calls": 0.0}
    first_s = scale.first_s / len(operations)
    for operation in operations:
        client.ask("rate", operation, scale.callers[0], 0, first_s, limit_s=first_s + MARGIN_S)
    for callers in scale.callers:
        for operation in operations:
            warm_s = 0.0 if operation == "delete" else scale.warm_s
            limit_s = warm_s + scale.window_s + MARGIN_S
            found = client.ask("rate", operation, callers, warm_s, scale.window_s, limit_s=limit_s)
            figures[rate_key(operation, callers)] = found["per_s"]
            figures["failed_calls"] += found["failed"]
    return figures


def journal_latencies(client: JavaClient, scale: PeerScale) -> Figures:
    """Mean milliseconds of a record and of a flush at each rate, and the records a second that became safe."""
    figures: Figures = {}
    client.ask(
        "journal", RECORD_BYTES, JOURNAL_RATES[1], scale.first_s / 3, limit_s=5 * scale.first_s + MARGIN_S
    )
    for rate in JOURNAL_RATES:
        limit_s = 12 * scale.journal_s + MARGIN_S
        found = client.ask("journal", RECORD_BYTES, rate, scale.journal_s, limit_s=limit_s)
        record, flush = journal_keys(rate)
        figures |= {
            record: found["mean_ms"],
            flush: found["flush_ms"],
            f"journal_per_s_{rate // 1_000}k": found["per_s"],
        }
    return figures
