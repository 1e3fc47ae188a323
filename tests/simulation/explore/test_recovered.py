"""After a recovery of the cluster the audit judges names, attributes and bytes by the state at the barrier and by what came behind the recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodes.config import SECOND, DataConfig, many_groups, one_group
from nodes.explore import trial as trial_module
from nodes.explore.plan import Caller, Fault, Plan
from nodes.explore.trial import Trial
from nodes.metadata.tree import Tree
from nodes.protocols.paxos.primary import Primary
from nodes.protocols.paxos.proposer import Proposer
from nodes.trace.checkpoints import TakenBack

CALLERS = [
    Caller("c1", ["put /before 700", "mkdir /d", "chmod /d 711"]),
    Caller("c2", ["put /between 700", "append /before 90"], start_ms=1_500),
    Caller("c3", ["put /behind 700", "chmod /d 722"], start_ms=6_000),
]
MARK = Fault("mark", ["k1"], at_ms=1_000)
RECOVER = Fault("recover", ["k1"], at_ms=3_000)


def trial_of(*faults: Fault) -> Trial:
    cluster = one_group(2, data=DataConfig(["dn1", "dn2"]))
    return Trial(Plan(1, cluster, callers=CALLERS, faults=list(faults), span_ms=9_000))


def planted(trial: Trial, damage: Callable[[Tree], None], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Damages every namespace after the load, and runs the trial; the invariants that it then violates."""
    heal = trial._core_serves

    def damaging() -> None:
        heal()
        for server in trial.cluster.servers.values():
            if server.group:
                damage(tree_of(server))

    monkeypatch.setattr(trial, "_core_serves", damaging)
    return {failure.invariant for failure in trial.run().failures}


def tree_of(server: Any) -> Tree:
    owner = server.world.answers["tree"].__closure__[0].cell_contents
    return owner.state.namespace.tree  # type: ignore[no-any-return]


def lose_content(name: str) -> Callable[[Tree], None]:
    def lose(tree: Tree) -> None:
        number = next(
            entry.entries[name] for entry in tree.inodes.values() if entry.entries and name in entry.entries
        )
        tree.bodies.drop([number], None)

    return lose


def lose_name(tree: Tree) -> None:
    del next(entry.entries for entry in tree.inodes.values() if entry.entries and "behind" in entry.entries)[
        "behind"
    ]


def lose_mode(tree: Tree) -> None:
    next(inode for inode in tree.inodes.values() if inode.mode == 0o722).mode = 0o711


def test_the_recovery_of_these_plans_is_carried_out_and_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_module, "RESTORED_SHARE", 0)
    trial = trial_of(MARK, RECOVER)
    assert trial.run().failures == []
    assert any(type(stamped.event) is TakenBack for stamped in trial.events)
    kept = {
        tag: trial.acknowledged.is_kept(client.name, place)
        for client in trial.clients
        for tag, place in client.acknowledged.items()
    }
    assert kept == {"c1/1": True, "c2/1": False, "c2/2": False, "c3/1": True}


@pytest.mark.parametrize("name", ["before", "behind"])
def test_content_that_the_recovery_kept_is_missed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert planted(trial_of(MARK, RECOVER), lose_content(name), monkeypatch) == {"content"}


@pytest.mark.parametrize("lose", [lose_name, lose_mode])
def test_a_name_or_mode_behind_the_recovery_is_missed(
    lose: Callable[[Tree], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = planted(trial_of(MARK, RECOVER), lose, monkeypatch)
    assert found & {"no lost write", "linearisable"}


def test_a_recovery_that_restored_nothing_excuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert planted(trial_of(RECOVER), lose_content("between"), monkeypatch) == {"content"}


def test_a_group_whose_elected_server_has_not_rolled_back_is_not_audited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its members have their places by then; the groups behind the root have rolled back, and lead to nothing that came after the barrier."""
    monkeypatch.setattr(trial_module, "RESTORED_SHARE", 1)
    roll_back = Primary._roll_back

    async def late(primary: Primary, proposer: Proposer) -> None:
        if primary._member.group.name == "g3":
            await primary._member.world.clock.sleep(SECOND)
        await roll_back(primary, proposer)

    monkeypatch.setattr(Primary, "_roll_back", late)
    cluster = many_groups(4, 2, protocol="multi-paxos", placement="hash")
    trial = Trial(Plan(1, cluster, faults=[Fault("mark", ["k1"], at_ms=500)], span_ms=1_000))
    assert trial.run().failures == []
    assert {stamped.event.group for stamped in trial.events if type(stamped.event) is TakenBack} == {
        "g1", "g2", "g3", "g4"
    }  # fmt: skip
