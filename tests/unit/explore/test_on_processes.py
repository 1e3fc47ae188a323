"""The stage of real processes, without any: the scaled plan, and the verbs that reach the fabric."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend import speed
from backend.errors import Impossible, Unavailable
from backend.explore import process_trial, real_stage
from backend.explore.executors import Here
from backend.explore.process_trial import default_scale, scaled
from backend.explore.real_faults import RealFaults
from backend.explore.real_stage import RealStage
from backend.explore.trial_fabric import TrialFabric
from backend.fabrics.ledger import FaultLedger
from backend.fabrics.links import LinkFault
from backend.names import EVERYBODY
from nodes.config import Timing, one_group
from nodes.explore.calls import parse
from nodes.explore.content import ContentRecord
from nodes.explore.plan import Caller, Fault, Plan
from nodes.faults.check import FaultUnsupported
from nodes.real.caller import PROGRESS, CallProgress, read_progress, record


class FakeFabric:
    """Names of processes and a ledger, without processes."""

    def __init__(self) -> None:
        self.states = {"mds1": "running", "mds2": "stopped", "mds3": "running", "c1": "running"}
        self.ledger = FaultLedger(lambda event: None)
        self.done: list[tuple[str, list[str], dict[str, Any]]] = []

    def state_of(self, name: str) -> str:
        return self.states.get(name, "stopped")

    async def apply_rules(self) -> None:
        self.done.append(("rules", [], {}))


class FakeStage:
    def __init__(self) -> None:
        self.fabric = FakeFabric()
        self.starting: dict[str, Any] = {}
        self.servers = {name: SimpleNamespace(client=name == "c1", gone=False) for name in self.fabric.states}

    def wait(self, procedure: Any) -> Any:
        return asyncio.run(procedure)

    def await_start(self, name: str) -> None:
        pass

    def start_process(self, name: str, procedure: Any) -> None:
        procedure.close()
        self.starting[name] = procedure


@pytest.fixture
def stage() -> FakeStage:
    return FakeStage()


@pytest.fixture
def faults(stage: FakeStage, monkeypatch: pytest.MonkeyPatch) -> RealFaults:
    made = RealFaults(stage)  # type: ignore[arg-type]

    async def do(verb: str, targets: list[str], options: dict[str, Any]) -> int:
        if verb == "expire_session":
            raise Impossible("nobody has a session")
        stage.fabric.done.append((verb, targets, options))
        return 7

    monkeypatch.setattr(made._faults, "do", do)
    return made


def test_options_that_processes_do_not_have_are_left_out(faults: RealFaults, stage: FakeStage) -> None:
    assert faults.do("power_loss", ["mds1"], {"torn": "sectors"}) == 7
    faults.do("slow_disk", ["mds1"], {"ms": 5, "share": 0.1})
    assert stage.fabric.done == [("power_loss", ["mds1"], {}), ("slow_disk", ["mds1"], {"ms": 5})]


def test_of_many_those_who_run_are_faulted(faults: RealFaults, stage: FakeStage) -> None:
    faults.do("crash", ["mds1", "mds2", "mds3"])
    assert stage.fabric.done == [("crash", ["mds1", "mds3"], {})]


@pytest.mark.parametrize("verb", ["clog", "hold", "drift_clock", "fill_disk", "expire_session", "fly"])
def test_what_processes_cannot_do_is_unsupported(faults: RealFaults, verb: str) -> None:
    with pytest.raises(FaultUnsupported):
        faults.do(verb, ["mds1"])


def test_what_processes_cannot_cut_is_not_cut_elsewhere(faults: RealFaults, stage: FakeStage) -> None:
    with pytest.raises(FaultUnsupported, match="others"):
        faults.do("cut", ["mds1", "mds2"], {"others": ["mds3", "c1"]})
    assert not stage.fabric.done


def test_a_machine_that_is_gone_never_runs_again(faults: RealFaults, stage: FakeStage) -> None:
    faults.do("gone", ["mds1"])
    stage.fabric.states["mds1"] = "stopped"
    assert stage.fabric.done == [("crash", ["mds1"], {})]
    for verb in ("restart", "new_disk"):
        with pytest.raises(FaultUnsupported):
            faults.do(verb, ["mds1"])


def test_restarts_begin_once_and_clients_never_return(faults: RealFaults, stage: FakeStage) -> None:
    faults.restart("mds2")
    stage.fabric.states["c1"] = "stopped"
    for name in ("mds1", "mds2", "c1"):
        with pytest.raises(FaultUnsupported):
            faults.restart(name)
    assert list(stage.starting) == ["mds2"]


def test_links_to_those_who_are_left_out_stay_broken(faults: RealFaults, stage: FakeStage) -> None:
    """mds3 is left out: all faults on links between the others end, whichever verb began them."""
    between, out = LinkFault("mds1", "mds2", drop=True), LinkFault("mds1", "mds3", drop=True)
    ledger = stage.fabric.ledger
    ledger.begin("cut", ["mds1"], {}, [LinkFault("mds1", EVERYBODY, drop=True)])
    ledger.begin("cut", ["mds3"], {}, [LinkFault("mds3", EVERYBODY, drop=True)])
    ledger.begin("cut", ["mds1"], {}, [between, out])
    faults.heal(["mds1", "mds2", "coordination"], others=["mds1", "mds2", "coordination"])
    assert ledger.links() == [LinkFault("mds3", EVERYBODY, drop=True), out]
    faults.heal(["mds3"])
    assert not ledger.links() and not faults.standing


def test_every_time_of_a_plan_is_longer_but_no_offset_of_a_clock() -> None:
    faults = [Fault("delay", ["a", "b"], {"ms": 50}, 100, for_ms=30), Fault("skew_clock", ["a"], {"ms": 500})]
    caller = Caller("c1", ["stat /"], every_us=10, start_ms=3, dies_ms=5)
    slow = scaled(Plan(1, one_group(2), callers=[caller], faults=faults, span_ms=1_000), 2.0)
    assert slow.cluster.timing == Timing(4_000, 10_000, 1_000, 200, 400, 800, 800, 120_000)
    assert slow.cluster.data.heartbeat_ms == 2 * one_group(2).data.heartbeat_ms
    assert slow.faults == [
        Fault("delay", ["a", "b"], {"ms": 100}, 200, for_ms=60),
        Fault("skew_clock", ["a"], {"ms": 500}),
    ]
    assert slow.callers == [Caller("c1", ["stat /"], every_us=20, start_ms=6, dies_ms=10)]
    assert slow.span_ms == 2_000


@pytest.mark.parametrize(("session_ms", "slowness", "scale"), [(5_000, 1, 1), (500, 1, 2), (500, 3, 6)])
def test_short_sessions_are_raised_to_what_the_machine_holds(
    session_ms: int, slowness: float, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_trial, "slowness", lambda: slowness)
    assert default_scale(Plan(1, one_group(2, timing=Timing(session_timeout_ms=session_ms)))) == scale


def test_progress_outlives_a_kill(tmp_path: Path) -> None:
    assert read_progress(tmp_path) == CallProgress()
    script = SimpleNamespace(
        begun=3,
        answered=2,
        done=False,
        acknowledged={"c1/1": ContentRecord(9, 1)},
        under_way={3: parse("stat /a")},
    )
    record(script, tmp_path)  # type: ignore[arg-type]
    (tmp_path / f".{PROGRESS}.new").write_bytes(b"half of")
    assert read_progress(tmp_path) == CallProgress(
        3, 2, False, {"c1/1": ContentRecord(9, 1)}, {3: "Stat(path='/a')"}
    )


def test_tracebacks_are_bugs_and_other_words_are_not(tmp_path: Path) -> None:
    (tmp_path / "mds1.err").write_text("mds1: OSError: no room\n")
    (tmp_path / "mds2.err").write_text("Traceback (most recent call last):\n  …\nKeyError: 'x'\n")
    fabric = SimpleNamespace(home=SimpleNamespace(directory=lambda name: tmp_path))
    assert TrialFabric.tracebacks(fabric) == {"mds2": "KeyError: 'x'"}  # type: ignore[arg-type]


def test_one_trial_after_the_other() -> None:
    here = Here(lambda job: job + b"!")
    here.submit(b"a")
    here.submit(b"b")
    assert list(here.results(0)) == [b"a!", b"b!"] and not list(here.results(0))


@pytest.mark.parametrize(("took", "factor"), [(0.1, 1.0), (1.0, 1.0), (3.0, 3.0), (100.0, speed.MOST)])
def test_the_factor_of_a_machine(took: float, factor: float) -> None:
    assert speed.factor_of(took * speed.REFERENCE_MS) == factor


@pytest.mark.parametrize("reported", ["", "fast"])
def test_the_speed_is_measured_unless_a_number_is_given(
    reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "measured", lambda: 2.5)
    monkeypatch.setenv(speed.SET, reported)
    assert speed.slowness.__wrapped__() == 2.5
    monkeypatch.setenv(speed.SET, "1.5")
    assert speed.slowness.__wrapped__() == 1.5


def test_a_question_is_open_until_its_answer_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events arrive a little after they happen: an answered change is not in the picture at once."""
    asked: list[str] = []
    arrived = asyncio.Event()

    async def ask(name: str, question: dict[str, Any], seconds: float) -> None:
        asked.append(name)
        if name == "mds2":
            raise Unavailable("it has died")

    async def stop() -> None:
        pass

    async def arrival(traces: Any) -> None:
        await arrived.wait()

    monkeypatch.setattr(real_stage, "arrival", arrival)
    home: Any = SimpleNamespace(servers=dict, nodes=list, close=lambda: None)
    fabric: Any = SimpleNamespace(home=home, ask=ask, stop=stop, traces=None)
    stage = RealStage(one_group(2), lambda listen: fabric)
    try:
        for name in ("mds1", "mds2"):
            stage.begin_asking(name, {"do": "recover", "name": "k1"})
        assert stage.unanswered == ["mds1 recover k1", "mds2 recover k1"]
        stage.run_until(lambda: len(asked) == 2 and len(stage.unanswered) == 1)
        assert stage.unanswered == ["mds1 recover k1"]
        arrived.set()
        stage.run_until(lambda: not stage.unanswered)
    finally:
        stage.stop()
