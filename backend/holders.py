"""The process behind a port or a pid, for error messages. Where the system does not tell, the answers are empty."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

LISTENS = "0A"
COMMAND_MOST = 80


def holder_of(port: int) -> str:
    """The process that listens at a port of this machine: `pid 12: python3 -m http.server`. Linux only, and of one's own processes."""
    sockets = {f"socket:[{inode}]" for inode in inodes_at(port)}
    for descriptors in Path("/proc").glob("[0-9]*/fd") if sockets else ():
        with contextlib.suppress(OSError):
            if any(str(each.readlink()) in sockets for each in descriptors.iterdir()):
                return described(int(descriptors.parent.name))
    return ""


def inodes_at(port: int) -> list[str]:
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            rows = [line.split() for line in Path(table).read_text().splitlines()[1:]]
            found += [
                row[9] for row in rows if row[3] == LISTENS and int(row[1].rpartition(":")[2], 16) == port
            ]
    return found


def described(pid: int) -> str:
    command = command_of(pid)
    return f"pid {pid}: {command}" if command else f"pid {pid}"


def command_of(pid: int) -> str:
    """The command line of a process, shortened; empty when there is no such process."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        with contextlib.suppress(OSError):
            asked = ["ps", "-o", "args=", "-p", str(pid)]
            command = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
            return " ".join(command.split())[:COMMAND_MOST]
        return ""
    return " ".join(command.split())[:COMMAND_MOST]
