"""The fault verbs on real network interfaces, and faults that only containers have."""

from __future__ import annotations

import pytest

from tests.browser.running import wait_for
from tests.containers.running import Composed

SOON_S = 30
TAKEOVER_S = 30


def taken_over(lab: Composed, old: str) -> str:
    of = lab.server(old)["group"]

    def new() -> str:
        group = lab.group(of)
        return (
            str(group["active"])
            if group["active"] not in ("", old) and group["lock_owner"] == group["active"]
            else ""
        )

    found = str(wait_for(new, TAKEOVER_S, f"another active than {old}"))
    goes_on(lab, found)
    return found


def goes_on(lab: Composed, name: str) -> None:
    sn = lab.server(name)["sn"]
    wait_for(lambda: lab.server(name)["sn"] > sn + 5, SOON_S, f"{name} going on after sn {sn}")


def all_green(lab: Composed) -> None:
    assert lab.red() == {}


@pytest.mark.parametrize("verb", ["crash", "stop", "power_loss", "pause", "cut"])
def test_an_active_that_is_faulted_is_followed_by_a_standby(lab: Composed, verb: str) -> None:
    old = lab.active()
    lab.fault(verb, old)
    taken_over(lab, old)
    if verb == "cut":
        assert "drop" in lab.run_in(old, "/usr/local/lib/cloverlab/nft list table inet cloverlab")
    lab.mend()
    goes_on(lab, old)
    all_green(lab)


def test_a_link_is_cut_at_both_ends_in_one_direction_and_healed(lab: Composed) -> None:
    old = lab.active()
    standby = lab.in_role("standby", "g1")[0]
    lab.fault("cut", old, standby, direction="to")
    table = "/usr/local/lib/cloverlab/nft list table inet cloverlab"
    assert lab.run_in(old, table).count("drop") == 1 and "saddr" in lab.run_in(standby, table)
    wait_for(lambda: lab.server(standby)["role"] != "standby", TAKEOVER_S, f"{standby} out of step")
    goes_on(lab, old)
    lab.fault("heal", old, standby)
    assert "drop" not in lab.run_in(old, table) + lab.run_in(standby, table)
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    all_green(lab)


def test_delay_and_loss_slow_the_service_and_lose_nothing(lab: Composed) -> None:
    active = lab.active()
    standbys = lab.in_role("standby", "g1")
    lab.fault("delay", active, standbys[0], ms=80)
    lab.fault("lose", active, standbys[1], share=0.2)
    lab.fault("delay", active, "zk1", ms=30)
    goes_on(lab, active)
    lab.fault("heal_all")
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    all_green(lab)


def test_a_session_ends_and_the_lock_is_taken_away(lab: Composed) -> None:
    old = lab.active()
    lab.fault("expire_session", old)
    taken_over(lab, old)
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    old = lab.active()
    lab.fault("take_lock", "g1")
    taken_over(lab, old)
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    all_green(lab)


def test_the_leader_of_the_ensemble_is_killed_or_cut_and_service_goes_on(lab: Composed) -> None:
    for verb, undo in (("crash", "restart"), ("cut", "heal"), ("pause", "resume")):
        servers = lab.ask("cluster")["coordination"]["servers"]
        leader = next(server["name"] for server in servers if server["role"] == "leader")
        lab.fault(verb, leader)

        def another(leader: str = leader) -> bool:
            return any(
                server["role"] == "leader" and server["name"] != leader
                for server in lab.ask("cluster")["coordination"]["servers"]
            )

        wait_for(another, SOON_S, f"another leader than {leader} after {verb}")
        goes_on(lab, lab.active())
        lab.fault(undo, leader)
        wait_for(lab.quorum, SOON_S, "all three in the quorum")
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    all_green(lab)


