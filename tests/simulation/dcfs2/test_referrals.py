"""A referral shows a name, as an answer does: a leader without a lease sends none (safety rule 16)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Rename, Stat
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import Serving
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups

KINDS = [("mams", "session"), ("mams", "members"), ("2pc", "session")]


def file_of_second_group(lab: Groups, path: str) -> None:
    """Its name is in the first group, its attributes are in the second: reads are referred."""
    for _ in range(60):
        made: Any = lab.eve.call(Create(path)).result
        if home_group(made.inode) == 2:
            return
        lab.eve.call(Delete(path))
    raise AssertionError(f"{path} is never at home in g2")


def depose(lab: Groups) -> None:
    """The first group has another leader. The deposed one does not know it, and eve still reaches it."""
    deposed = lab.active(1)
    others = [name for name in lab.servers(1) if name != deposed]
    for name in (COORDINATION, *others, "ada"):
        lab.cluster.faults.cut(deposed, name)
    since = len(lab.cluster.events)

    def replaced() -> bool:
        later = lab.cluster.events[since:]
        return any(type(each.event) is Serving and each.server in others for each in later)

    lab.cluster.run_until(replaced, 30 * SECOND)


@pytest.mark.parametrize("change", [Rename("/f", "/g"), Delete("/f")])
@pytest.mark.parametrize(("protocol", "detection"), KINDS)
def test_a_deposed_leader_refers_no_read(protocol: str, detection: str, change: Rename | Delete) -> None:
    """The other group would answer for a renamed file, and refer a call for a deleted one back."""
    lab = Groups(1, 2, 2, placement="random", protocol=protocol, detection=detection)
    file_of_second_group(lab, "/f")
    for client in (lab.ada, lab.eve):
        client.call(Stat("/f"))
    depose(lab)
    lab.ada.call(change)
    with pytest.raises(FsError, match="ENOENT"):
        lab.eve.call(Stat("/f"))
    lab.finish()
