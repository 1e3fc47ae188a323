"""`bench peers` without the peers: names, medians, ratios, the page, and what is said of tools that are missing."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from backend.cli import entry
from backend.errors import Malformed
from benchmarks import peers
from benchmarks._peers import hdfs, page, programs
from benchmarks._peers.figures import QUICK, Figures, PeerScale, medians, order, ratios
from benchmarks._peers.processes import JavaClient, PeerProcesses, until
from benchmarks._peers.programs import PeerMissing
from benchmarks.experiments.charts import svg

FOUND: dict[str, Figures] = {
    "ours": {"create_per_s_32": 2_000.0, "journal_ms_1k": 2.0, "journal_ms_10k": 4.0, "kill_gap_ms": 400.0},
    "hdfs": {"create_per_s_32": 1_000.0, "journal_ms_1k": 3.0, "journal_ms_10k": 5.0, "kill_gap_ms": 9_000.0},
    "bookkeeper": {"journal_ms_10k": 8.0},
}
RUN = {
    "machine": {"cores": 2, "memory_gib": 8.0, "python": "3.11"},
    "config": {
        "date": "2030-01-02", "java": "openjdk version 17", "rounds": 3, "systems": list(FOUND),
        "versions": {"ours": "1.0", "hdfs": "3.4.1", "bookkeeper": "4.16.6"},
    },
    "figures": {**ratios(FOUND), **FOUND, "missing": {"zookeeper": "zookeeper is left out: why"}},
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_ours_is_measured_beside_each_peer_and_the_order_alternates() -> None:
    assert order(["ours", "hdfs", "zookeeper"], 0) == ["ours", "hdfs", "ours", "zookeeper"]
    assert order(["ours", "hdfs", "zookeeper"], 1) == ["zookeeper", "ours", "hdfs", "ours"]


def test_a_figure_is_the_median_of_the_rounds_that_have_it() -> None:
    assert medians([{"a": 1.0, "b": 5.0}, {"a": 9.0}, {"a": 2.0}]) == {"a": 2.0, "b": 5.0}


def test_the_ratio_without_a_rate_is_the_least() -> None:
    found = ratios(FOUND)
    assert found["qjm_real_over_ssp_1k"] == 1.5 and found["qjm_real_over_ssp_10k"] == 1.25
    assert found["qjm_real_over_ssp"] == 1.25 and found["bookkeeper_real_over_ssp"] == 2.0
    assert "qjm_real_over_ssp_25k" not in found and ratios({"hdfs": FOUND["hdfs"]}) == {}


def test_the_table_has_a_dash_for_what_a_system_does_not_do() -> None:
    lines = page.markdown(FOUND, {"hdfs": "3.4.1"}).splitlines()
    assert lines[0] == "|  | ours | hdfs 3.4.1 | bookkeeper |"
    assert "| create, 32 callers, per s | 2,000 | 1,000 | - |" in lines
    assert len(lines) == 2 + len({key for figures in FOUND.values() for key in figures})


def test_every_plot_can_be_drawn() -> None:
    drawn = page.charts(FOUND)
    assert set(drawn) == {"rates", "callers", "journal", "outages"}
    for name, chart in drawn.items():
        ElementTree.fromstring(svg(name, chart))
    assert page.charts({"ours": {"start_s": 1.0}}) == {}


def test_a_run_is_written_to_its_place_on_the_page(tmp_path: Path) -> None:
    text = page.PAGE.read_text()
    (tmp_path / page.PAGE.name).write_text(text)
    for _ in range(2):
        page.write(RUN, page.charts(FOUND), tmp_path)
    new = (tmp_path / page.PAGE.name).read_text()
    before, after = text.split("<!-- peers -->")[0], text.split("<!-- end -->")[1]
    assert new.startswith(before) and new.endswith(after)
    for piece in ("2030-01-02", "hdfs 3.4.1", "`qjm_real_over_ssp` 1.25", "zookeeper is left out: why"):
        assert piece in new
    for name in page.charts(FOUND):
        assert f"({page.file_of(name)})" in new and (tmp_path / page.file_of(name)).is_file()


@pytest.mark.parametrize("words", [["hdsf"], ["quick", "write"]])
def test_a_wrong_word_is_refused_in_one_line(words: list[str]) -> None:
    with pytest.raises(Malformed) as caught:
        peers.main(*words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tool", ["java", "javac", "mvn"])
def test_a_missing_tool_is_one_clear_line(
    tool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(programs.shutil, "which", lambda name: None if name == tool else f"/bin/{name}")
    assert entry(["bench", "peers", "hdfs"]) != 0
    reported = capsys.readouterr()
    [line] = reported.err.strip().splitlines()
    assert "hdfs is left out" in line and f"`{tool}`" in line and programs.TOOLS[tool] in line
    assert not reported.out


def test_without_any_peer_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs.shutil, "which", lambda name: None)
    with pytest.raises(PeerMissing) as caught:
        peers.main()
    assert "\n" not in str(caught.value)
    assert all(f"{name} is left out" in str(caught.value) for name in peers.PROGRAMS)


def test_a_tool_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('[ERROR] no such artifact'); raise SystemExit(1)"]
    with pytest.raises(PeerMissing, match="no such artifact"):
        programs.TOOLS[command[0]] = "Maven"
        programs.make("hdfs", tmp_path / "jars", command, "-d", 30)
    assert list(tmp_path.iterdir()) == []


def test_the_project_file_has_every_artifact_and_no_address() -> None:
    text = programs.pom(hdfs.ARTIFACTS)
    assert len(ElementTree.fromstring(text).findall(".//dependency")) == len(hdfs.ARTIFACTS)
    assert "://" not in text


def test_the_rest_is_measured_when_a_round_ends_early(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(directory: Path, scale: PeerScale, figures: Figures) -> None:
        figures["start_s"] = 3.0
        raise TimeoutError("it did not come")

    def measured(directory: Path, scale: PeerScale, figures: Figures) -> None:
        figures |= FOUND["ours"]

    monkeypatch.setattr(peers, "SYSTEMS", {"ours": measured, "hdfs": failing})
    monkeypatch.setattr(peers, "PROGRAMS", {})
    assert peers.main("quick") == 0
    run = json.loads(capsys.readouterr().out)
    assert run["figures"]["ours"] == FOUND["ours"] and run["figures"]["hdfs"] == {"start_s": 3.0}
    assert (
        run["figures"]["ended_early"] == {"hdfs": ["it did not come"]}
        and run["config"]["rounds"] == QUICK.rounds
    )
    assert json.loads((peers.measured_peers() / "peers.json").read_text()) == run


CHILD = "import subprocess, sys, time; p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True); time.sleep(600)"


def test_every_process_ends_with_the_context_also_a_stopped_one(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), PeerProcesses("toy", tmp_path) as processes:
        parents = [processes.start(name, [sys.executable, "-c", CHILD]).pid for name in ("one", "two")]
        logs = [tmp_path / "one.log", tmp_path / "two.log"]
        until(lambda: all(log.read_text().endswith("\n") for log in logs), 20, "children")
        processes.pause("two")
        assert processes.rss_mb() > 0
        raise KeyboardInterrupt
    pids = [*parents, *(int(log.read_text()) for log in logs)]
    until(lambda: not any(alive(pid) for pid in pids), 10, "the end of all")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_process_that_ends_is_reported_with_its_last_error(tmp_path: Path) -> None:
    with PeerProcesses("toy", tmp_path) as processes:
        failing = [sys.executable, "-c", "raise SystemExit('java.net.BindException: in use')"]
        with pytest.raises(PeerMissing, match=r"toy is left out: format fails: java\.net\.BindException"):
            processes.run("format", failing, 20)
        processes.start("server", failing).wait(20)
        with pytest.raises(PeerMissing, match="server ended"):
            processes.await_port("server", 1)


def test_a_client_that_dies_or_refuses_is_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = 'import sys; input(); print(\'{"refused": "why"}\', flush=True); input(); sys.exit(1)'
    command = [sys.executable, "-c", answers]
    monkeypatch.setattr("benchmarks._peers.processes.java_command", lambda *words: command)
    with PeerProcesses("toy", tmp_path) as processes:
        client = JavaClient(processes, "client", "", "")
        with pytest.raises(RuntimeError, match="why"):
            client.ask("prepare", limit_s=20)
        began_s = time.monotonic()
        with pytest.raises(RuntimeError, match="it ended"):
            client.ask("rate", limit_s=20)
        assert time.monotonic() - began_s < 15


def test_the_lowest_bar_of_a_logarithmic_plot_is_seen() -> None:
    drawing = svg("outages", page.charts(FOUND)["outages"])
    heights = [float(height) for height in re.findall(r'<rect [^>]*height="([\d.]+)" class="rect', drawing)]
    assert len(heights) == 2 and min(heights) > 10, "ours and HDFS"


def test_a_plot_names_only_what_some_system_has() -> None:
    assert page.bars({"ours": {"b": 2.0}}, "", "", {"a": "A", "b": "B"}).x_names == ["B"]
