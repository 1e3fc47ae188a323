"""The failure of a test on a simulated cluster ends with the cluster's story."""

from __future__ import annotations

from nodes.metadata.operations import Mkdir
from nodes.trace.events import CheckFailed
from tests.reported import sections
from tests.simulation.mams.lab import Lab


def reported(lab: Lab) -> str:
    [(title, text)] = sections(
        [{"lab": lab, "other": 7}, {"again": lab.cluster, "invariants": lab.invariants}]
    )
    assert title == "what led to it (seed 1)"
    return text


def test_a_lab_in_the_failing_code_is_reported_with_its_last_turns() -> None:
    lab = Lab(1)
    lab.faults.pause(lab.standbys[0])
    assert reported(lab).splitlines()[-1].endswith(f"fault 1: pause {lab.faults.standing[1][1][0]}")


def test_a_red_invariant_is_reported_with_what_led_to_its_evidence() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    answer = lab.cluster.events[-1]
    check = lab.invariants._checks[0]
    check.failures.append(CheckFailed("one active", "by hand", [(answer.server, answer.number)]))
    lines = reported(lab).splitlines()
    assert lines[0].endswith("ada   calls mkdir /a (call 1 of ada.1)")
    assert "is answered success" in lines[-1]


def test_of_two_clusters_each_is_reported_with_what_its_own_checks_name() -> None:
    labs = {"one": Lab(1), "two": Lab(2)}
    for lab in labs.values():
        lab.ada.call(Mkdir("/a"))
    answer = labs["two"].cluster.events[-1]
    check = labs["two"].invariants._checks[0]
    check.failures.append(CheckFailed("one active", "by hand", [(answer.server, answer.number)]))
    one, two = (text for _, text in sections([labs]))
    assert "calls mkdir /a" in two and "calls mkdir /a" not in one


def test_where_no_cluster_is_at_hand_nothing_is_reported() -> None:
    assert sections([{"number": 7, "list": [1, 2]}]) == []
