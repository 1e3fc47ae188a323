"""Permanent losses: a disk that is replaced while the cluster runs, and a group with one server left."""

from __future__ import annotations

from math import ceil

import pytest

from backend import remote_requests
from tests.browser.running import wait_for
from tests.containers.running import Composed
from tests.containers.test_faults import SOON_S, TAKEOVER_S, all_green, goes_on, taken_over
from tests.containers.test_groups import LENGTH, blocks, got, put

DISK = "/data/clusters/*/disk"
"""Path of the file with a disk's identity."""
BLOCKS = ceil(LENGTH / 65_536)
"""Number of blocks of an uploaded file."""


def disk(lab: Composed, name: str) -> str:
    """Identity of a server's disk; empty without one."""
    return lab.run_in(name, f"cat {DISK} 2>/dev/null | od -An -tx1", check=False).strip()


@pytest.mark.parametrize("role", ["standby", "active"])
def test_a_server_is_given_an_empty_disk(lab: Composed, role: str) -> None:
    name = lab.in_role(role, "g1")[0]
    before = disk(lab, name)
    assert before
    lab.fault("new_disk", name)
    assert lab.server(name)["process"] == "stopped" and not disk(lab, name)
    if role == "active":
        taken_over(lab, name)
    goes_on(lab, lab.active())
    lab.fault("restart", name)
    wait_for(lambda: lab.server(name)["role"] == "standby", TAKEOVER_S, f"{name} as a standby")
    assert disk(lab, name) not in ("", before)
    goes_on(lab, name)
    all_green(lab)


def test_a_data_node_is_given_an_empty_disk(lab: Composed) -> None:
    held = max(blocks(lab)) + BLOCKS
    data = put(lab, "/kept")
    wait_for(lambda: min(blocks(lab)) == held, SOON_S, "the blocks on each data node")
    lab.fault("new_disk", "dn2")
    wait_for(lambda: lab.server("dn2")["blocks"] == 0, SOON_S, "an empty disk")
    assert got(lab, "/kept") == data
    lab.fault("restart", "dn2")
    wait_for(lambda: lab.server("dn2")["blocks"] == held, TAKEOVER_S, "its blocks, copied again")
    for name in ("dn1", "dn3"):
        lab.fault("crash", name)
    assert got(lab, "/kept") == data
    lab.mend()
    all_green(lab)


def test_the_last_of_a_group_is_forced(lab: Composed) -> None:
    """The group shrinks to its floor of two; then only a person can order it to continue."""
    active = lab.active()
    left, *others = lab.in_role("standby", "g1")
    with pytest.raises(AssertionError, match="is served by"):
        lab.fault("force", "g1", left)

    def members() -> list[str]:
        return list(lab.group("g1")["configuration"]["members"])

    for name in others:
        before = len(members())
        lab.fault("crash", name)
        wait_for(lambda before=before: len(members()) < before, SOON_S, f"a configuration without {name}")
    remote_requests.ask(lab.port, "POST", "/api/fs", {"do": "mkdir", "path": "/before-the-end"})
    lab.fault("crash", active)
    wait_for(lambda: lab.server(left)["role"] == "active", TAKEOVER_S, f"the place of the active for {left}")
    sn = lab.server(left)["sn"]
    lab.fault("force", "g1", left)
    wait_for(lambda: members() == [left], TAKEOVER_S, f"a configuration of {left} alone")
    wait_for(lambda: lab.server(left)["sn"] > sn + 5, TAKEOVER_S, f"{left} going on after sn {sn}")
    for name in (active, *others):
        lab.fault("restart", name)
    wait_for(lab.in_step, 2 * TAKEOVER_S, "everybody in step")
    listed = remote_requests.ask(lab.port, "POST", "/api/fs", {"do": "ls", "path": "/"})["result"]["names"]
    assert "before-the-end" in listed
    all_green(lab)
