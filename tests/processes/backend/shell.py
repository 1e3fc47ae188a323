"""A person's shell, with data directories and a port of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from backend.fabrics.home import free_port
from tests.processes.backend.running import CLOVERLAB, REPOSITORY

SECONDS = 120


class Shell:
    """A shell of a person whose data directories lie in a directory of the test."""

    def __init__(self, directory: Path, where: Path = REPOSITORY):
        """`where` is its working directory."""
        self._where = where
        self.directory = directory / "cloverlab"
        self.port = str(free_port(set()))
        self._environment = {
            **os.environ,
            "XDG_DATA_HOME": str(directory),
            "CLOVERLAB_PORT": self.port,
            "PYTHONPATH": str(REPOSITORY),
        }

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*CLOVERLAB, *words],
            cwd=self._where, env=self._environment, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip

    def planes(self) -> list[dict[str, object]]:
        planes: list[dict[str, object]] = json.loads(self.run("ps", "-o", "json").stdout)
        return planes
