"""The control planes that `up` has started on this machine, by port: a file each."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from backend.fabrics.children import Child, Roster, began
from backend.places import running_file
from nodes.real.private_files import replace_file


class ControlPlane(msgspec.Struct, frozen=True):
    """One of them. A pid counts only together with the start time of its process."""

    port: int
    pid: int
    began: str
    data: str
    protocol: str

    @classmethod
    def here(cls, port: int, data: Path, protocol: str) -> ControlPlane:
        """That of this process."""
        return cls(port, os.getpid(), began(os.getpid()), str(data.expanduser().absolute()), protocol)

    @property
    def runs(self) -> bool:
        return self.began != "" and began(self.pid) == self.began

    @property
    def logs_directory(self) -> Path:
        return Path(self.data) / "logs"

    def log(self, name: str) -> Path:
        """The log of a process of the cluster; `control` is the control plane itself, when it was started detached."""
        return log_of(self.port) if name == "control" else self.logs_directory / f"{name}.err"

    def logs(self) -> list[str]:
        """Names that have a log."""
        names = sorted(path.stem for path in self.logs_directory.glob("*.err"))
        return [*names, "control"] if log_of(self.port).exists() else names

    def leftovers(self) -> list[Child]:
        """Processes of the cluster that run, as its data directory records them."""
        return list(Roster(Path(self.data)).leftovers().values()) if os.path.isdir(self.data) else []


def log_of(port: int) -> Path:
    return running_file(port).with_suffix(".log")


@contextlib.contextmanager
def registered(plane: ControlPlane) -> Iterator[None]:
    """Lists a control plane while the block runs. Where the list cannot be written, `ps`, `down` and `logs` miss it, and `CLOVERLAB_KEY` has to
    name its key."""
    with contextlib.suppress(OSError, RuntimeError):
        record(plane)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            forget(plane)


def record(plane: ControlPlane) -> None:
    """Raises OSError, and RuntimeError without a home directory."""
    file = running_file(plane.port)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(file, msgspec.json.encode(plane))


def listed() -> list[ControlPlane]:
    """Every entry, by port. One whose control plane was killed stays as long as processes of its cluster run."""
    found = []
    for file in sorted(running_file(0).parent.glob("*.json"), key=lambda file: (len(file.name), file.name)):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            plane = msgspec.json.decode(file.read_bytes(), type=ControlPlane)
            if plane.runs or plane.leftovers():
                found.append(plane)
            else:
                file.unlink()
    return found


def forget(plane: ControlPlane) -> None:
    running_file(plane.port).unlink(missing_ok=True)
