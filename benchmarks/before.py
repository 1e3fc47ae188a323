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
from benchmarks.running import report

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 3
ROUNDS_MOST = 50
RUN = "import sys; from benchmarks.{name} import main; sys.exit(main())"
Figures = dict[str, Any]


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
    """One run in a process of its own. Raises LabError with the last line of its output."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(name=name)],
        cwd=tree, env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise LabError(f"bench {name} in {tree}: {said[-1] if said else f'it ended with {done.returncode}'}")
    figures: Figures = json.loads(done.stdout)["figures"]
    return figures


def give_measuring_file(tree: Path, name: str) -> None:
    """Copies the present benchmark to the earlier tree, so that it measures both. When it does not run there, the tree keeps its own. Raises
    LabError."""
    theirs = tree / "benchmarks" / f"{name}.py"
    kept = theirs.read_bytes() if theirs.exists() else None
    theirs.parent.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "benchmarks" / f"{name}.py", theirs)
    try:
        _import(tree, name)
    except LabError:
        if kept is None:
            raise
        theirs.write_bytes(kept)


def _import(tree: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import benchmarks.{name}"],
        cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise LabError(f"bench {name} does not run there: {done.stderr.strip().splitlines()[-1]}")


def side_by_side(then: list[Figures], now: list[Figures]) -> dict[str, dict[str, float]]:
    """The median of each common figure; `ratio` is the median of the rounds' ratios."""
    rows: dict[str, dict[str, float]] = {}
    for key, value in now[0].items():
        if type(value) not in (int, float) or type(then[0].get(key)) not in (int, float):
            continue
        pairs = [(before[key], after[key]) for before, after in zip(then, now, strict=True)]
        rows[key] = {"before": median(b for b, _ in pairs), "now": median(a for _, a in pairs)}
        if all(before > 0 for before, _ in pairs):
            rows[key]["ratio"] = round(median(after / before for before, after in pairs), 3)
    return rows


def main(commit: str, name: str, rounds: str = str(ROUNDS)) -> int:
    """Prints one JSON object. Raises Malformed, LabError."""
    if not rounds.isdecimal() or not 0 < int(rounds) <= ROUNDS_MOST:
        raise Malformed(f"{rounds!r} is no number of rounds between 1 and {ROUNDS_MOST}")
    known = sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py") if path.stem != "before")
    if name not in known:
        raise Malformed(f"bench {name[:40]!r} is unknown; there are {', '.join(known)}")
    then, now = list[Figures](), list[Figures]()
    with checked_out(commit) as tree:
        give_measuring_file(tree, name)
        for place in range(int(rounds)):
            for earlier in (True, False) if place % 2 == 0 else (False, True):
                (then if earlier else now).append(measure(tree if earlier else ROOT, name))
    config = {"commit": commit, "benchmark": name, "rounds": int(rounds)}
    return report("before", config, side_by_side(then, now), {})
