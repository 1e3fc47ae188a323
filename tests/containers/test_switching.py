"""`PROTOCOL=NAME docker compose up`: the same containers under other families. It runs last, because it ends the cluster of the other tests.

All families instead of some: `CLOVERLAB_FAMILIES=all`.
"""

from __future__ import annotations

import pytest

from backend import remote_requests
from backend.compose import docker
from nodes.families import FAMILIES
from tests.browser.running import wait_for
from tests.chosen import chosen
from tests.containers.running import Composed
from tests.containers.test_faults import SOON_S, TAKEOVER_S, all_green

ALWAYS = ("packed-paxos",)
OWN_TEST = ("mams", "symmetric", "qjm")
LOSES_WRITES = ("backupnode",)
"""Families that lose writes by design (HDFS), so their invariants may be violated."""
SERVING = ("active", "primary")


def switch(lab: Composed, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes the family as after `down -v`, but keeps the containers of the servers running."""
    lab.compose.must("rm", "-sf", "control")
    docker("volume", "rm", f"{lab.compose.project}_control")
    monkeypatch.setenv("PROTOCOL", protocol)
    lab.start()
    assert lab.ask("cluster")["protocol"] == protocol


def mkdir(lab: Composed, path: str) -> None:
    remote_requests.ask(lab.port, "POST", "/api/fs", {"do": "mkdir", "path": path})


def calls(lab: Composed, path: str) -> None:
    """A call of the test is answered, and the workload's calls continue."""
    mkdir(lab, path)
    answered = lab.answered()
    wait_for(lambda: lab.answered() > answered + 50, SOON_S, "fifty more calls that were answered")


def believed(lab: Composed) -> set[str]:
    """Roles that the servers report of themselves."""
    return {server["believes"] for server in lab.ask("cluster")["servers"]}


def test_symmetric_members_answer_when_one_of_them_is_killed(
    shared: Composed, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch(shared, "symmetric", monkeypatch)
    reported = shared.ask("cluster")
    assert [server["name"] for server in reported["servers"]] == ["mds1", "mds2", "mds3", "mds4"]
    assert believed(shared) == {"member"} and len(reported["groups"]) == 1
    calls(shared, "/before")
    shared.fault("crash", "mds2")
    calls(shared, "/after")
    shared.fault("restart", "mds2")
    view = shared.group("g1")["epoch"]
    shared.fault("force_view", "g1")
    wait_for(lambda: shared.group("g1")["epoch"] > view, TAKEOVER_S, f"a later view than {view}")
    calls(shared, "/forced")
    wait_for(lambda: believed(shared) == {"member"}, TAKEOVER_S, "all four as members")
    all_green(shared)


def test_journal_nodes_run_in_containers_that_are_free_and_survive_the_active_and_one_of_them(
    shared: Composed, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch(shared, "qjm", monkeypatch)
    hosts = {node["name"]: node["container"] for node in shared.ask("cluster")["journal_nodes"]}
    assert hosts == {f"jn{n}": shared.container(f"mds{n + 4}")[:12] for n in (1, 2, 3)}
    calls(shared, "/before")
    active = shared.active()
    shared.fault("cut", active, "jn1")
    assert "drop" in shared.run_in(active, "/usr/local/lib/cloverlab/nft list table inet cloverlab")
    assert "drop" in shared.run_in("mds5", "/usr/local/lib/cloverlab/nft list table inet cloverlab")
    calls(shared, "/cut")
    shared.fault("heal_all")
    shared.fault("crash", "jn2")
    shared.fault("crash", active)
    wait_for(lambda: shared.active() != active, TAKEOVER_S, f"another active than {active}")
    calls(shared, "/after")
    shared.fault("restart", "jn2")
    shared.fault("restart", active)
    wait_for(shared.in_step, TAKEOVER_S, "everybody in step")
    all_green(shared)


def serving(lab: Composed) -> list[str]:
    """Servers that lead g1 in the view and report so themselves."""
    return [
        server["name"]
        for server in lab.ask("cluster")["servers"]
        if server["group"] == "g1" and server["role"] in SERVING and server["believes"] in SERVING
    ]


def counting(lab: Composed, leader: str) -> set[str]:
    """Servers that report their replication costs, once the leader has counted an answer."""
    reported = lab.ask("cluster")["replicated"]
    return set(reported) if leader in reported and reported[leader]["operations"] else set()


@pytest.mark.parametrize("protocol", chosen(ALWAYS, (name for name in FAMILIES if name not in OWN_TEST)))
def test_a_container_is_killed_and_the_service_goes_on(
    shared: Composed, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """The data is at another server where the family has a takeover, and at its own server after the restart otherwise."""
    switch(shared, protocol, monkeypatch)
    (leader,) = wait_for(lambda: serving(shared), TAKEOVER_S, "who serves")
    mkdir(shared, "/before")
    nodes = {node["name"] for node in shared.ask("cluster")["journal_nodes"]}
    wait_for(lambda: {leader, *nodes} <= counting(shared, leader), SOON_S, "what the servers count")
    shared.docker("kill", shared.container(leader))
    if FAMILIES[protocol].standbys_max:
        wait_for(lambda: serving(shared) not in ([], [leader]), TAKEOVER_S, f"another one than {leader}")
        mkdir(shared, "/meanwhile")
    shared.docker("start", shared.container(leader))
    wait_for(shared.settled, TAKEOVER_S, f"{leader} again")
    calls(shared, "/after")
    names = remote_requests.ask(shared.port, "POST", "/api/fs", {"do": "ls", "path": "/"})["result"]["names"]
    assert {"before", "after"} <= set(names)
    if protocol not in LOSES_WRITES:
        all_green(shared)


def test_an_unknown_family_is_refused_in_one_line_that_lists_them(
    shared: Composed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROTOCOL", "symetric")
    done = shared.compose.call("run", "--rm", "--no-deps", "-T", "control")
    ours = [line for line in done.stderr.decode().splitlines() if line.startswith("cloverlab:")]
    assert done.returncode == 2 and len(ours) == 1, done.stderr
    assert "'symetric' is unknown" in ours[0] and all(name in ours[0] for name in FAMILIES)
