"""How much of the memory that this process may use is used, and for how many copies of it there is room."""

from __future__ import annotations

import os
from pathlib import Path

GROUP = Path("/sys/fs/cgroup")
"""The control group of a container; of a process outside of one it has no limit."""
MACHINE = Path("/proc/meminfo")
SELF = Path("/proc/self/statm")
SPARED = 2
"""Copies may take this part of the free memory, one half: others need some meanwhile."""


def used_share(group: Path = GROUP, machine: Path = MACHINE) -> float:
    """Share of the control group's limit, else of the machine's memory, between 0 and 1; 0 where neither is known."""
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            cached = fields(group / "memory.stat").get("inactive_file", 0)
            return max(0.0, (int((group / "memory.current").read_text()) - cached) / int(limit))
    except (OSError, ValueError, ZeroDivisionError):
        pass
    found = fields(machine)
    total, available = found.get("MemTotal:", 0), found.get("MemAvailable:", 0)
    return 1 - available / total if total else 0.0


def room_for_copies(most: int, group: Path = GROUP, machine: Path = MACHINE, process: Path = SELF) -> int:
    """Number of copies of this process, at most `most`, that fit into the free memory if each comes to have all pages of its own."""
    try:
        resident = int(process.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return most
    return min(most, free_bytes(group, machine) // (SPARED * resident))


def free_bytes(group: Path, machine: Path) -> int:
    """Bytes that the control group's limit and the machine still allow."""
    free = fields(machine).get("MemAvailable:", 0) << 10
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            cached = fields(group / "memory.stat").get("inactive_file", 0)
            return min(free, int(limit) - int((group / "memory.current").read_text()) + cached)
    except (OSError, ValueError):
        pass
    return free


def fields(path: Path) -> dict[str, int]:
    """The numbers of lines `NAME NUMBER …`; empty for a file that is not there."""
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
