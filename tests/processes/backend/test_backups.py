"""A backup made by the command line from one cluster, and brought into another one of another family."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backend import remote_requests
from backend.commands.contents import content_path
from nodes.backup.decoder import BackupReader
from tests.processes.backend.running import CLOVERLAB, REPOSITORY, Up, up

DATA = Random(7).randbytes(200_000)


def empty(running: Up) -> None:
    """Stops the workload and removes what it has created."""
    remote_requests.ask(running.port, "POST", "/api/workload", {"paused": True})
    running.await_true(lambda: emptied(running), "an empty root")


def emptied(running: Up) -> bool:
    """A call that the workload had begun may still create something."""
    for name in fs(running, "ls", "/")["names"]:
        fs(running, "rm", f"/{name}", recursive=True)
    return not fs(running, "ls", "/")["names"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("source") / "data", "--groups", "2", "--standbys", "1") as running:
        empty(running)
        fs(running, "mkdir", "/a/b", parents=True)
        put(running, "/a/b/data", DATA)
        fs(running, "ln", "/a/b/data", to="/same")
        fs(running, "create", "/a/empty")
        fs(running, "chmod", "/a/empty", mode=0o600)
        yield running


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    options = "--protocol", "single", "--data-nodes", "2"
    with up(tmp_path_factory.mktemp("target") / "data", *options) as running:
        empty(running)
        yield running


@pytest.fixture(scope="module")
def backup(source: Up, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a checkpoint, after which the cluster has gone on."""
    file = tmp_path_factory.mktemp("backup") / "monday.backup"
    assert command(source, "mark", "monday").returncode == 0
    fs(source, "rm", "/a", recursive=True)
    fs(source, "rm", "/same")
    fs(source, "create", "/later")
    done = command(source, "export", "monday", str(file))
    assert done.returncode == 0, done.stderr
    counts = {"directories": 3, "files": 2, "names": 1, "size": len(DATA)}
    assert json.loads(done.stdout) == {"checkpoint": "monday", "file": str(file), **counts}
    return file


def command(cluster: Up, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLOVERLAB, "--port", str(cluster.port), "checkpoint", *words, "-o", "json"],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def fs(cluster: Up, do: str, path: str, **options: Any) -> Any:
    return remote_requests.ask(cluster.port, "POST", "/api/fs", {"do": do, "path": path} | options)["result"]


def put(cluster: Up, path: str, data: bytes) -> None:
    remote_requests.send(cluster.port, "PUT", content_path(path), io.BytesIO(data))


def got(cluster: Up, path: str) -> bytes:
    file = io.BytesIO()
    remote_requests.receive(cluster.port, content_path(path), file)
    return file.getvalue()


def test_the_tree_of_the_checkpoint_is_in_the_other_cluster(target: Up, backup: Path) -> None:
    done = command(target, "import", str(backup))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"directories": 3, "files": 2, "names": 1, "size": len(DATA)}
    assert fs(target, "ls", "/")["names"] == ["a", "same"]
    assert got(target, "/a/b/data") == got(target, "/same") == DATA
    assert fs(target, "stat", "/same")["nlink"] == 2
    assert fs(target, "stat", "/a/empty")["mode"] == 0o600

    again = command(target, "import", str(backup))
    assert (
        again.returncode == 3
        and "has 2 entries: import into another directory with --into PATH" in again.stderr
    )
    below = command(target, "import", str(backup), "--into", "/old/monday")
    assert below.returncode == 0, below.stderr
    assert got(target, "/old/monday/a/b/data") == DATA
    assert all(status["state"] != "red" for status in target.cluster()["invariants"])


def test_nothing_is_created_from_a_file_that_is_no_whole_backup(target: Up, backup: Path) -> None:
    whole, file = backup.read_bytes(), backup.with_name("damaged")
    for data, line in (
        (whole[:-1], "the backup is cut off"),
        (whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], "wrong checksum"),
        (whole[:8] + b"\x02\xfd" + whole[10:], "it has format 2; this version reads format 1"),
        (b"PK\x03\x04 something else", "it is no backup"),
    ):
        file.write_bytes(data)
        refused = command(target, "import", str(file), "--into", "/never")
        assert refused.returncode == 2, refused.stderr
        assert line in refused.stderr and refused.stderr.count("\n") == 1
    for missing in ("/nowhere/monday.backup", str(file.parent)):
        assert command(target, "import", missing, "--into", "/never").returncode == 2
    assert "never" not in fs(target, "ls", "/")["names"]


def test_an_export_that_cannot_be_made_leaves_no_file(source: Up, backup: Path) -> None:
    file = backup.with_name("new")
    unknown = command(source, "export", "tuesday", str(file))
    assert unknown.returncode == 3 and "no checkpoint is called 'tuesday'" in unknown.stderr
    nowhere = command(source, "export", "monday", "/nowhere/new")
    assert nowhere.returncode == 2 and "cannot write /nowhere/new" in nowhere.stderr
    assert list(file.parent.glob("new*")) == []


def test_a_backup_that_is_damaged_on_its_way_says_what_it_has_created(target: Up, backup: Path) -> None:
    """The route checks every part itself, for callers that have not read the file before."""
    whole = backup.read_bytes()
    path = "/api/checkpoints/import?into=/half"
    with pytest.raises(
        Exception, match=r"broke off: the backup is not whole: .* 2 directories and 1 files were"
    ):
        remote_requests.send(target.port, "POST", path, io.BytesIO(whole[:-5000]))
    assert "half" in fs(target, "ls", "/")["names"]
    assert command(target, "import", str(backup), "--into", "/half").returncode == 3
    completed = command(target, "import", str(backup), "--into", "/half", "--continue")
    assert completed.returncode == 0, completed.stderr


def test_a_backup_is_whole_by_its_own_checks(backup: Path) -> None:
    reader = BackupReader()
    assert [type(record).__name__ for record in reader.records(backup.read_bytes())][:3] == [
        "BackupHeader",
        "DirectoryBegin",
        "DirectoryBegin",
    ]
    assert reader.finish().size == len(DATA)
