"""`python -m nodes server|data-node|…|workload|caller --config FILE.json`: one process of a cluster."""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from nodes.kinds import KINDS
from nodes.log_lines import log
from nodes.real.caller import run_caller
from nodes.real.loop import CausalLoop
from nodes.real.process import (
    AGAIN_EXIT,
    CannotStart,
    ProcessFile,
    run_node,
    run_server,
    run_workload,
)

WRONG_INPUT_EXIT = 2
DESCRIPTORS = 16_384
ROLES: dict[str, Callable[[ProcessFile], Coroutine[Any, Any, int]]] = {
    "server": run_server,
    "workload": run_workload,
    "caller": run_caller,
    **{kind.role: partial(run_node, kind) for kind in KINDS.values()},
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m nodes", description="One process of a cluster.")
    parser.add_argument("role", choices=sorted(ROLES))
    parser.add_argument("--config", type=Path, required=True)
    arguments = parser.parse_args()
    allow_descriptors()
    try:
        file = msgspec.json.decode(arguments.config.read_bytes(), type=ProcessFile)
        if file.role != arguments.role:
            raise CannotStart(f"{arguments.config} is of a {file.role}, not of a {arguments.role}")
        code = run(ROLES[arguments.role](file))
        if code == AGAIN_EXIT:
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
        return code
    except (CannotStart, OSError) as error:
        log("error", arguments.config.stem, str(error))
    except msgspec.DecodeError as error:
        log("error", arguments.config.stem, f"{arguments.config}: {error}")
    return WRONG_INPUT_EXIT


def allow_descriptors() -> None:
    """Raises the soft limit of open files: connections and segments of the journal share it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def run(process: Coroutine[Any, Any, int]) -> int:
    with asyncio.Runner(loop_factory=CausalLoop) as runner:
        return runner.run(process)


if __name__ == "__main__":
    sys.exit(main())
