"""The shipped papers are complete and agree with the experiments; a wrong mechanism is refused in one line with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import Malformed, NotThere
from backend.papers.catalogue import page_of, rows
from backend.papers.reader import mechanism_named, papers
from benchmarks import ddg, distributed, packing, recovery, renewing
from benchmarks.experiments import (
    bandwidth,
    block_reports,
    collection,
    failover_time,
    file_write,
    global_recovery,
    group_rates,
    images,
    journal_latency,
    journal_reads,
    journal_sizes,
    local_reads,
    member_changes,
    operation_times,
    order_latency,
    ordered_writes,
    pool_files,
    pool_node_deaths,
    state_rows,
    word_count,
)
from benchmarks.experiments.registry import MODULES, experiment_named

SUFFIX = "md"
PAPER = """\
short: CFS
number: 1
title: A paper
authors: Ada
published: "2020"
about: Something.
"""
MECHANISM = """\
---
name: A mechanism
number: 1
about: It works.
cites:
  - {paper: CFS, section: "§3", about: How.}
cluster: {standbys: 2}
workload: {rate: 10/s}
look: [journals]
steps:
  - text: Crash
    do: {fault: crash, target: active of g1}
    see: A takeover.
---
# A mechanism

A server crashes.
"""
TABLES: dict[str, dict[str, float]] = {
    "cfs-fig8a": journal_latency.PAPER,
    "cfs-fig8b": journal_sizes.PAPER_SIZES,
    "cfs-fig8c": journal_sizes.PAPER_REPLICAS,
    "cfs-fig8d": journal_reads.PAPER,
    "cfs-fig8e": group_rates.PAPER_8E,
    "cfs-fig8f": pool_node_deaths.PAPER,
    "cfs-fig9": group_rates.PAPER_9,
    "cfs-fig10": file_write.PAPER,
    "cfs-fig10-reports": block_reports.PAPER,
    "cfs-fig12": renewing.PAPER,
    "cfs-fig13": global_recovery.PAPER,
    "cfs-fig14": word_count.PAPER,
    "cfs-table2": failover_time.PAPER,
    "cfs-table2-crossover": {
        **{
            f"backupnode_over_mams_{mb}mb": collection.ratio(collection.PAPER_S, mb)
            for mb in collection.SIZES_MB
        },
        "largest_mb_with_faster_backupnode": 32,
    },
    **{f"cfs-table3{letter}": state_rows.PAPER for letter in "abc"},
    "dcfs3-packing": packing.reported_of(packing.PAPER_UNPACKED, packing.PAPER_PACKED),
    **{
        f"ddg-fig{number}": {
            f"{figure}_namespace1": least
            for figure, least in ddg.LEAST.items()
            if figure.startswith(("create", "delete") if number < 9 else "stat")
        }
        for number in range(6, 12)
    },
    "ddg-fig13": ddg.PAPER_13,
    "s2pc-fig14": bandwidth.PAPER,
    "s2pc-fig15": group_rates.PAPER_15,
    "s2pc-messages": distributed.PAPER,
    "s2pc-table4": {**{f"s_{mb}mb": s for mb, s in recovery.TABLE4_S.items()}, "50mb_over_10mb": 4.65},
    "s2pc-table5": {
        **{f"s_{share}pct": s for share, s in recovery.TABLE5_S.items()},
        "10pct_over_1pct": 2.24,
    },
    "saa-7.3": member_changes.PAPER,
    "saa-fig7": order_latency.PAPER,
    "saa-fig9": ordered_writes.PAPER,
    "saa-fig10": local_reads.PAPER,
    "saa-fig11": operation_times.PAPER_11,
    "saa-fig12": operation_times.PAPER_12,
    "vssp-fig6c": journal_reads.PAPER,
    "vssp-fig6d": group_rates.PAPER_6D,
    "vssp-fig7-read": images.PAPER_READ,
    "vssp-fig7-write": images.PAPER_WRITE,
    "vssp-fig8a": pool_node_deaths.PAPER,
    "vssp-fig8b": pool_files.PAPER_8B,
    "vssp-table1": pool_files.PAPER_1,
}
"""The paper's figures as the experiments have them."""
COMPUTED = ("cfs-table1",)
"""Experiments whose paper's figures are computed in the run."""


def shipped() -> dict[str, dict[str, float]]:
    return {each.name: each.theirs for paper in papers() for each in paper.file.experiments}


def test_all_five_papers_are_there_in_their_order() -> None:
    found = papers()
    assert [paper.file.short for paper in found] == ["CFS", "SAA", "VSSP", "DCFS2", "DCFS3"]
    assert [paper.key for paper in found] == [paper.file.short.lower() for paper in found]
    assert all(len(paper.mechanisms) >= 5 for paper in found)


