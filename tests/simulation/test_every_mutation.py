"""Every mutation is switched on by a test that then sees a check turn red."""

from __future__ import annotations

from pathlib import Path

from nodes.mutations import Mutations
from tests.simulation.baselines import mutations as baselines
from tests.simulation.client import mutations as client
from tests.simulation.dcfs2 import mutations as dcfs2
from tests.simulation.disks import mutations as disks
from tests.simulation.leases import members
from tests.simulation.leases import mutations as leases
from tests.simulation.mams import mutations as mams
from tests.simulation.paxos import mutations as paxos
from tests.simulation.recovery import mutations as recovery
from tests.simulation.recovery import mutations_of_barriers as barriers
from tests.simulation.symmetric import mutations as symmetric
from tests.simulation.vssp import mutations as vssp

HERE = Path(__file__).parent
SCHEDULED = (baselines, client, dcfs2, leases, members, mams, paxos, recovery, barriers, symmetric, vssp)
"""Modules whose SCHEDULES begin with the name of a mutation; `test_mutations.py` beside each runs them all."""
OF_THEIR_OWN = {
    "cut_off_leader_stays": "leases/test_giving_way.py",
    "dropped_ledger_awaited": "baselines/test_truncation.py",
    "excess_orders_forgotten": "data/test_late_orders.py",
    "former_lives_believed": "data/test_late_orders.py",
    "joins_ignored_while_redoing": "paxos/test_takeover.py",
    "leads_without_counting": "mams/test_outside_leaders.py",
    "registers_while_elected": "mams/test_configuration.py",
    "standby_without_record": "mams/test_configuration.py",
    "secondary_without_record": "paxos/test_disks.py",
    "emptied_after_settling": "symmetric/test_former_lives.py",
    "settled_by_other_disk": "symmetric/test_former_lives.py",
    "late_flush_ends_images": "symmetric/test_former_lives.py",
}
"""Mutations with a test outside of these tables."""


def test_every_mutation_has_its_schedule() -> None:
    scheduled = {name.partition(" ")[0] for module in SCHEDULED for name in module.SCHEDULES}
    scheduled |= {case.mutation for case in disks.SCHEDULES}
    assert not scheduled & {*OF_THEIR_OWN}
    assert {*scheduled, *OF_THEIR_OWN} == set(Mutations.__struct_fields__)


def test_tests_outside_of_the_tables_are_there() -> None:
    for name, file in OF_THEIR_OWN.items():
        assert name in (HERE / file).read_text(), name
