"""Images of a million inodes between pool nodes in processes of their own: VSSP with eight partitions against the pipeline of HDFS (VSSP §IV.B)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._cluster import report

INODES = 1_000_000
ROUNDS = 5
REPLICAS = ["n1", "n2", "n3"]
READER = "n4"
PAPER = {"write_ratio_8p_vs_pipeline": 2.4, "read_ratio_8p_vs_1p": 4.3}
"""Paper's ratios on 20 nodes with a disk and a network card each: +140 % at 4 replicas, "more than 430 %" (§IV.B)."""
WAYS: dict[str, tuple[str, int]] = {"8p": ("vssp", 8), "1p": ("vssp", 1), "pipeline": ("hdfs_pipeline", 1)}
MIB = 1 << 20


class PoolProcess:
    """The process of one pool node."""

    def __init__(self, name: str, directory: Path):
        self.name = name
        command = [sys.executable, "-m", "benchmarks._pool", name, str(directory / name)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address: str = self._answer()["address"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError(f"the pool node {self.name} ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, do: str, **question: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **question}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)


@contextlib.contextmanager
def running(directory: Path, names: list[str]) -> Iterator[dict[str, PoolProcess]]:
    """Pool nodes with each other's addresses; they end with the context."""
    nodes = {name: PoolProcess(name, directory) for name in names}
    try:
        addresses = {name: node.address for name, node in nodes.items()}
        for node in nodes.values():
            node.ask("peers", peers=addresses)
        yield nodes
    finally:
        for node in nodes.values():
            node.end()


def measure(directory: Path, inodes: int, rounds: int) -> dict[str, float]:
    written: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    read: dict[str, list[float]] = {way: [] for way in WAYS}
    loads: list[dict[str, Any]] = []
    pauses: list[float] = []
    busy: list[float] = []
    stalls: list[float] = []
    with running(directory, [*REPLICAS, READER]) as nodes:
        writer = nodes[REPLICAS[0]]
        writer.ask("fill", inodes=inodes)
        for number in range(rounds + 1):
            for way, (strategy, partitions) in WAYS.items():
                for name in REPLICAS:
                    nodes[name].ask("pause")
                reported = writer.ask("write", strategy=strategy, partitions=partitions, replicas=REPLICAS)
                assert reported["holders"] == REPLICAS, reported
                late = [nodes[name].ask("pause") for name in REPLICAS]
                taken = nodes[READER].ask("read", sources=REPLICAS[1:])
                if number:
                    written[way].append(reported)
                    read[way].append(taken["s"])
                    if way == "8p":
                        loads.append(nodes[READER].ask("load"))
                        pauses.append(max(each["pause_ms"] for each in late))
                        busy.append(max(each["busy_ms"] for each in late))
                        stalls.append(late[0]["stall_ms"])
                print(
                    f"round {number}/{rounds} {way}: {reported} pauses {late} ms, read {taken}, {loads[-1:]}",
                    file=sys.stderr,
                )
    seconds = {way: median(reported["replicated_s"] for reported in written[way]) for way in WAYS}
    reads = {way: median(read[way]) for way in WAYS}
    mib = written["8p"][0]["size"] / MIB
    return {
        "write_ratio_8p_vs_pipeline": round(seconds["pipeline"] / seconds["8p"], 2),
        "write_ratio_1p_vs_pipeline": round(seconds["pipeline"] / seconds["1p"], 2),
        "read_ratio_8p_vs_1p": round(reads["1p"] / reads["8p"], 2),
        "write_mb_per_s": round(mib / seconds["8p"], 1),
        "read_mb_per_s": round(mib / reads["8p"], 1),
        "pause_ms_max": round(max(pauses), 1),
        "pause_ms_p50": round(median(pauses), 1),
        "busy_ms_max": round(max(busy), 1),
        "stall_ms_max": round(max(stalls), 1),
        "stall_ms_p50": round(median(stalls), 1),
        "frozen_s": round(median(reported["frozen_s"] for reported in written["8p"]), 4),
        "image_mb": round(mib, 1),
        "load_s": round(median(each["load_s"] for each in loads), 2),
        "load_free_share": round(median(each["free_s"] / each["load_s"] for each in loads), 3),
        **{f"write_s_{way}": round(each, 2) for way, each in seconds.items()},
        **{f"read_s_{way}": round(each, 2) for way, each in reads.items()},
    }


def main() -> int:
    """Prints one JSON object."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-bench-", dir=os.environ.get("TMPDIR")) as directory:
        figures = measure(Path(directory), INODES, ROUNDS)
    return report("image", {"inodes": INODES, "replicas": 3, "rounds": ROUNDS}, figures, PAPER)
