"""A benchmark here and at an earlier commit, alternately on this machine: the ratios of all figures."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from backend.errors import LabError, Malformed
from benchmarks._cluster import report

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 3
ROUNDS_MOST = 50
RUN = "import sys; from benchmarks.{name} import main; sys.exit(main())"
BESIDE = ("_spellings.py", "_skeleton.py")
"""Files that go to the earlier tree beside the benchmark."""
Figures = dict[str, Any]
Rows = dict[str, dict[str, float]]


def _git(*words: str) -> str:
    """Raises Malformed with git's own reason."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise Malformed(f"git {words[0]}: {said[-1] if said else 'it failed'}")
    return done.stdout.strip()


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """That commit in a temporary directory. Raises Malformed."""
    try:
        found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    except Malformed:
        raise Malformed(f"there is no commit {commit[:40]!r} here") from None
    directory = Path(tempfile.mkdtemp(prefix="cloverlab-before-"))
    try:
        _git("worktree", "add", "--detach", str(directory / "tree"), found)
        yield directory / "tree"
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        _git("worktree", "prune")


def measure(tree: Path, name: str) -> Figures:
    """One run in a process of its own; what it keeps for the page is forgotten. Raises LabError with the last line of its output."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-before-") as kept:
        done = subprocess.run(
            [sys.executable, "-c", RUN.format(name=name)],
            cwd=tree, env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin", "XDG_DATA_HOME": kept},
            capture_output=True, text=True,
        )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise LabError(f"bench {name} in {tree}: {said[-1] if said else f'it ended with {done.returncode}'}")
    figures: Figures = json.loads(done.stdout)["figures"]
    return figures


def give_measuring_file(tree: Path, name: str) -> str:
    """Copies the present benchmark to the earlier tree, so that it measures both. When it does not run there, the tree keeps its own: returns
    the reason, empty when there is none. Raises LabError."""
    theirs = tree / "benchmarks" / f"{name}.py"
    kept = theirs.read_bytes() if theirs.exists() else None
    theirs.parent.mkdir(exist_ok=True)
    for file in (theirs.name, *BESIDE):
        if (ROOT / "benchmarks" / file).exists():
            shutil.copyfile(ROOT / "benchmarks" / file, tree / "benchmarks" / file)
    try:
        _import(tree, name)
    except LabError as error:
        if kept is None:
            raise
        theirs.write_bytes(kept)
        return error.message
    return ""


def _import(tree: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import benchmarks.{name}"],
        cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise LabError(f"bench {name} does not run there: {done.stderr.strip().splitlines()[-1]}")


def side_by_side(then: list[Figures], now: list[Figures]) -> Rows:
    """The median of each common figure; `ratio` is the median of the rounds' ratios."""
    rows: Rows = {}
    for key, value in now[0].items():
        if type(value) not in (int, float) or type(then[0].get(key)) not in (int, float):
            continue
        pairs = [(before[key], after[key]) for before, after in zip(then, now, strict=True)]
        rows[key] = {"before": median(b for b, _ in pairs), "now": median(a for _, a in pairs)}
        if all(before > 0 for before, _ in pairs):
            rows[key]["ratio"] = round(median(after / before for before, after in pairs), 3)
    return rows


def pairs(commit: str, name: str, rounds: int) -> tuple[Rows, str]:
    """The rows of a benchmark, and the reason why the earlier tree was measured by its own file, empty when it was not. Raises Malformed,
    LabError."""
    then, now = list[Figures](), list[Figures]()
    with checked_out(commit) as tree:
        own_file = give_measuring_file(tree, name)
        for place in range(rounds):
            for earlier in (True, False) if place % 2 == 0 else (False, True):
                (then if earlier else now).append(measure(tree if earlier else ROOT, name))
    return side_by_side(then, now), own_file


def with_key(rows: Rows) -> Figures:
    """The rows, and the ratio of schedules under a key of its own."""
    ratio = rows.get("schedules_per_minute", {}).get("ratio")
    return {**rows, **({} if ratio is None else {"schedules_ratio": ratio})}


def main(commit: str, name: str, rounds: str = str(ROUNDS)) -> int:
    """Prints one JSON object. Raises Malformed, LabError."""
    if not rounds.isdecimal() or not 0 < int(rounds) <= ROUNDS_MOST:
        raise Malformed(f"{rounds!r} is no number of rounds between 1 and {ROUNDS_MOST}")
    known = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py") if path.stem != "before")
    if name not in known:
        raise Malformed(f"bench {name[:40]!r} is unknown; there are {', '.join(known)}")
    rows, own_file = pairs(commit, name, int(rounds))
    config = {"commit": commit, "benchmark": name, "rounds": int(rounds), "own_file_because": own_file}
    return report("before", config, with_key(rows), {})
