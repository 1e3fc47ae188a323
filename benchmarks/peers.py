"""HDFS, ZooKeeper and BookKeeper beside ours, each on this machine in turns: rates of calls, journal, start, memory and outages."""

from __future__ import annotations

import datetime
import gc
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from backend.errors import LabError, Malformed, reason_of
from backend.places import measured_peers
from backend.suggestion import nearest
from backend.version import version
from benchmarks._cluster import described
from benchmarks._model import Chart
from benchmarks._peers import bookkeeper, hdfs, ours, zookeeper
from benchmarks._peers.figures import FULL, OURS, QUICK, Figures, PeerScale, medians, order, ratios
from benchmarks._peers.page import charts, file_of, markdown, write
from benchmarks._peers.programs import PeerMissing
from benchmarks.experiments.charts import svg
from nodes.real.private_files import replace_files

SYSTEMS: dict[str, Callable[[Path, PeerScale, Figures], None]] = {
    OURS: ours.measure,
    "hdfs": hdfs.measure,
    "zookeeper": zookeeper.measure,
    "bookkeeper": bookkeeper.measure,
}
"""Each adds its figures of one round, so that those before a failure are kept."""
PROGRAMS = {"hdfs": hdfs.programs, "zookeeper": zookeeper.programs, "bookkeeper": bookkeeper.programs}
VERSIONS = {"hdfs": hdfs.VERSION, "zookeeper": zookeeper.VERSION, "bookkeeper": bookkeeper.VERSION}
WORDS = ("quick", "write")


def chosen(words: tuple[str, ...]) -> tuple[list[str], bool, bool]:
    """The systems to measure, and whether quickly and for the page. Raises Malformed."""
    for word in words:
        known = [*SYSTEMS, *WORDS]
        if word not in known:
            raise Malformed(
                f"bench peers {word[:40]!r} is unknown{nearest(word, known)}; there are {', '.join(known)}"
            )
    if set(WORDS) <= set(words):
        raise Malformed("bench peers writes figures of whole runs alone: leave out quick or write")
    named = [name for name in SYSTEMS if name in words] or list(SYSTEMS)
    return list(dict.fromkeys([OURS, *named])), "quick" in words, "write" in words


def available(names: list[str]) -> dict[str, str]:
    """Why peers cannot be measured, by name; the programs of the others are there afterwards."""
    missing: dict[str, str] = {}
    for name in names:
        if name in PROGRAMS:
            try:
                PROGRAMS[name]()
            except PeerMissing as error:
                missing[name] = error.message
    return missing


def turn(name: str, scale: PeerScale) -> tuple[Figures, str]:
    """The figures of one round, and why it ended early, empty when it did not."""
    figures: Figures = {}
    directory = Path(tempfile.mkdtemp(prefix=f"cloverlab-peers-{name}-"))
    try:
        SYSTEMS[name](directory, scale, figures)
    except (LabError, TimeoutError, RuntimeError, AssertionError) as error:
        return figures, str(error) or type(error).__name__
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return figures, ""


def measure(names: list[str], scale: PeerScale) -> tuple[dict[str, Figures], dict[str, list[str]]]:
    """The medians of each system, and the reasons why rounds ended early."""
    rounds: dict[str, list[Figures]] = {name: [] for name in names}
    ended: dict[str, list[str]] = {}
    for number in range(scale.rounds):
        for name in order(names, number):
            figures, reason = turn(name, scale)
            rounds[name].append(figures)
            if reason:
                ended.setdefault(name, []).append(reason)
            print(f"round {number + 1} of {scale.rounds}: {name} {reason}".rstrip(), file=sys.stderr)
    return {name: medians(found) for name, found in rounds.items()}, ended


def java_version() -> str:
    """The first line of what Java says of itself; empty without Java."""
    if shutil.which("java") is None:
        return ""
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, timeout=60)
    return next(iter(done.stderr.splitlines()), "").replace('"', "")


def keep(run: dict[str, Any], drawn: dict[str, Chart]) -> str:
    """Writes the run and its plots to this machine's data; returns where, or why not."""
    place = measured_peers()
    contents = {"peers.json": json.dumps(run, indent=1) + "\n"}
    contents |= {file_of(name): svg(name, chart) for name, chart in drawn.items()}
    try:
        replace_files(place, contents)
    except OSError as error:
        return f"not kept: {place}: {reason_of(error)}"
    return f"kept with its plots in {place}"


def main(*words: str) -> int:
    """Prints one JSON object. Raises Malformed; PeerMissing when not one of the peers can be measured."""
    names, quick, to_page = chosen(words)
    scale = QUICK if quick else FULL
    missing = available(names)
    names = [name for name in names if name not in missing]
    if missing and names == [OURS]:
        raise PeerMissing("; ".join(missing.values()))
    for reason in missing.values():
        print(reason, file=sys.stderr)
    gc.set_threshold(200_000, 50, 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    found, ended = measure(names, scale)
    config = {
        **msgspec.to_builtins(scale), "quick": quick, "systems": names, "java": java_version(),
        "versions": {name: VERSIONS.get(name, version()) for name in names},
        "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    figures: dict[str, Any] = {**ratios(found), **found, "missing": missing, "ended_early": ended}
    run = described("peers", config, figures, {})
    drawn = charts(found)
    print(markdown(found, config["versions"]), file=sys.stderr)
    print(keep(run, drawn), file=sys.stderr)
    if to_page and not ended:
        write(run, drawn)
    elif to_page:
        print("docs/benchmarks.md is as it was: a round ended early", file=sys.stderr)
    print(json.dumps(run, indent=1))
    return 0
