"""The experiments in virtual time, small: their shape."""

from __future__ import annotations

from statistics import median

import pytest

from backend.experiments import order_latency, packing, reads_anywhere
from backend.experiments.registry import experiment_named
from nodes.config import MILLISECOND

WINDOW_NS = 50 * MILLISECOND


def test_packing_saves_most_messages_and_costs_a_single_caller_nothing() -> None:
    unpacked = packing.creates(packing.UNPACKED, 1, window_ns=WINDOW_NS)
    packed = packing.creates(packing.PACKED, 1, window_ns=WINDOW_NS)
    assert packed.messages_per_create < 0.2 * unpacked.messages_per_create
    assert packed.share(3, 6) > 0.5 and packed.creates > 2 * unpacked.creates
    alone = [
        median(packing.creates(protocol, 1, callers=1, window_ns=10 * WINDOW_NS).latencies_ns)
        for protocol in (packing.UNPACKED, packing.PACKED)
    ]
    assert alone[1] < 1.2 * alone[0]


def test_more_service_threads_put_more_records_into_a_message() -> None:
    found = [
        packing.creates(packing.PACKED, 1, threads=threads, window_ns=WINDOW_NS).records_per_message
        for threads in (1, 4, None)
    ]
    assert found == sorted(found) and found[2] > 2 * found[0]


def test_the_papers_table_adds_up() -> None:
    told = packing.told_of(packing.PAPER_UNPACKED, packing.PAPER_PACKED)
    assert sum(packing.PAPER_UNPACKED.by_records.values()) == 600_600
    assert sum(packing.PAPER_PACKED.by_records.values()) == 68_158
    assert (told["message_reduction"], told["records_per_message"]) == (0.887, 4.43)


def test_fast_order_takes_a_round_trip_where_plain_waits_for_heartbeats() -> None:
    fast = order_latency.one_sender(3, "fast", 1, 20)
    plain = order_latency.one_sender(3, "plain", 1, 3)
    trip_ns = order_latency.round_trip_ns(3, 1)
    assert median(fast.latencies_ns) < 1.3 * trip_ns
    assert 100 * trip_ns < median(plain.latencies_ns) < 700 * MILLISECOND
    assert fast.acknowledgements == 2 * fast.with_calls


def test_members_that_all_send_acknowledge_with_what_they_send() -> None:
    sending = order_latency.all_senders(3, "fast", 1, window_ns=20 * MILLISECOND)
    assert sending.with_calls > 50 and not sending.acknowledgements
    few = order_latency.all_senders(3, "fast", 1, callers=1, window_ns=20 * MILLISECOND)
    assert few.acknowledgements > few.with_calls


def test_members_add_up_for_reads() -> None:
    rates = [reads_anywhere.reads_per_s(members, 32, 1, 10 * MILLISECOND) for members in (1, 2, 4)]
    assert rates[1] > 1.8 * rates[0] and rates[2] > 3.4 * rates[0]


def test_operations_on_two_groups_cost_what_the_paper_says() -> None:
    outcome = experiment_named("s2pc-messages").run(True)
    assert outcome.figures == outcome.paper


def test_the_curve_of_figure_11_falls_to_nothing_and_rises_again() -> None:
    """Whether the rows are the paper's is what the scenario's own test says."""
    outcome = experiment_named("cfs-table3c").run(True)
    assert outcome.figures["expectations"] > 10 and outcome.notes[0].startswith("rows: ")
    assert outcome.figures["failed_calls"] == 0 and 0 < outcome.figures["longest_outage_s"] < 10
    (calls,) = outcome.chart.series.values()
    assert min(rate for _, rate in calls) == 0 and max(rate for _, rate in calls) > 15


@pytest.mark.parametrize(
    ("name", "key", "most"), [("saa-7.3", "symmetric_gap_ms", 20), ("dcfs3-failover", "paxos_gap_ms", 50)]
)
def test_clients_hardly_wait_beyond_the_detection_of_a_death(name: str, key: str, most: float) -> None:
    outcome = experiment_named(name).run(True)
    assert 0 < outcome.figures[key] <= most and not outcome.figures["failed_calls"]
    (answered,) = outcome.chart.series.values()
    assert answered[0][0] < 0 < answered[-1][0]


def test_stats_are_faster_by_ddg_than_by_subtree() -> None:
    outcome = experiment_named("ddg-fig9").run(True)
    assert outcome.figures["stat_vs_subtree_namespace1"] > 3
    assert len(outcome.chart.series["namespace1, stat, DDG"]) == 2


def test_two_servers_are_faster_than_one() -> None:
    outcome = experiment_named("ddg-fig12").run(True)
    assert min(outcome.figures.values()) > 1.2
