"""How much of the memory that this process may use is used."""

from __future__ import annotations

from pathlib import Path

GROUP = Path("/sys/fs/cgroup")
"""The control group of a container; of a process outside of one it has no limit."""
MACHINE = Path("/proc/meminfo")


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


def fields(path: Path) -> dict[str, int]:
    """The numbers of lines `NAME NUMBER …`; empty for a file that is not there."""
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
    except OSError:
        return {}
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