def test_without_a_quorum_the_active_stops_serving_and_comes_back_with_it(lab: Composed) -> None:
    active = lab.active()
    lab.fault("crash", "zk1")
    lab.fault("crash", "zk2")
    wait_for(lambda: lab.server(active)["fenced"], SOON_S, f"{active} to stop serving")
    answered = lab.answered()
    wait_for(lambda: lab.server("zk3")["role"] in ("looking", "down"), SOON_S, "an ensemble without a quorum")
    assert lab.answered() == answered
    lab.fault("restart", "zk1")
    lab.fault("restart", "zk2")
    wait_for(lab.quorum, SOON_S, "a quorum")
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    goes_on(lab, lab.active())
    all_green(lab)


def test_a_server_is_added_to_the_second_group_in_the_spare_container(lab: Composed) -> None:
    lab.fault("add_server", "g2")
    wait_for(lambda: "mds8" in lab.in_role("standby", "g2"), TAKEOVER_S, "mds8 as a standby of g2")
    goes_on(lab, "mds8")
    with pytest.raises(AssertionError, match="no container is free for another server"):
        lab.fault("add_server", "g1")
    all_green(lab)


def test_a_container_killed_from_outside_is_seen_and_survived(lab: Composed) -> None:
    old = lab.active()
    lab.docker("kill", lab.container(old))
    taken_over(lab, old)
    reported = lab.server(old)
    assert reported["process"] == "stopped" and "container is gone" in reported["warning"]
    lab.docker("start", lab.container(old))
    wait_for(lambda: lab.server(old)["role"] == "standby", TAKEOVER_S, f"{old} as a standby")
    assert lab.server(old)["warning"] == ""
    goes_on(lab, old)
    all_green(lab)


def test_a_server_killed_from_outside_is_seen(lab: Composed) -> None:
    name = lab.in_role("standby", "g1")[0]
    lab.run_in(name, f"kill -9 {lab.server(name)['pid']}")
    wait_for(lambda: "SIGKILL" in lab.server(name)["warning"], SOON_S, f"what ended {name}")
    lab.fault("restart", name)
    wait_for(lambda: lab.server(name)["role"] == "standby", TAKEOVER_S, f"{name} as a standby")
    all_green(lab)


def test_a_full_volume_stops_its_server_alone_and_loses_nothing(lab: Composed) -> None:
    if lab.active("g2") == "mds7":
        lab.fault("take_lock", "g2")
        taken_over(lab, "mds7")
    lab.run_in("mds7", "dd if=/dev/zero of=/data/filled bs=64k 2>/dev/null", check=False)
    wait_for(lambda: "no room is left" in lab.server("mds7")["warning"], SOON_S, "what ended mds7")
    goes_on(lab, lab.active("g2"))
    lab.run_in("mds7", "rm /data/filled")
    lab.fault("restart", "mds7")
    wait_for(lambda: lab.server("mds7")["role"] == "standby", TAKEOVER_S, "mds7 as a standby")
    goes_on(lab, "mds7")
    all_green(lab)


def test_the_control_plane_starts_without_one_of_its_containers(lab: Composed) -> None:
    """The returning container has another address, because the control plane took its old one."""
    name = lab.in_role("standby", "g1")[0]
    lab.docker("kill", lab.container(name), lab.container("control"))
    lab.docker("start", lab.container("control"))
    wait_for(lab.settled_once, SOON_S, "an API that answers")
    wait_for(
        lambda: any(s["believes"] == "active" for s in lab.ask("cluster")["servers"] if s["group"] == "g1"),
        SOON_S,
        "an active",
    )
    goes_on(lab, lab.active())
    lab.docker("start", lab.container(name))
    wait_for(lambda: lab.server(name)["role"] == "standby", TAKEOVER_S, f"{name} as a standby")
    goes_on(lab, name)
    all_green(lab)


def test_the_control_plane_may_be_killed_and_nothing_is_lost(lab: Composed) -> None:
    before = lab.ask("cluster")["groups"][0]["epoch"]
    lab.docker("kill", lab.container("control"))
    lab.docker("start", lab.container("control"))
    wait_for(lab.settled_once, SOON_S, "an API that answers")
    wait_for(lab.in_step, TAKEOVER_S, "everybody in step")
    cluster = lab.ask("cluster")
    assert cluster["groups"][0]["epoch"] == before
    goes_on(lab, lab.active())
    all_green(lab)
