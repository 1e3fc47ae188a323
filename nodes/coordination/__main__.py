"""`python -m nodes.coordination`: the embedded coordination server, which implements ZooKeeper's wire protocol."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import uvloop

from nodes.coordination.log import ROTATE_BYTES
from nodes.coordination.server import CannotServe, EnsembleSettings, serve
from nodes.log_lines import log


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _settings(arguments: list[str] | None = None) -> EnsembleSettings:
    parser = argparse.ArgumentParser(prog="python -m nodes.coordination", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=2181, help="0 takes a free one (see the ready line)")
    parser.add_argument("--data", type=Path, required=True, help="directory of the log")
    parser.add_argument("--tick-ms", type=_positive, default=100, help="expiry is at most this late")
    parser.add_argument("--max-timeout-ms", type=_positive, default=60_000, help="longest session time-out")
    parser.add_argument("--control", type=Path, help="path of the Unix control socket")
    parser.add_argument(
        "--rotate-bytes", type=_positive, default=ROTATE_BYTES, help="log growth till rotation"
    )
    parser.add_argument("--owner", default="", help="identity USER:DIGEST to which the root belongs")
    given = parser.parse_args(arguments)
    if not 0 <= given.port < 65536:
        parser.error("--port must lie between 0 and 65535")
    if given.max_timeout_ms < 2 * given.tick_ms:
        parser.error("--max-timeout-ms must be at least two ticks")
    return EnsembleSettings(**vars(given))


def main() -> int:
    settings = _settings()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(settings))
    except CannotServe as refused:
        log("error", "coordination", str(refused))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
