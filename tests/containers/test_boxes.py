"""Privileges, name and networks of each container."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.compose import tool
from tests.browser.running import wait_for
from tests.containers.running import Composed

HOSTS = ("mds1", "dn1", "zk2", "client1")
NFT = "/usr/local/lib/cloverlab/nft"
NET_ADMIN = 1 << 12


def test_all_is_healthy_in_order_and_soon(lab: Composed) -> None:
    assert len(lab.compose.health()) == 16
    wait_for(lambda: set(lab.compose.health().values()) == {"healthy"}, 60, "all of them healthy at once")
    ensemble, others = ("zk1", "zk2", "zk3"), ("mds1", "mds7", "dn1")
    began = {name: lab.inspect(name)["State"]["StartedAt"] for name in (*ensemble, *others, "control")}
    assert max(began[name] for name in ensemble) < min(began[name] for name in others)
    assert max(began[name] for name in others) < began["control"]
    assert lab.up_s < 90


@pytest.mark.parametrize("name", [*HOSTS, "control"])
def test_a_container_is_an_unprivileged_user_on_a_read_only_file_system(lab: Composed, name: str) -> None:
    host = lab.inspect(name)["HostConfig"]
    assert host["ReadonlyRootfs"] and host["Memory"] and host["CapDrop"] == ["ALL"] and not host["Privileged"]
    assert host["CapAdd"] == (["NET_ADMIN"] if name != "control" else None)
    assert ("no-new-privileges:true" in host["SecurityOpt"]) == (name == "control")
    assert not any("docker.sock" in str(mount) for mount in lab.inspect(name)["Mounts"])
    assert lab.run_in(name, "id -u").strip() == "10001"
    assert "Read-only" in lab.docker(
        "exec", lab.container(name), "sh", "-c", "touch /opt/x 2>&1", check=False
    )


def capabilities(lab: Composed, name: str, command: str) -> int:
    found = re.search(r"CapEff:\s*([0-9a-f]+)", lab.run_in(name, command))
    assert found
    return int(found[1], 16)


@pytest.mark.parametrize("name", HOSTS)
def test_only_the_copy_of_nft_has_the_one_capability(lab: Composed, name: str) -> None:
    assert capabilities(lab, name, "cat /proc/1/status") == 0
    assert capabilities(lab, name, "cat /proc/self/status") == 0
    assert "table" in lab.run_in(name, f"{NFT} list tables")
    assert "Operation not permitted" in lab.run_in(name, "/usr/sbin/nft list tables 2>&1", check=False)
    lab.run_in(
        name, f"{NFT} add table inet seen && {NFT} list tables | grep -q seen && {NFT} delete table inet seen"
    )


def test_the_supervisor_is_the_first_process_and_the_server_its_child(lab: Composed) -> None:
    assert "nodes.supervisor" in lab.run_in("mds1", "tr '\\0' ' ' < /proc/1/cmdline")
    pid = lab.server("mds1")["pid"]
    assert "PPid:\t1\n" in lab.run_in("mds1", f"cat /proc/{pid}/status")
    assert "QuorumPeerMain" in lab.run_in("zk1", f"tr '\\0' ' ' < /proc/{lab.server('zk1')['pid']}/cmdline")


def test_names_of_servers_resolve_on_the_data_network_only(lab: Composed) -> None:
    project = lab.compose.project
    probes = {
        network: lab.docker(
            "run", "-d", "--network", f"{project}_{network}", "cloverlab:1", "sleep", "120"
        ).strip()
        for network in ("data", "control")
    }

    def resolves(network: str, name: str) -> bool:
        return bool(lab.docker("exec", probes[network], "getent", "hosts", name, check=False).strip())

    try:
        names_are_apart(resolves)
    finally:
        lab.docker("rm", "-f", *probes.values())


def names_are_apart(resolves: Callable[[str, str], bool]) -> None:
    assert resolves("data", "mds1") and not resolves("control", "mds1")
    assert resolves("control", "mds1.control") and not resolves("data", "mds1.control")
    assert resolves("data", "zk1") and not resolves("control", "zk1")


def test_no_packet_of_the_protocols_travels_on_the_control_network(lab: Composed) -> None:
    """The kernels of a standby and of an active count packets while the workload runs."""
    data = lab.server("mds2")["address"].partition(":")[0]
    ports = "{ 7000, 2181, 2888, 3888 }"
    rules = [
        f"{NFT} add table inet counted",
        f"{NFT} 'add chain inet counted c {{ type filter hook input priority -5; }}'",
        f"{NFT} 'add rule inet counted c ip daddr {data} tcp sport {ports} counter comment \"data\"'",
        f"{NFT} 'add rule inet counted c ip daddr {data} tcp dport {ports} counter comment \"data\"'",
        f"{NFT} 'add rule inet counted c ip daddr != {data} iifname != lo tcp sport {ports} counter comment \"control\"'",
        f"{NFT} 'add rule inet counted c ip daddr != {data} iifname != lo tcp dport {ports} counter comment \"control\"'",
    ]
    lab.run_in("mds2", " && ".join(rules))
    try:
        sn = lab.server("mds2")["sn"]
        wait_for(lambda: lab.server("mds2")["sn"] > sn + 50, 30, "fifty more groups")
        reported = lab.run_in("mds2", f"{NFT} list table inet counted")
    finally:
        lab.run_in("mds2", f"{NFT} delete table inet counted")
    packets = {"data": 0, "control": 0}
    for count, where in re.findall(r'packets (\d+) bytes \d+ comment "(\w+)"', reported):
        packets[where] += int(count)
    assert packets["data"] > 100 and packets["control"] == 0


def test_the_token_is_its_owners_alone(lab: Composed) -> None:
    assert lab.run_in("control", "stat -c '%a %u' /run/secrets/cloverlab/token").split() == ["600", "10001"]
    assert "Read-only" in lab.run_in("mds1", "touch /run/secrets/cloverlab/token 2>&1", check=False)


def test_metrics_of_every_process(lab: Composed) -> None:
    words = "import urllib.request as u; print(u.urlopen('http://{}.control:9100/metrics').read().decode())"
    for name in ("mds1", "dn1", "zk1", "client1"):
        reported = lab.run_in("control", f'python3 -c "{words.format(name)}"')
        assert re.search(rf'cloverlab_process_up{{kind="[\w-]+",server="{name}"}} 1.0', reported), reported
        assert "cloverlab_process_resident_bytes" in reported
    reported = lab.run_in(
        "control",
        "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:9100/metrics').read().decode())\"",
    )
    assert 'cloverlab_server_role{group="g1",role="active"' in reported


def test_the_stack_of_swarm_is_what_compose_takes(lab: Composed) -> None:
    stack = Path(__file__).resolve().parents[2] / "deploy" / "swarm" / "stack.yaml"
    done = subprocess.run(
        [*tool(), "-f", str(stack), "config", "-q"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
