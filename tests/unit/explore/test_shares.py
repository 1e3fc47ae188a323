"""Some thousand plans together draw every verb, operation, knob, size and kind of message, each often enough to meet the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

from nodes.config import Knobs
from nodes.explore.calls import CONTENT, ONE_PATH, OTHERS
from nodes.explore.draw import SAFE, draw
from nodes.explore.draw_cluster import JOURNAL_NODES
from nodes.explore.draw_faults import DRAWN, NEEDS, able
from nodes.explore.plan import Caller, Plan
from nodes.explore.progress import every_message
from nodes.families import FAMILIES
from nodes.sim.conditions import CALM
from nodes.sim.ensemble import COORDINATION, MEMBERS

RING = ("create", "rename", "delete")
OPERATIONS = {*ONE_PATH, *OTHERS, *CONTENT}


@cache
def plans() -> list[Plan]:
    return [draw(seed) for seed in range(1, 4_001)]


def of(protocols: Iterable[str]) -> list[Plan]:
    names = set(protocols)
    return [plan for plan in plans() if plan.cluster.protocol in names]


def share(plans_: list[Plan], verb: str) -> float:
    return sum(any(fault.verb == verb for fault in plan.faults) for plan in plans_) / len(plans_)


def test_every_verb_is_in_one_of_a_hundred_plans_of_the_families_that_can_use_it() -> None:
    rare = {}
    for verb in DRAWN:
        able_ = [name for name in SAFE if NEEDS.get(verb, able)(FAMILIES[name])]
        if verb == "force":  # A server alone has no others to be forced without.
            able_ = [name for name in able_ if FAMILIES[name].standbys]
        found = share(of(able_), verb)
        if found < 0.01:
            rare[verb] = found
    assert not rare


def test_the_coordination_service_and_single_servers_of_its_ensemble_crash() -> None:
    crashed = [{name for fault in plan.faults if fault.verb == "crash" for name in fault.targets} for plan in plans()]  # fmt: skip
    assert sum(COORDINATION in names for names in crashed) > 0.005 * len(crashed)
    assert sum(bool({*MEMBERS} & names) for names in crashed) > 0.005 * len(crashed)


def test_a_quarter_of_the_faults_is_tied_to_progress() -> None:
    faults = [fault for plan in plans() for fault in plan.faults]
    assert sum(fault.on is not None for fault in faults) >= 0.25 * len(faults)


def of_plans(found: Callable[[Plan], bool], among: list[Plan] | None = None) -> float:
    """The share of the plans of which this is true."""
    plans_ = plans() if among is None else among
    return sum(map(found, plans_)) / len(plans_)


def verbs_at(plan: Plan, names: list[str]) -> list[str]:
    return [fault.verb for fault in plan.faults if {*fault.targets} & {*names}]


def test_several_are_cut_off_from_several_in_each_direction() -> None:
    cuts = [fault for plan in plans() for fault in plan.faults if "others" in fault.options]
    assert of_plans(lambda plan: any("others" in fault.options for fault in plan.faults)) > 0.02
    assert {fault.options["direction"] for fault in cuts} == {"both", "to", "from"}
    assert all(fault.verb == "cut" and len(fault.targets) > 1 for fault in cuts)
    assert not any({*fault.targets} & {*fault.options["others"]} for fault in cuts)


def test_clocks_step_and_drift_in_one_seed() -> None:
    assert share(plans(), "skew_clock") > 0.06
    assert (
        of_plans(lambda plan: {"skew_clock", "drift_clock"} <= {fault.verb for fault in plan.faults}) > 0.03
    )


def test_clients_die_return_and_leave() -> None:
    def dying(plan: Plan) -> list[Caller]:
        return [caller for caller in plan.callers if caller.dies_ms]

    assert of_plans(lambda plan: bool(dying(plan))) > 0.1
    assert of_plans(lambda plan: any(caller.name.endswith("b") for caller in plan.callers)) > 0.06
    writing = ("put ", "append ")
    assert of_plans(lambda plan: any(call.startswith(writing) for each in dying(plan) for call in each.calls)) > 0.01  # fmt: skip
    assert of_plans(lambda plan: any("leave" in caller.calls[:-1] for caller in plan.callers)) > 0.03


def test_one_hot_name_is_created_renamed_and_deleted_again_and_again() -> None:
    def hot(plan: Plan) -> bool:
        lines = [line.split() for caller in plan.callers for line in caller.calls]
        often = Counter((verb, path) for verb, *paths in lines for path in paths if verb in RING)
        return any(all(often[verb, path] > 1 for verb in RING) for _, path in often)

    assert of_plans(hot) > 0.05


def test_data_nodes_of_every_number_lose_power_disks_and_machines() -> None:
    counts = Counter(len(plan.cluster.data.nodes) for plan in plans())
    assert all(counts[count] > 0.05 * counts.total() for count in range(5)), counts
    having = [plan for plan in plans() if plan.cluster.data.nodes]
    lost = Counter((verb, plan.seed) for plan in having for verb in verbs_at(plan, plan.cluster.data.nodes))
    seeds = Counter(verb for verb, _ in lost)
    assert all(seeds[verb] > 0.03 * len(having) for verb in ("power_loss", "new_disk", "gone")), seeds


def test_ddg_places_as_printed_too() -> None:
    ddg = [plan for plan in plans() if plan.cluster.placement == "ddg"]
    assert of_plans(lambda plan: plan.cluster.ddg_as_printed, ddg) > 0.2
    assert not any(plan.cluster.ddg_as_printed for plan in plans() if plan not in ddg)


def test_links_and_disks_are_unlike_the_default_and_unlike_each_other() -> None:
    def disturbed(plan: Plan) -> bool:
        return any(getattr(plan.conditions, part) != getattr(CALM, part) for part in ("network", "coordination", "sync"))  # fmt: skip

    def all_along(verb: str) -> float:
        return of_plans(lambda plan: any(fault.verb == verb and not (fault.at_ms or fault.for_ms or fault.on) for fault in plan.faults))  # fmt: skip

    assert 0.2 < of_plans(disturbed) < 0.3
    assert all_along("delay") > 0.02 and all_along("slow_disk") > 0.02


def test_several_links_are_clogged_at_once() -> None:
    assert of_plans(lambda plan: sum(fault.verb == "clog" for fault in plan.faults) > 1) > 0.02


def test_calls_are_mixed() -> None:
    calls = Counter(line.partition(" ")[0] for plan in plans() for caller in plan.callers for line in caller.calls)  # fmt: skip
    assert not {operation for operation in OPERATIONS if calls[operation] < 0.005 * calls.total()}
    assert calls["create"] < 0.5 * calls.total()


def test_there_are_at_least_two_clients() -> None:
    assert all(len(plan.callers) >= 2 for plan in plans())


def test_every_knob_is_turned() -> None:
    default = Knobs()
    for name in Knobs.__struct_fields__:
        turned = sum(getattr(plan.cluster.knobs, name) != getattr(default, name) for plan in plans())
        assert turned > 0.1 * len(plans()), name


def test_every_size_is_drawn() -> None:
    several = of(name for name in SAFE if FAMILIES[name].standbys)
    servers = Counter(len(plan.cluster.groups[0].members) for plan in several)
    assert all(servers[size] > 0.01 * len(several) for size in range(1, 7)), servers
    grouped = of(name for name in SAFE if FAMILIES[name].groups_max > 1)
    groups = Counter(len(plan.cluster.groups) for plan in grouped)
    assert all(groups[count] > 0.02 * len(grouped) for count in range(1, 5)), groups
    for protocol in ("qjm", "hadoop-ha", "bookkeeper"):
        nodes = Counter(len(plan.cluster.journal.nodes) for plan in of([protocol]))
        assert all(nodes[count] > 0.05 * nodes.total() for count in JOURNAL_NODES), (protocol, nodes)


def test_every_kind_of_message_is_held_or_tied_to() -> None:
    found = {fault.on.name for plan in plans() for fault in plan.faults if fault.on is not None}
    found |= {fault.options.get("kind", "") for plan in plans() for fault in plan.faults}
    known = {name for plan in plans() for name in every_message(plan.cluster)}
    assert len(known - found) < 0.05 * len(known), known - found
