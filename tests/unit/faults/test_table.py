"""One table of faults: every fabric has the faults that the table lists for it, and a file means the same on each."""

from __future__ import annotations

import asyncio
import inspect
import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.errors import Malformed
from backend.fabrics.faults import FaultInjection
from backend.picture import Picture
from backend.scenarios.model import StepPart
from backend.scenarios.reader import read, targets
from nodes.config import one_group
from nodes.families import FAMILIES
from nodes.faults.check import FaultUnsupported, WrongFault, options_of, resolved, wanted
from nodes.faults.model import FABRICS, Fabric, Option, Verb
from nodes.faults.table import BY_NAME, VERBS, verbs_of
from nodes.faults.words import rule_of
from nodes.sim.faults import SimFaults

ROOT = Path(__file__).resolve().parents[3]
FILE = "name: One fault\nteaches: nothing\nsteps:\n  - {{at: 1s, fault: {verb}, target: {target}, options: {options}}}\n"
SHARED = [verb for verb in VERBS if verb.fabrics == FABRICS]


def verb_id(verb: Verb) -> str:
    return verb.verb


def real_faults(kind: Fabric) -> FaultInjection:
    """Faults of a fabric without running processes."""
    picture = Picture.of(one_group(2), {}, ["client1"])
    return FaultInjection(SimpleNamespace(kind=kind, picture=picture, rng=random.Random(1)))  # type: ignore[arg-type]


def simulated_faults() -> SimFaults:
    """Faults of a simulated cluster without servers."""
    servers = {name: SimpleNamespace(group="g1") for name in ("mds1", "mds2")} | {
        "client1": SimpleNamespace(group="")
    }
    return SimFaults(SimpleNamespace(config=one_group(2), servers=servers))  # type: ignore[arg-type]


def other_value(option: Option) -> Any:
    """A valid value other than the default."""
    if option.type in ("whole", "number"):
        return 7
    if option.type == "share":
        return 0.5
    if option.type == "switch":
        return not option.default
    return next(choice for choice in option.choices if choice != option.default)


def step_of(directory: Path, verb: Verb, options: dict[str, Any]) -> StepPart:
    words = [] if not verb.counts[1] else ["g1"] if verb.targets == ("group",) else ["mds1"]
    file = directory / "fault.yaml"
    file.write_text(FILE.format(verb=verb.verb, target=words, options=json.dumps(options)))
    return read(file)[0].steps[0]


