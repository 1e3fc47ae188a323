"""Commands of `fs`, `tree`, `watch`, `bundle`, `journal dump` and `image dump` beside a real cluster."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodes.coordination.log import TransactionLog
from nodes.coordination.tree import ZnodeTree
from tests.processes.backend.running import CLOVERLAB, REPOSITORY, Up, up


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("up") / "data", "--standbys", "1", "--data-nodes", "1") as running:
        yield running


def run(cluster: Up, *words: str, says: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [*CLOVERLAB, "--port", str(cluster.port), *words]
    return subprocess.run(command, cwd=REPOSITORY, input=says, capture_output=True, timeout=90, check=False)


def well(cluster: Up, *words: str, says: bytes = b"") -> bytes:
    done = run(cluster, *words, says=says)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout


def test_a_tree_is_put_listed_checked_and_got(cluster: Up, tmp_path: Path) -> None:
    local = tmp_path / "tree"
    (local / "a" / "b").mkdir(parents=True)
    (local / "a" / "n").write_text("".join(f"{n}\n" for n in range(30_000)))
    (local / "a" / "b" / "x").write_text("x")
    (local / "empty").touch()
    done = json.loads(well(cluster, "fs", "put", "-r", str(local), "/tree", "-o", "json"))
    assert (done["directories"], done["files"]) == (3, 3)

    well(cluster, "fs", "chmod", "600", "/tree/empty")
    rows = well(cluster, "fs", "ls", "-l", "/tree").decode().splitlines()
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [
        ("drwxr-xr-x", "a"),
        ("-rw-------", "empty"),
    ]
    assert well(cluster, "fs", "ls", "/tree", "/tree/a").decode().split() == [
        "/tree:",
        "a",
        "empty",
        "/tree/a:",
        "b",
        "n",
    ]
    [used] = json.loads(well(cluster, "fs", "du", "/tree", "-o", "json"))
    assert (used["files"], used["directories"]) == (3, 3) and used["bytes"] == done["size"]
    assert well(cluster, "fs", "tail", "-n", "2", "/tree/a/n") == b"29998\n29999\n"
    assert well(cluster, "fs", "tail", "-c", "3", "/tree/a/n") == b"99\n"
    assert well(cluster, "fs", "cat", "/tree/a/b/x", "/tree/a/b/x") == b"xx"

    before = json.loads(well(cluster, "fs", "stat", "/tree/empty", "-o", "json"))["mtime_ns"]
    well(cluster, "fs", "touch", "/tree/empty", "/tree/fresh")
    assert json.loads(well(cluster, "fs", "stat", "/tree/empty", "-o", "json"))["mtime_ns"] > before
    checked = json.loads(well(cluster, "fs", "fsck", "/tree", "-o", "json"))
    assert checked["files"] == 4 and checked["faults"] == [] and checked["blocks"]["missing"] == 0

    back = tmp_path / "back"
    well(cluster, "fs", "get", "-r", "/tree", str(back))
    (local / "fresh").touch()
    assert subprocess.run(["diff", "-r", local, back], check=False).returncode == 0


def test_a_failing_get_leaves_the_local_file(cluster: Up, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    assert run(cluster, "fs", "get", "/nope", str(tmp_path / "mine")).returncode != 0
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("mine", "mine")]


def test_a_closed_pipe_ends_a_command_well(cluster: Up) -> None:
    well(cluster, "fs", "put", "-", "/long", says=b"0123456789\n" * 200_000)
    words = " ".join((*CLOVERLAB, "--port", str(cluster.port), "fs cat /long"))
    done = subprocess.run(
        ["bash", "-c", f"{words} | head -1; echo ${{PIPESTATUS[0]}}"],
        cwd=REPOSITORY, capture_output=True, timeout=90, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"0123456789\n0\n", b"")


def test_the_files_of_a_running_server_are_dumped(cluster: Up) -> None:
    well(cluster, "fs", "mkdir", "/dumped")
    directory = str(cluster.data / "servers" / cluster.active())

    def dumped() -> bool:
        lines = run(cluster, "journal", "dump", directory, "-o", "json").stdout.splitlines()
        return any(
            "dumped" in record.get("names", ()) for line in lines for record in json.loads(line)["records"]
        )

    cluster.await_true(dumped, "the record of /dumped in the journal")
    nothing = run(cluster, "image", "dump", str(cluster.data))
    assert nothing.returncode == 2 and b"no image with a manifest" in nothing.stderr


def test_the_tree_names_the_servers_of_ephemeral_nodes(cluster: Up) -> None:
    active = cluster.active()
    nodes = {
        node["path"]: node for node in json.loads(well(cluster, "tree", "/cloverlab/groups/g1", "-o", "json"))
    }
    lock = nodes["/cloverlab/groups/g1/lock"]
    assert lock["owner"] == active and json.loads(lock["data"])["owner"] == active and lock["session"]
    epoch = nodes["/cloverlab/groups/g1/epoch"]
    assert (epoch["owner"], epoch["session"]) == ("", "") and json.loads(epoch["data"])["active"] == active
    assert f"/view/{active}".encode() in well(cluster, "tree")
    assert run(cluster, "tree", "/nope").returncode != 0


def passwords_of(cluster: Up, copy: Path) -> list[bytes]:
    """Of the sessions that the coordination service has open, from a copy of its files."""
    shutil.copytree(cluster.data / "coordination", copy)
    tree, log = ZnodeTree(), TransactionLog(copy)
    log.open(tree, 0)
    log.close()
    return [session.password for session in tree.sessions.open.values()]


def test_a_bundle_of_a_running_cluster_has_no_secret(cluster: Up, tmp_path: Path) -> None:
    content = b"a secret in the content of a file"
    well(cluster, "fs", "put", "-", "/named", says=content)
    archive = tmp_path / "bundle.tar.gz"
    assert str(archive).encode() in well(cluster, "bundle", str(archive))
    passwords = passwords_of(cluster, tmp_path / "coordination")
    secrets = [content, *passwords, *(password.hex().encode() for password in passwords)]
    secrets += [(cluster.data / name).read_bytes().strip() for name in ("token", "key")]
    for file in (cluster.data / "keys").iterdir():
        secrets += [value.encode() for value in json.loads(file.read_bytes()).values()]
    with tarfile.open(archive) as tar:
        found = {each.name.partition("/")[2]: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    assert len(passwords) >= 2 and all(len(secret) >= 16 for secret in secrets if secret)
    assert [name for name, data in found.items() if any(secret in data for secret in secrets if secret)] == []
    assert {
        "about.json",
        "cluster.json",
        "status.json",
        "invariants.json",
        "events.jsonl",
        "files.txt",
    } < set(found)
    assert {"logs/mds1.err", "logs/mds1.out", "logs/coordination.err"} < set(found)
    assert json.loads(found["status.json"])["servers"] and found["events.jsonl"].count(b"\n") > 100
    assert json.loads(found["about.json"])["left_out"] == []


def heed_interrupts() -> None:
    """A shell's background jobs ignore them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_events_are_watched_from_a_moment_and_of_a_kind(cluster: Up) -> None:
    command = [*CLOVERLAB, "--port", str(cluster.port), "watch", "--after", "0", "--kind", "Serving"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as watching:
        assert watching.stdout is not None and watching.stderr is not None
        event = json.loads(watching.stdout.readline())
        assert event["kind"] == "Serving" and event["group"] == "g1" and event["says"]
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 130 and watching.stderr.read() == b""
    unknown = run(cluster, "watch", "--kind", "Nonsense")
    assert unknown.returncode != 0 and b"no event is called" in unknown.stderr


def test_watching_ends_well_when_its_reader_goes(cluster: Up) -> None:
    words = " ".join((*CLOVERLAB, "--port", str(cluster.port), "watch --after 0"))
    done = subprocess.run(
        ["bash", "-c", f"{words} | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}"],
        cwd=REPOSITORY, capture_output=True, timeout=90, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_the_active_role_is_handed_over_and_back(cluster: Up) -> None:
    cluster.await_true(lambda: cluster.cluster()["settled"], "a settled cluster")
    old = cluster.active()
    done = json.loads(well(cluster, "handover", "g1", "-o", "json"))
    assert done["old"] == old and done["new"] == cluster.active() != old
    cluster.await_true(lambda: cluster.server(old)["role"] == "standby", f"{old} is in step again")
    assert json.loads(well(cluster, "handover", "g1", old, "-o", "json"))["new"] == old
    refused = run(cluster, "handover", "g1", old)
    assert refused.returncode != 0 and b"is the active already" in refused.stderr


def test_a_run_is_a_file_and_a_run_again(cluster: Up, tmp_path: Path) -> None:
    file = tmp_path / "mine.cloverrun"
    done = json.loads(well(cluster, "runs", "export", "1", str(file), "-o", "json"))
    assert done["lines"] > 10 and done["file"] == str(file)
    [row, head] = well(cluster, "runs", "import", str(file)).decode().splitlines()[::-1]
    assert head.split()[0] == "run" and row.split()[0] == "2" and "run 1 of clover-" in row
    listed = json.loads(well(cluster, "runs", "list", "-o", "json"))
    assert [(each["run"], each["live"], each["origin"] != "") for each in listed] == [
        (2, False, True),
        (1, True, False),
    ]

    cut = tmp_path / "cut"
    cut.write_bytes(file.read_bytes()[:-9])
    for words, code, says in (
        (("import", str(cut)), 2, "the run cannot be opened: it is cut off behind line"),
        (("import", "README.md"), 2, "it is no file of a run"),
        (("import", str(tmp_path / "none")), 2, "cannot read"),
        (("export", "9", str(tmp_path / "nine")), 3, "there is no run 9"),
        (("export", "1", str(tmp_path / "no" / "way")), 2, "cannot write"),
    ):
        refused = run(cluster, "runs", *words)
        assert refused.returncode == code and says in refused.stderr.decode(), refused
        assert refused.stderr.count(b"\n") == 1 and not refused.stdout
    assert len(json.loads(well(cluster, "runs", "list", "-o", "json"))) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut", "mine.cloverrun"]
