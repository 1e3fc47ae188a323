"""`python -m backend.containers up|run|link|keys`: the control plane inside its container.

The environment names the hosts (`backend.fabrics.inventory`); `run` takes a scenario on standard input and prints its outcome as JSON;
`keys` writes a secret for each host, with which it needs no token.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from backend.errors import LabError, Malformed
from backend.fabrics.home import read_cluster_file
from backend.fabrics.inventory import TOKEN_FILE, Inventory
from backend.key import key_in, link
from backend.names import DEFAULT_PORT
from backend.scenarios.reader import read
from backend.scenarios.runner import run
from backend.settings import Settings
from backend.shape import PROTOCOL, Shape
from backend.startup import run_up
from backend.store.retention import KEPT_S, seconds_of
from nodes.real.private_files import replace_file
from nodes.wire.keys import WeakToken, read_token


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m backend.containers", description=__doc__.partition("\n")[0]
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    up = verbs.add_parser("up", help="serve the page and run the cluster")
    up.add_argument("--data", type=Path, default=Path("/data"))
    up.add_argument(
        "--listen", default="0.0.0.0", help="inside the container; compose.yaml publishes it on loopback"
    )
    up.add_argument("--port", type=int, default=DEFAULT_PORT)
    up.add_argument("--token", type=Path, default=TOKEN_FILE)
    up.add_argument("--metrics", type=int, default=9100, help="port for Prometheus; 0 for none")
    up.add_argument("--health", type=Path, default=Path("/tmp/healthy"))
    up.add_argument(
        "--keep",
        type=seconds_of,
        default=KEPT_S,
        help="age up to which runs and events are kept: 12h, 7d, 4w",
    )
    shown = verbs.add_parser("link", help="print the link that opens the page")
    shown.add_argument("--data", type=Path, default=Path("/data"))
    secrets = verbs.add_parser("keys", help="write the keys of each container into a file of its name")
    secrets.add_argument("directory", type=Path)
    secrets.add_argument("--token", type=Path, default=TOKEN_FILE)
    one = verbs.add_parser("run", help="run one scenario")
    one.add_argument("--seed", type=int)
    one.add_argument("--scale", type=float, default=1.0)
    return parser.parse_args()


def main() -> int:
    reported = arguments()
    try:
        if reported.verb == "run":
            return run_scenario(reported.seed, reported.scale)
        published = int(os.environ.get("CLOVERLAB_PORT") or DEFAULT_PORT)
        if reported.verb == "link":
            print(link(published, key_in(reported.data)))
            return 0
        if reported.verb == "keys":
            write_keys(reported.directory, reported.token)
            return 0
        protocol = protocol_of(os.environ, reported.data)
        inventory = Inventory.reported(os.environ).of_family(protocol)
        settings = Settings(
            reported.data, reported.port, shape_of(inventory, protocol), inventory=inventory, published_port=published,
            listen=reported.listen, token_file=reported.token, health=reported.health, metrics_port=reported.metrics,
            kept_s=reported.keep,
        )  # fmt: skip
        return run_up(settings)
    except LabError as error:
        print(f"cloverlab: {error.message}", file=sys.stderr)
        return error.exit_code


def protocol_of(environment: Mapping[str, str], data: Path) -> str:
    """The requested family, or else the family of the cluster in the data directory. Raises CannotStart."""
    asked = environment.get("CLOVERLAB_PROTOCOL", "")
    found = None if asked else read_cluster_file(data / "cluster.json")
    return asked or (found.cluster.protocol if found is not None else PROTOCOL)


def shape_of(inventory: Inventory, protocol: str) -> Shape:
    return Shape(
        protocol=protocol,
        members=tuple(tuple(group) for group in inventory.groups),
        hosts=inventory.nodes,
    )


def write_keys(directory: Path, token_file: Path) -> None:
    """Raises LabError."""
    try:
        keys = Inventory.reported(os.environ).keys(read_token(token_file))
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for host, each in keys.items():
            replace_file(directory / host, msgspec.json.encode(each) + b"\n")
    except WeakToken as weak:
        raise Malformed(str(weak)) from None
    except OSError as error:
        raise Malformed(f"{error.filename}: {error.strerror}") from None


def run_scenario(seed: int | None, scale: float) -> int:
    """Prints one JSON list of outcomes. Raises LabError."""
    outcomes = [
        asyncio.run(run(scenario, "containers", scenario.seed if seed is None else seed, scale))
        for scenario in read(Path("/dev/stdin"))
    ]
    sys.stdout.buffer.write(msgspec.json.encode(outcomes) + b"\n")
    return 0 if all(outcome.held for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