def on_simulator(step: StepPart, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options with which the simulator injects it."""
    seen: dict[str, Any] = {}

    def done(self: SimFaults, *names: Any, **options: Any) -> int:
        seen.update(options)
        return 1

    assert step.fault is not None
    monkeypatch.setattr(SimFaults, step.fault, done)
    assert simulated_faults().do(step.fault, targets(step), step.options) == 1
    return seen


def on_servers(step: StepPart, kind: Fabric) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    async def done(names: list[str], options: dict[str, Any]) -> int:
        seen.update(options)
        return 1

    assert step.fault is not None
    faults = real_faults(kind)
    faults.doing[step.fault] = done
    assert asyncio.run(faults.do(step.fault, targets(step), step.options)) == 1
    return {name: value for name, value in seen.items() if name != "verb"}


@pytest.mark.parametrize("verb", SHARED, ids=verb_id)
@pytest.mark.parametrize("given", ["defaults", "others"])
def test_a_file_means_the_same_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: Verb, given: str
) -> None:
    common = options_of(verb, "processes")
    options = {name: other_value(option) for name, option in common.items()} if given == "others" else {}
    step = step_of(tmp_path, verb, options)
    simulated = on_simulator(step, monkeypatch)
    for kind in ("processes", "containers"):
        assert on_servers(step, kind) == {name: simulated[name] for name in common}
    alone = simulated.keys() - common.keys()
    assert {name: simulated[name] for name in alone} == {
        option.name: option.default for option in verb.options if option.name in alone
    }


def test_the_simulator_does_what_the_table_says() -> None:
    done = {
        name
        for name, method in inspect.getmembers(SimFaults, inspect.isfunction)
        if hasattr(method, "__wrapped__")
    }
    assert done == {verb.verb for verb in VERBS if "simulated" in verb.fabrics}


@pytest.mark.parametrize("kind", ["processes", "containers"])
def test_real_servers_do_what_the_table_says(kind: Fabric) -> None:
    assert set(real_faults(kind).doing) == {verb.verb for verb in VERBS if kind in verb.fabrics}


@pytest.mark.parametrize("verb", VERBS, ids=verb_id)
def test_a_method_of_the_simulator_takes_the_options_of_the_table(verb: Verb) -> None:
    taken = inspect.signature(getattr(SimFaults, verb.verb)).parameters.values()
    named = {each.name for each in taken if each.name not in ("self", "a", "b", "server", "group", "targets")}
    assert named == set(options_of(verb, "simulated"))


@pytest.mark.parametrize("verb", VERBS, ids=verb_id)
def test_a_row_fits_together(verb: Verb) -> None:
    assert resolved(verb, {}, "simulated") == {option.name: option.default for option in verb.options}
    assert bool(verb.key) == bool(verb.done) == ("processes" in verb.fabrics) != bool(verb.alone)
    assert (
        verb.undo is None or (verb.lasts and resolved(BY_NAME[verb.undo.verb], verb.undo.options)) is not None
    )
    assert not verb.mends or not verb.lasts
    if verb.undo is not None and verb.undo.verb == verb.verb:
        assert verb.is_undone_by(verb.undo.options) and not verb.is_undone_by(resolved(verb, {}))
        assert verb.undone or not verb.key
    if verb.rule:
        assert rule_of(verb.verb, resolved(verb, {}))


@pytest.mark.parametrize(
    ("verb", "options", "line"),
    [
        ("delay", {"ms": -1}, "option ms of delay is a number of ms from 0 to 3600000, not -1"),
        ("delay", {"ms": True}, "option ms of delay is a number of ms from 0 to 3600000, not True"),
        ("delay", {"ms": float("nan")}, "option ms of delay is a number of ms from 0 to 3600000, not nan"),
        (
            "skew_clock",
            {"ms": 0.5},
            "option ms of skew_clock is a whole number of ms from -3600000 to 3600000, not 0.5",
        ),
        ("lose", {"share": "half"}, "option share of lose is a share from 0 to 1, not 'half'"),
        ("cut", {"direction": "up"}, "option direction of cut is one of both, to, from, not 'up'"),
        ("cut", {"island": 1}, "option island of cut is true or false, not 1"),
        ("cut", {"others": 3}, "option others of cut is a name or a list of names, not 3"),
        ("heal", {"kind": 3}, "option kind of heal is a word of at most 80 characters, not 3"),
        ("crash", {"hard": True}, "crash has no option 'hard'; it has none"),
    ],
)
def test_a_wrong_option_is_said_in_one_line(verb: str, options: dict[str, Any], line: str) -> None:
    for fabric in FABRICS:
        with pytest.raises(WrongFault) as caught:
            resolved(BY_NAME[verb], options, fabric)
        assert str(caught.value) == line
        assert caught.value.option in options


@pytest.mark.parametrize(
    ("verb", "target", "line"),
    [
        ("slow_disk", "client1", "slow_disk takes a metadata server, a journal node, a data node; client1 is a client"),
        ("crash", "g1", "crash takes a metadata server, a journal node, a data node, a client, coordination; g1 is a group"),
        ("corrupt", "coordination", "corrupt takes a metadata server, a journal node, a data node; coordination is coordination"),
        ("take_lock", "mds1", "take_lock takes a group; mds1 is a metadata server"),
        ("force", "g1", "force takes a metadata server; g1 is a group"),
    ],
)  # fmt: skip
def test_a_wrong_kind_of_target_is_said_in_the_same_line_everywhere(
    verb: str, target: str, line: str
) -> None:
    with pytest.raises(WrongFault) as caught:
        simulated_faults().do(verb, [target])
    assert str(caught.value) == line
    for kind in ("processes", "containers"):
        with pytest.raises(Malformed) as refused:
            asyncio.run(real_faults(kind).do(verb, [target]))
        assert str(refused.value) == line


def test_an_option_of_the_simulator_may_be_given_with_its_default() -> None:
    verb = BY_NAME["power_loss"]
    assert resolved(verb, {"torn": "prefix"}, "processes") == {}
    with pytest.raises(FaultUnsupported, match=r"^only the simulator has option torn of power_loss$"):
        resolved(verb, {"torn": "zeros"}, "processes")


def test_what_is_wanted_is_said_for_every_option() -> None:
    assert all(wanted(option) for verb in VERBS for option in verb.options)


def test_a_family_of_one_server_is_offered_no_second_one() -> None:
    offered = {
        name: {verb.verb for verb in verbs_of(family, "processes")} for name, family in FAMILIES.items()
    }
    assert "add_server" not in offered["single"] and "add_server" in offered["mams"]
