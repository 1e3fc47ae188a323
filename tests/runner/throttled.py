"""`python -m tests.runner.throttled SHARE COMMAND…`: runs a command with that share of the processors, to try tests as on a slower machine. The
share also applies to all containers of a Docker engine that names their groups itself (cgroupfs). Linux, root."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.interrupts import watch_signals

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 20_000
"""A short period makes a process slow, where a long one would stop it now and then."""
OF_CONTAINERS = "docker"


def hierarchy() -> Path:
    """Directory of the CPU controller: of cgroups version 2, or of version 1."""
    return ROOT if (ROOT / "cgroup.controllers").exists() else ROOT / "cpu"


def limit(group: Path, share: float | None) -> None:
    """Limits a group to a share of all processors together; None ends the limit."""
    quota_us = None if share is None else round(share * (os.cpu_count() or 1) * PERIOD_US)
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{'max' if quota_us is None else quota_us} {PERIOD_US}")
        return
    (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (group / "cpu.cfs_quota_us").write_text(str(-1 if quota_us is None else quota_us))


@contextmanager
def limited(name: str, share: float) -> Iterator[Path]:
    """A group of processes; processes that outlive it continue in the parent group."""
    group = hierarchy() / name
    group.mkdir(exist_ok=True)
    try:
        limit(group, share)
        yield group
    finally:
        limit(group, None)
        for process in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(process)
        if not any(path.is_dir() for path in group.iterdir()):
            group.rmdir()


def main(share: float, command: list[str]) -> int:
    with limited(f"cloverlab-{os.getpid()}", share) as group, limited(OF_CONTAINERS, share):
        joins = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(group / "cgroup.procs")]
        with subprocess.Popen([*joins, *command]) as running:
            try:
                return running.wait()
            except KeyboardInterrupt:
                running.send_signal(signal.SIGINT)
                return running.wait()


if __name__ == "__main__":
    if len(sys.argv) < 3 or not 0 < float(sys.argv[1]) <= 1:
        sys.exit(__doc__)
    watch_signals()
    try:
        sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
    except OSError as error:
        sys.exit(f"no group of processes can be made here: {error}")
