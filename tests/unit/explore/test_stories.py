"""Stories are drawn for every family that can run them; they name existing servers and stay within bounds."""

from __future__ import annotations

import random

import msgspec
import pytest

from nodes.explore.calls import parse
from nodes.explore.draw import SAFE, SPAN_MAX_MS, draw
from nodes.explore.draw_cluster import draw_cluster
from nodes.explore.draw_faults import DRAWN
from nodes.explore.plan import FIRST, WHOEVER, Fault, Plan
from nodes.explore.stories import Story, stories_of
from nodes.explore.stories.scene import Scene
from nodes.families import FAMILIES
from nodes.sim.ensemble import COORDINATION, MEMBERS

SEEDS = range(12)
REPORTED = [(protocol, story) for protocol in SAFE for story in dict.fromkeys(stories_of(FAMILIES[protocol]))]
ROLES = ("active", "standby")


def scene_of(seed: int, protocol: str, story: Story) -> Scene:
    rng = random.Random(f"{seed}/test")
    scene = Scene(rng, draw_cluster(rng, protocol))
    while story not in stories_of(scene.family, scene.lonely):
        scene = Scene(rng, draw_cluster(rng, protocol))
    story(scene)
    return scene


def words_of(faults: list[Fault]) -> set[str]:
    return {word for fault in faults for word in fault.targets} | {
        fault.on.server for fault in faults if fault.on is not None
    }


@pytest.mark.parametrize(("protocol", "story"), REPORTED, ids=lambda each: getattr(each, "__name__", each))
def test_a_story_names_whom_there_is(protocol: str, story: Story) -> None:
    for seed in SEEDS:
        scene = scene_of(seed, protocol, story)
        cluster = scene.cluster
        groups = {group.name: len(group.members) for group in cluster.groups}
        added = [f"mds{len(cluster.groups[0].members) + 1}"]
        names = [name for group in cluster.groups for name in group.members]
        names += [*cluster.journal.nodes, *cluster.data.nodes, *(caller.name for caller in scene.callers)]
        marks = [fault.targets[0] for fault in scene.faults if fault.verb in ("mark", "recover")]
        known = {*names, *added, *groups, *marks, COORDINATION, *MEMBERS}
        for word in words_of(scene.faults):
            role, of, group = word.removeprefix(FIRST).rpartition(" of ")
            if word.startswith(WHOEVER):
                assert group in groups
            elif of:
                assert group in groups and role.split()[0] in ROLES, word
            else:
                assert word in known, word


@pytest.mark.parametrize(("protocol", "story"), REPORTED, ids=lambda each: getattr(each, "__name__", each))
def test_a_story_can_be_played(protocol: str, story: Story) -> None:
    for seed in SEEDS:
        scene = scene_of(seed, protocol, story)
        assert {fault.verb for fault in scene.faults} <= {*DRAWN, "restart", "heal"}
        assert all(fault.at_ms >= 0 and fault.for_ms >= 0 for fault in scene.faults)
        assert scene.callers and scene.span_ms > 0
        assert len({caller.name for caller in scene.callers}) == len(scene.callers)
        for caller in scene.callers:
            for line in caller.calls:
                parse(line)


@pytest.mark.parametrize("protocol", SAFE)
def test_a_seed_is_the_same_plan_on_every_machine(protocol: str) -> None:
    for seed in SEEDS:
        plan = draw(seed, protocol)
        data = msgspec.json.encode(plan)
        assert data == msgspec.json.encode(draw(seed, protocol))
        assert msgspec.json.decode(data, type=Plan) == plan
        assert plan.span_ms <= SPAN_MAX_MS


def test_a_story_keeps_to_the_sizes_of_its_family() -> None:
    for seed in range(40):
        for protocol in SAFE:
            cluster, family = draw(seed, protocol).cluster, FAMILIES[protocol]
            assert len(cluster.groups) <= family.groups_max
            assert all(len(group.members) <= family.standbys_max + 1 for group in cluster.groups)
