"""Two groups and three data nodes in containers: each fails by itself, and files and checkpoints span all of them."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import pytest

from backend import remote_requests
from backend.commands.contents import content_path
from tests.browser.running import wait_for
from tests.chosen import only_full
from tests.containers.running import Composed
from tests.containers.test_faults import SOON_S, TAKEOVER_S, all_green, goes_on, taken_over

TABLE = "/usr/local/lib/cloverlab/nft list table inet cloverlab"
LENGTH = 300_000
NODES = ("dn1", "dn2", "dn3")
UNDO = {"crash": "restart", "power_loss": "restart", "pause": "resume", "cut": "heal"}


def put(lab: Composed, path: str) -> bytes:
    data = Random(path).randbytes(LENGTH)
    assert remote_requests.send(lab.port, "PUT", content_path(path), io.BytesIO(data)) == {"size": LENGTH}
    return data


def got(lab: Composed, path: str) -> bytes:
    file = io.BytesIO()
    remote_requests.receive(lab.port, content_path(path), file)
    return file.getvalue()


def blocks(lab: Composed) -> list[int]:
    return [lab.server(name)["blocks"] for name in NODES]


def checkpoint(lab: Composed, what: str, **said: Any) -> Any:
    path = "/api/checkpoints" + ("/recover" if what == "recover" else "")
    return remote_requests.ask(lab.port, "POST", path, said)


def went_back(lab: Composed) -> set[str]:
    """Servers that reported their rollback to a checkpoint."""
    run = lab.ask("runs")[0]["run"]
    return {event["server"] for event in lab.ask(f"runs/{run}/events?kinds=TakenBack&limit=5000")["events"]}


def test_a_group_fails_over_alone(lab: Composed) -> None:
    old, epoch = lab.active("g2"), lab.group("g1")["epoch"]
    lab.fault("crash", old)
    assert lab.server(taken_over(lab, old))["group"] == "g2"
    goes_on(lab, lab.active("g1"))
    assert lab.group("g1")["epoch"] == epoch and lab.group("g2")["epoch"] > 1
    all_green(lab)


def test_the_actives_of_two_groups_are_cut_apart_and_stay_active(lab: Composed) -> None:
    ours, theirs = lab.active("g1"), lab.active("g2")
    lab.fault("cut", ours, theirs)
    for name, other in ((ours, theirs), (theirs, ours)):
        reported, address = lab.run_in(name, TABLE), lab.server(other)["address"].partition(":")[0]
        assert reported.count(f"addr {address} ") == 2 and reported.count("drop") == 2
    lab.fault("heal", ours, theirs)
    assert "drop" not in lab.run_in(ours, TABLE) + lab.run_in(theirs, TABLE)
    assert (lab.active("g1"), lab.active("g2")) == (ours, theirs)
    goes_on(lab, ours)
    goes_on(lab, theirs)
    all_green(lab)


@pytest.mark.parametrize("verb", ["crash", "cut", *only_full("power_loss", "pause")])
def test_a_file_is_written_without_a_faulted_data_node_and_copied_to_it_afterwards(
    lab: Composed, verb: str
) -> None:
    before = max(blocks(lab))
    lab.fault(verb, "dn2")
    reported = lab.server("dn2")
    assert reported["process"] == {"pause": "paused", "cut": "running"}.get(verb, "stopped")
    data = put(lab, f"/{verb}")
    assert got(lab, f"/{verb}") == data
    lab.fault(UNDO[verb], "dn2")
    wait_for(
        lambda: before < min(blocks(lab)) == max(blocks(lab)), SOON_S, "the new blocks on each data node"
    )
    for name in ("dn1", "dn3"):
        lab.fault("crash", name)
    assert got(lab, f"/{verb}") == data
    lab.mend()
    all_green(lab)


def test_a_data_nodes_container_is_killed_from_outside_and_comes_back_with_its_blocks(lab: Composed) -> None:
    data = put(lab, "/outside")
    held = lab.server("dn3")["blocks"]
    lab.docker("kill", lab.container("dn3"))
    wait_for(lambda: "container is gone" in lab.server("dn3")["warning"], SOON_S, "what ended dn3")
    assert got(lab, "/outside") == data
    lab.docker("start", lab.container("dn3"))
    wait_for(lambda: lab.server("dn3")["process"] == "running", TAKEOVER_S, "dn3 again")
    wait_for(lambda: lab.server("dn3")["blocks"] >= held, SOON_S, "its blocks")
    wait_for(lambda: lab.server("dn3")["warning"] == "", SOON_S, "no warning any more")
    assert lab.server("dn3")["container"] == lab.container("dn3")[:12]
    all_green(lab)


def test_all_groups_go_back_to_a_checkpoint(lab: Composed) -> None:
    """The last test here: the linearisability check cannot continue after it."""
    data = put(lab, "/before")
    marked = checkpoint(lab, "mark", name="monday")
    assert marked["state"] == "complete" and set(marked["barriers"]) == {"g1", "g2"}
    put(lab, "/after")
    servers = lab.ask("cluster")["servers"]
    checkpoint(lab, "recover", name="monday", confirmed=True)
    wait_for(
        lambda: went_back(lab) == {server["name"] for server in servers}, SOON_S, "every server gone back"
    )
    wait_for(lab.in_step, 2 * TAKEOVER_S, "everybody in step")
    assert got(lab, "/before") == data
    reported = remote_requests.ask(lab.port, "POST", "/api/fs", {"do": "ls", "path": "/"})
    assert "before" in reported["result"]["names"] and "after" not in reported["result"]["names"]
    goes_on(lab, lab.active("g1"))
    goes_on(lab, lab.active("g2"))
    all_green(lab)
