"""Small experiments in virtual time: the shape of their figures."""

from __future__ import annotations

from statistics import median

import pytest

from benchmarks import packing
from benchmarks._cluster import group_of
from benchmarks.experiments import (
    group_rates,
    local_reads,
    mdtest,
    operation_times,
    order_latency,
    ordered_writes,
)
from benchmarks.experiments.registry import experiment_named
from nodes.config import MILLISECOND, many_groups

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
    reported = packing.reported_of(packing.PAPER_UNPACKED, packing.PAPER_PACKED)
    assert sum(packing.PAPER_UNPACKED.by_records.values()) == 600_600
    assert sum(packing.PAPER_PACKED.by_records.values()) == 68_158
    assert (reported["message_reduction"], reported["records_per_message"]) == (0.887, 4.43)


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
    rates = [local_reads.reads_per_s(members, 32, 1, 10 * MILLISECOND) for members in (1, 2, 4)]
    assert rates[1] > 1.8 * rates[0] and rates[2] > 3.4 * rates[0]


def test_two_members_write_as_much_as_a_plain_server_and_later_when_one_client_waits() -> None:
    def served(measure: ordered_writes.Measure, setting: str, clients: int) -> float:
        return ordered_writes.served(setting, clients, 1, measure)

    plain, two = ordered_writes.PLAIN, "2 members"
    latency, rate = ordered_writes.latency_ms, ordered_writes.writes_per_s
    assert served(latency, two, 1) > 1.3 * served(latency, plain, 1)
    assert served(latency, two, 32) < 1.2 * served(latency, plain, 32)
    assert served(rate, two, 32) > 0.95 * served(rate, plain, 32)


def test_packing_restores_most_of_what_a_single_server_creates_and_stat_scales() -> None:
    single, plain, packed = (mdtest.per_s(name, packing.files_of, 1, WINDOW_NS) for name in mdtest.SETTINGS)
    assert packed > 0.7 * single and plain < 0.5 * single
    asked = [mdtest.per_s(name, mdtest.stats_of, 1, WINDOW_NS) for name in mdtest.SETTINGS]
    assert min(asked[1:]) > 2.8 * asked[0]


@pytest.mark.full
def test_standbys_cost_little_and_groups_add_up() -> None:
    kinds = ("create", "getfileinfo")
    alone = group_rates.rates(group_of("single", 0), 1, kinds)
    replicated = group_rates.rates(many_groups(1, 3), 1, kinds)
    groups = group_rates.rates(many_groups(3, 1), 1, kinds)
    assert all(replicated[kind] > 0.85 * alone[kind] for kind in kinds)
    assert groups["create"] > 1.5 * alone["create"] and groups["getfileinfo"] > 2 * alone["getfileinfo"]


def test_a_second_replica_of_the_journal_costs_little() -> None:
    figures = experiment_named("vssp-fig6d").run(True).figures
    assert -0.01 < figures["loss_2_replicas"] < 0.1


@pytest.mark.full
def test_callers_do_not_wait_for_a_pool_node_that_dies_while_a_majority_is_left() -> None:
    figures = experiment_named("cfs-fig8f").run(True).figures
    assert figures["most_after_death_1"] < 3 and figures["most_after_death_2"] < 3
    assert figures["answered_after_death_2"] > 1_000 and not figures["answered_after_death_3"]


def test_operations_on_two_groups_cost_what_the_paper_says() -> None:
    outcome = experiment_named("s2pc-messages").run(True)
    assert outcome.figures == outcome.paper


@pytest.mark.full
def test_the_curve_of_figure_11_falls_to_nothing_and_rises_again() -> None:
    """The scenario's own test checks the rows against the paper's."""
    outcome = experiment_named("cfs-table3c").run(True)
    assert outcome.figures["expectations"] > 10 and outcome.notes[0].startswith("rows: ")
    assert outcome.figures["failed_calls"] == 0 and 0 < outcome.figures["longest_outage_s"] < 10
    (calls,) = outcome.chart.series.values()
    assert min(rate for _, rate in calls) == 0 and max(rate for _, rate in calls) > 15


def test_clients_hardly_wait_beyond_the_detection_of_a_death() -> None:
    outcome = experiment_named("dcfs3-failover").run(True)
    assert 0 < outcome.figures["paxos_gap_ms"] <= 50 and not outcome.figures["failed_calls"]
    (answered,) = outcome.chart.series.values()
    assert answered[0][0] < 0 < answered[-1][0]


def test_members_join_leave_and_fail_and_no_call_fails() -> None:
    outcome = experiment_named("saa-7.3").run(True)
    figures = outcome.figures
    assert all(figures[key] == at for key, at in outcome.paper.items()) and figures["calls"] > 500
    assert figures["wait_one_joins_ms"] < 20 and figures["wait_two_join_ms"] < 20
    assert 0 < figures["symmetric_gap_ms"] <= 20 < figures["wait_three_killed_ms"]
    (answered,) = outcome.chart.series.values()
    assert answered[0][0] < 0 < answered[-1][0]


@pytest.mark.parametrize("name", ["PostMark", "Iozone 128 KB", "BTIO"])
def test_file_operations_spend_their_time_at_data_nodes(name: str) -> None:
    times = operation_times.times_of(name, 32)
    assert 0 < times.mds_share < 0.05 and 0.05 < times.read_share < 0.5


@pytest.mark.full
def test_stats_are_faster_by_ddg_than_by_subtree() -> None:
    outcome = experiment_named("ddg-fig9").run(True)
    assert outcome.figures["stat_vs_subtree_namespace1"] > 3
    assert len(outcome.chart.series["namespace1, stat, DDG"]) == 2


def test_a_file_is_written_through_two_deaths_of_the_active() -> None:
    figures = experiment_named("cfs-fig10").run(True).figures
    assert figures["same_bytes"] == 1 and 2 < figures["pause_1_s"] < 8 and 2 < figures["pause_2_s"] < 8


def test_block_reports_take_time_in_proportion_to_the_blocks() -> None:
    figures = experiment_named("cfs-fig10-reports").run(True).figures
    assert 2 < figures["blocks_20000_over_5000"] < 8


def test_a_backup_node_is_faster_than_mams_with_few_blocks_only() -> None:
    figures = experiment_named("cfs-table2-crossover").run(True).figures
    assert figures["backupnode_over_mams_16mb"] < 1 < figures["backupnode_over_mams_512mb"]


def test_two_groups_recover_in_less_time_than_one_server() -> None:
    figures = experiment_named("cfs-fig13").run(True).figures
    assert (
        figures["time_cfs_2A6S"] < 0.95 < figures["time_cfs_1A1S"] < 1.1
        and 1.7 < figures["time_hdfs_nfs"] < 2
    )


def test_logging_costs_files_no_bandwidth() -> None:
    figures = experiment_named("s2pc-fig14").run(True).figures
    assert abs(figures["loss_write"]) < 0.15 and abs(figures["loss_read"]) < 0.15


@pytest.mark.full
def test_six_servers_do_a_mix_of_calls_faster_by_ddg_than_by_subtree() -> None:
    figures = experiment_named("ddg-fig13").run(True).figures
    assert figures["create_vs_subtree"] > 1.3 and figures["mix_vs_subtree"] > 1.3


@pytest.mark.full
def test_two_servers_are_faster_than_one() -> None:
    outcome = experiment_named("ddg-fig12").run(True)
    assert min(outcome.figures.values()) > 1.2