def test_the_mechanisms_of_a_paper_are_numbered_and_named_once() -> None:
    for paper in papers():
        assert [each.file.number for each in paper.mechanisms] == list(range(1, len(paper.mechanisms) + 1))
        assert len({each.file.name for each in paper.mechanisms}) == len(paper.mechanisms)


def test_each_experiment_is_on_the_page_of_its_paper() -> None:
    assert sorted(shipped()) == sorted(MODULES)
    for paper in papers():
        for each in paper.file.experiments:
            known = experiment_named(each.name).paper
            assert known in (f"{paper.file.short} {each.section}", f"{paper.file.short}, {each.section}")


def test_the_papers_figures_are_those_of_the_experiments() -> None:
    for name, theirs in shipped().items():
        if name not in COMPUTED:
            assert theirs == TABLES.get(name, {}), name


def test_a_page_has_its_steps_as_requests() -> None:
    page = page_of("cfs", "global-recovery")
    assert (page.servers, page.protocol, page.cites[0]["paper"]) == (4, "mams", "CFS")
    assert [step.mark for step in page.steps] == ["noon", "", "evening", "", ""]
    assert page.steps[1].recover == "noon"
    crash = page.steps[3].fault
    assert crash is not None and (crash.verb, crash.targets) == ("crash", ["active of g2"])
    load = page_of("dcfs3", "packing").steps[0].load
    assert load is not None and (load.rate_per_s, load.paused) == (400.0, None)


def test_the_list_names_sections_and_families() -> None:
    row = next(each for each in rows()[0].mechanisms if each.mechanism == "election")
    assert row.sections == ["§4.2.1, Algorithm 2"] and row.protocol == "mams"


def folder(tmp_path: Path, mechanism: str, name: str = "crashing") -> Path:
    (tmp_path / "cfs").mkdir(exist_ok=True)
    (tmp_path / "cfs" / "paper.yaml").write_text(PAPER)
    (tmp_path / "cfs" / f"{name}.md").write_text(mechanism)
    return tmp_path


def test_a_mechanism_is_its_head_and_its_page(tmp_path: Path) -> None:
    found = mechanism_named("cfs", "crashing", folder(tmp_path, MECHANISM))
    assert found.page == "# A mechanism\n\nA server crashes."
    assert found.file.steps[0].text == "Crash"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("about: It works.", "abouts: It works.", 4, "unknown field `abouts`"),
        ("standbys: 2", "standbys: 99", 7, "<= 14"),
        ("standbys: 2", "groups: 8", 7, "16 is the most"),
        ("rate: 10/s", "rate: 900/s", 8, "at most 500 calls"),
        ("look: [journals]", "look: [diagram]", 9, "Invalid enum value 'diagram'"),
        ("fault: crash", "fault: crush", 12, "crush"),
        ("{fault: crash,", "{at: 3s, fault: crash,", 12, "no time"),
        ("{fault: crash, target: active of g1}", "{expect: {settled: true}}", 12, "no expectation"),
        ("---\nname", "name", 1, "between two lines"),
        ("\n---\n#", "\n#", 1, "between two lines"),
    ],
)
def test_a_wrong_mechanism_is_refused_at_its_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    assert old in MECHANISM
    with pytest.raises(Malformed) as refused:
        mechanism_named("cfs", "crashing", folder(tmp_path, MECHANISM.replace(old, new, 1)))
    message = refused.value.message
    assert f"/crashing.{SUFFIX}:{line}: " in message and words in message, message


def test_an_empty_page_and_a_wrong_name_are_refused(tmp_path: Path) -> None:
    head = MECHANISM[: MECHANISM.index("# A")]
    with pytest.raises(Malformed, match="the page is empty"):
        mechanism_named("cfs", "crashing", folder(tmp_path, head))
    with pytest.raises(Malformed, match="small letters"):
        mechanism_named("cfs", "Crashing", folder(tmp_path, MECHANISM, "Crashing"))


def test_an_experiment_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    twice = "experiments:\n" + "  - {name: a, section: s, asks: q, saw: r}\n" * 2
    (folder(tmp_path, MECHANISM) / "cfs" / "paper.yaml").write_text(PAPER + twice)
    with pytest.raises(Malformed, match=r"paper\.yaml:9: two experiments are called 'a'"):
        papers(tmp_path)


@pytest.mark.parametrize(
    ("paper", "mechanism", "words"),
    [
        ("cfs", "elections", "election"),
        ("raft", "election", "no paper"),
        ("..", "labs", "no paper"),
        ("cfs", "../saa/views", "no mechanism"),
    ],
)
def test_what_is_not_there_is_not_found(paper: str, mechanism: str, words: str) -> None:
    with pytest.raises(NotThere, match=words):
        mechanism_named(paper, mechanism)
