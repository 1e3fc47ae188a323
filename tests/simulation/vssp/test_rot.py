"""Every kind of file rots at rest, on one server and on two: acknowledged writes are there, or the server reports why it does not count."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.storage import journal_file
from nodes.trace.events import Stopped, Warned
from tests.simulation.mams.lab import Lab
from tests.simulation.vssp.mutations import fill


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)


def files_of(lab: Lab, server: str, kind: str) -> list[str]:
    """The newest file of this kind, or both images' files."""
    files = sorted(lab.cluster.servers[server].store.files)
    images = [path for path in files if path.startswith("image/") and path.endswith(".manifest")]
    segments = [path for path in files if path.startswith("journal/") and path.endswith(".seg")]
    return {
        "partition": [images[-1].replace(".manifest", ".p01")],
        "manifest": [images[-1]],
        "both images": [image.replace(".manifest", ".p00") for image in images],
        "journal middle": [segments[len(segments) // 2]],
        "journal head": [segments[0]],
        "epoch": ["epoch"],
    }[kind]


KINDS = ("partition", "manifest", "both images", "journal middle", "journal head", "epoch")
COUNTS = ("partition", "manifest", "epoch")
"""Kinds of files whose rot costs a server only a line."""


def rot(lab: Lab, server: str, kind: str, bit: int) -> None:
    for path in files_of(lab, server, kind):
        data = lab.cluster.servers[server].store.files[path].data
        if kind == "epoch":
            place = len(data) - 1
        elif kind == "journal head":
            place = bit % 8
        else:
            place = len(data) // 2
        data[place] ^= 1 << (bit % 8)


def lines(lab: Lab, server: str) -> list[str]:
    return [s.event.what for s in lab.cluster.events if s.server == server and type(s.event) is Warned]


def stops(lab: Lab) -> list[str]:
    return [s.event.reason for s in lab.cluster.events if type(s.event) is Stopped]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_one_server_with_rot_is_in_step_again(kind: str, seed: int) -> None:
    """The others continue; then the active dies, and the server whose file had rotted counts like any other."""
    lab = Lab(seed, standbys=2, image_every=10, image_partitions=4)
    fill(lab, 3)
    victim = lab.standbys[seed % 2]
    lab.faults.power_loss(victim)
    rot(lab, victim, kind, seed)
    lab.faults.restart(victim)
    lab.run_ms(300)
    reported = lines(lab, victim)
    counts = kind in COUNTS
    assert counts or ("does not count before it is renewed" in reported[0] and "\n" not in reported[0])
    assert (kind == "epoch") == (reported[:1] != [] and "promises the epoch of the view anew" in reported[0])
    assert stops(lab) == []
    lab.run_ms(10_000)
    lab.cluster.run_until(lambda: lab.cluster.view()[victim] == "S", 60 * SECOND)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.eve.call(Mkdir("/after"))
    lab.eve.call(Stat("/last"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_all_lose_power_and_two_rot(kind: str, seed: int) -> None:
    """With the third server every write is there; before it returns, no answer shows a state without them."""
    lab = Lab(seed, standbys=2, image_every=10, image_partitions=4)
    fill(lab, 3)
    servers = list(lab.cluster.view())
    intact, served = servers[seed], len(lab.serving())
    for name in servers:
        lab.faults.power_loss(name)
    rotten = [name for name in servers if name != intact]
    for name in rotten:
        rot(lab, name, kind, seed)
        lab.faults.restart(name)
    task = lab.begin(lab.eve, Stat("/last"))
    lab.run_ms(15_000)
    lab.faults.restart(intact)
    if kind in COUNTS:
        assert task.done()
        lab.finish()
    else:
        assert not task.done(), "nobody who counts can have answered"
        assert all("does not count" in lines(lab, name)[0] for name in rotten)
        lab.run_ms(15_000)
        assert len(lab.serving()) == served, "what only the two had may be missing"
        lab.invariants.finish()
    assert lab.broken() == {}
    assert stops(lab) == []


@pytest.mark.parametrize("seed", range(3))
def test_everybody_rots_and_everybody_says_so(seed: int) -> None:
    """No server starts a new file system from nothing; all old files are in quarantine."""
    lab = Lab(seed, standbys=2, image_every=10, image_partitions=4)
    fill(lab, 3)
    for name in lab.cluster.view():
        lab.faults.power_loss(name)
        rot(lab, name, "journal middle", seed)
        lab.faults.restart(name)
    lab.begin(lab.eve, Mkdir("/anew"))
    lab.run_ms(30_000)
    assert "A" not in lab.cluster.view().values()
    for name in lab.cluster.view():
        assert "does not count" in lines(lab, name)[0]
        assert any(
            path.startswith("aside/damaged-01/journal/") for path in lab.cluster.servers[name].store.files
        )
    lab.invariants.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("moment", range(0, 30, 3))
def test_power_fails_while_files_are_moved_aside(moment: int) -> None:
    """The files left in its place are never taken for a journal: the move is repeated."""
    lab = Lab(moment, standbys=2, image_every=10, image_partitions=4)
    fill(lab, 3)
    victim = lab.standbys[0]
    lab.faults.power_loss(victim)
    rot(lab, victim, "journal middle", 1)
    before = {
        path
        for path in lab.cluster.servers[victim].store.files
        if path.startswith(("journal/", "image/")) and not path.startswith("aside")
    }
    lab.faults.restart(victim)
    lab.cluster.run_for(moment * 300_000)
    lab.faults.power_loss(victim)
    lab.run_ms(100)
    lab.faults.restart(victim)
    lab.run_ms(8_000)
    lab.cluster.run_until(lambda: lab.cluster.view()[victim] == "S", 60 * SECOND)
    files = lab.cluster.servers[victim].store.files
    assert all(f"aside/damaged-01/{path}" in files for path in before)
    lab.finish()
    assert lab.broken() == {}
