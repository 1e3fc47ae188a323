"""Checkpoints on real processes: marking one, and rolling back to it."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backend import remote_requests
from backend.commands.contents import content_path
from backend.errors import LabError
from tests.processes.backend.running import CLOVERLAB, REPOSITORY, Up, up


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("checkpoints") / "data", "--groups", "2", "--standbys", "1") as running:
        yield running


JSON = ("-o", "json")


def command(cluster: Up, *words: str, says: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLOVERLAB, "--port", str(cluster.port), "checkpoint", *words, *JSON],
        cwd=REPOSITORY, capture_output=True, text=True, input=says, timeout=60, check=False,
    )  # fmt: skip


def fs(cluster: Up, do: str, path: str, **options: str) -> Any:
    return remote_requests.ask(cluster.port, "POST", "/api/fs", {"do": do, "path": path} | options)["result"]


def servers_aside(cluster: Up) -> list[Path]:
    return sorted((cluster.data / "servers").glob("*/aside/000001/journal/*.seg"))


def test_mark_list_and_recover(cluster: Up) -> None:
    cluster.await_true(lambda: len(actives(cluster)) == 2, "both groups serve")
    fs(cluster, "mkdir", "/before")
    marked = command(cluster, "mark", "monday")
    assert marked.returncode == 0, marked.stderr
    assert json.loads(marked.stdout)["state"] == "complete"
    taken = command(cluster, "mark", "monday")
    assert (taken.returncode, taken.stderr) == (3, "cloverlab: the name monday is taken\n")
    fs(cluster, "mkdir", "/after")
    assert "monday" in command(cluster, "list").stdout

    no = command(cluster, "recover", "monday", says="n\n")
    assert no.returncode == 3 and "operations in" in no.stderr and "the cluster was not changed" in no.stderr
    with pytest.raises(LabError, match=r"sets [0-9]+ operations aside"):
        remote_requests.ask(cluster.port, "POST", "/api/checkpoints/recover", {"name": "monday"})
    unknown = command(cluster, "recover", "tuesday", "--yes")
    assert unknown.returncode == 3 and "no checkpoint is called 'tuesday'" in unknown.stderr

    recovered = command(cluster, "recover", "monday", "--yes")
    assert recovered.returncode == 0, recovered.stderr
    reported = json.loads(recovered.stdout)
    assert reported["incarnation"] == 1 and reported["operations"] > 0
    cluster.await_true(lambda: len(taken_back(cluster)) == 4, "every server has gone back")
    cluster.await_green()
    cluster.await_true(lambda: len(actives(cluster)) == 2, "both groups serve again")
    assert fs(cluster, "stat", "/before")["kind"] == "directory"
    with pytest.raises(LabError, match="ENOENT"):
        fs(cluster, "stat", "/after")
    assert len(servers_aside(cluster)) >= 2
    assert {
        status["invariant"] for status in cluster.cluster()["invariants"] if status["state"] == "red"
    } == set()


def test_data_nodes_go_back_too(cluster: Up) -> None:
    """Blocks from before the barrier are unchanged, one for one. Blocks of later puts, appends and overwrites are quarantined on every disk."""
    nodes = [cluster.data / "servers" / name for name in ("dn1", "dn2", "dn3")]
    old, new = Random(1).randbytes(100_000), Random(2).randbytes(100_000)
    put(cluster, "/kept", old)
    put(cluster, "/rewritten", old)
    assert command(cluster, "mark", "blocks").returncode == 0
    at_barrier = [lying(node / "blocks") for node in nodes]
    put(cluster, "/kept", new, "POST")
    fs(cluster, "rm", "/rewritten")
    put(cluster, "/rewritten", new)
    put(cluster, "/later", new)
    assert command(cluster, "recover", "blocks", "--yes").returncode == 0
    for node, before in zip(nodes, at_barrier, strict=True):
        cluster.await_true(
            lambda n=node, b=before: lying(n / "blocks") == b, f"{node.name} as at the barrier"
        )
        cluster.await_true(
            lambda n=node: sum(name.endswith(".rep") for name in lying(n / "aside")) == 6,
            f"{node.name} aside",
        )
    cluster.await_true(lambda: len(actives(cluster)) == 2, "both groups serve again")
    assert got(cluster, "/kept") == got(cluster, "/rewritten") == old
    wanted = dict.fromkeys(("dn1", "dn2", "dn3"), (6, 300_000))
    cluster.await_true(
        lambda: reported_aside(cluster) == wanted, "every data node tells what it has set aside"
    )
    assert {
        status["invariant"] for status in cluster.cluster()["invariants"] if status["state"] == "red"
    } == set()


def reported_aside(cluster: Up) -> dict[str, tuple[int, int]]:
    """Blocks and bytes that the last recovery quarantined, by data node."""
    story = cluster.get("/api/checkpoints/story")["recoveries"][-1]
    return {name: (each["blocks"], each["size"]) for name, each in story["data_nodes"].items()}


def put(cluster: Up, path: str, data: bytes, method: str = "PUT") -> None:
    remote_requests.send(cluster.port, method, content_path(path), io.BytesIO(data))


def got(cluster: Up, path: str) -> bytes:
    file = io.BytesIO()
    remote_requests.receive(cluster.port, content_path(path), file)
    return file.getvalue()


def lying(directory: Path) -> dict[str, bytes]:
    """Files of a directory; a file that is moved away during the read is left out."""
    found: dict[str, bytes] = {}
    for file in directory.glob("*"):
        with suppress(FileNotFoundError):
            found[file.name] = file.read_bytes()
    return found


def test_delete(cluster: Up) -> None:
    unknown = command(cluster, "delete", "sunday")
    assert unknown.returncode == 3 and "no checkpoint is called 'sunday'" in unknown.stderr
    assert command(cluster, "mark", "sunday").returncode == 0
    assert json.loads(command(cluster, "delete", "sunday").stdout) == {"deleted": "sunday"}
    assert "sunday" not in command(cluster, "list").stdout


@pytest.mark.parametrize("name", ["", "a/b", "../x", "x" * 10_240])
def test_a_name_that_is_none_is_said_in_one_short_line(cluster: Up, name: str) -> None:
    short = repr(name[:63])
    for words in (["recover", name, "--yes"], ["delete", name]):
        reported = command(cluster, *words)
        assert reported.returncode in (2, 3) and reported.stderr.count("\n") == 1, reported.stderr
        assert (
            f"no checkpoint is called {short}; there" in reported.stderr
            or f"{short} is no name: " in reported.stderr
        )


def test_a_file_with_two_names(cluster: Up) -> None:
    fs(cluster, "create", "/one")
    fs(cluster, "ln", "/one", to="/two")
    assert fs(cluster, "stat", "/two") == fs(cluster, "stat", "/one")
    fs(cluster, "rm", "/one")
    assert fs(cluster, "stat", "/two")["nlink"] == 1
    with pytest.raises(LabError, match="ln needs the new path"):
        fs(cluster, "ln", "/two")


def actives(cluster: Up) -> list[str]:
    servers = cluster.cluster()["servers"]
    return [s["name"] for s in servers if s["role"] == s["believes"] == "active"]


def taken_back(cluster: Up) -> set[str]:
    events = cluster.get("/api/runs/1/events?kinds=TakenBack&limit=5000")["events"]
    return {event["server"] for event in events}


def test_what_an_image_says_of_a_path(cluster: Up) -> None:
    """The namespace has changed since; the image shows the old state, and only the partitions on the path are loaded."""
    fs(cluster, "mkdir", "/seen")
    fs(cluster, "create", "/seen/f")
    for group in ("g1", "g2"):
        taken = len(images(cluster, group))
        cluster.await_true(lambda g=group: order_image(cluster, g), f"{group} can take an image")
        cluster.await_true(lambda g=group, n=taken: len(images(cluster, g)) > n, f"{group} has another image")
    fs(cluster, "rm", "/seen/f")
    reported = look(cluster, "/seen/f")
    assert reported.returncode == 0, reported.stderr
    seen = json.loads(reported.stdout)
    assert seen["found"]["kind"] == "file" and seen["found"]["nlink"] == 1
    assert all(len(step["loaded"]) < step["partitions"] == 8 for step in seen["steps"])
    assert json.loads(look(cluster, "/seen/g").stdout)["found"] is None
    unknown = look(cluster, "/seen", "--sn", "1")
    assert unknown.returncode == 3 and "no image at sn 1 lies here; there are " in unknown.stderr
    for what in ("image", "check"):
        ordered = pool(cluster, what, "g1")
        assert json.loads(ordered.stdout)["server"] == cluster.active(), ordered.stderr
    unknown = pool(cluster, "image", "g9")
    assert unknown.returncode == 3 and "no group is called 'g9'; there are g1" in unknown.stderr


def look(cluster: Up, *words: str) -> subprocess.CompletedProcess[str]:
    return pool(cluster, "look", *words)


def pool(cluster: Up, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLOVERLAB, "--port", str(cluster.port), "pool", *words, *JSON],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def images(cluster: Up, group: str) -> list[str]:
    """Images that are whole on at least one node."""
    run = cluster.get("/api/runs")[0]["run"]
    pool = next(each for each in cluster.get(f"/api/runs/{run}/pool") if each["group"] == group)
    return [name for name, image in pool["images"].items() if len(image["whole"]) == 2]


def order_image(cluster: Up, group: str) -> bool:
    try:
        remote_requests.ask(cluster.port, "POST", "/api/pool", {"group": group, "do": "image"})
    except LabError:
        return False
    return True
