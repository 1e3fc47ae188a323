"""A server starts from an image behind a recovery, which came to its disk by repair: it reports the incarnation that it begins in."""

from __future__ import annotations

import copy

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.metadata_server.messages import TakeImage
from nodes.storage import journal_file
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import JournalOpened
from nodes.trace.pool_events import ImageShelved, JournalPruned
from tests.chosen import but_for_slow
from tests.simulation.recovery.mutations import images, work
from tests.simulation.recovery.recorded import PAXOS, READ_MS, SHARED, Recorded


def repaired(lab: Recorded, server: str) -> None:
    """The server, which is down, starts with the newest image of the others."""
    files = {name: lab.cluster.servers[name].store.files for name in lab.servers(1)}
    others = [(images(lab, name)[-1], name) for name in files if name != server]
    newest, donor = max(others)
    files[server] |= {
        path: copy.deepcopy(file) for path, file in files[donor].items() if path.startswith(f"{newest}.")
    }
    lab.cluster.faults.restart(server)
    lab.run_ms(READ_MS)
    opened = lab.reported(JournalOpened, server)[-1]
    assert opened.first_sn == opened.image_sn + 1, "the journal continues the image"


def misses_recovery(lab: Recorded) -> str:
    """A standby is down when all others restore the checkpoint."""
    standby = lab.standby()
    lab.begin_recovery("one")
    lab.cluster.faults.crash(standby)
    lab.cluster.run_until(lambda: bool(lab.taken_back()) and lab.serves(), 30 * SECOND)
    return standby


def began_behind_recovery(lab: Recorded, standby: str) -> None:
    [passed] = lab.reported(TakenBack, standby)
    assert (passed.incarnation, passed.sn) == (1, 0)
    lab.hand_over_to(standby)
    lab.work("d", 1)
    lab.finish()


@pytest.mark.parametrize("protocol", but_for_slow([*SHARED, *PAXOS], ("hadoop-ha", "multi-paxos")))
def test_who_starts_from_an_image_behind_a_recovery_says_so(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its journal is pruned, and its own images rotted: it starts from the image of another server."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)
    lab = Recorded(protocol, 13, image_every=20)
    lab.work("first", 8)
    lab.mark("one")
    lab.work("b", 8)
    standby = misses_recovery(lab)
    assert lab.reported(JournalPruned, standby)
    lab.work("c", 12)
    files = lab.cluster.servers[standby].store.files
    for path in [path for path in files if path.startswith("image/")]:
        del files[path]
    repaired(lab, standby)
    began_behind_recovery(lab, standby)


def test_who_has_cut_its_journal_does_not_say_so_again() -> None:
    """A server of `mams` stores that it has rolled back."""
    lab = Recorded("mams", 13, standbys=3, image_every=20)
    lab.work("first", 3)
    lab.mark("one")
    lab.work("b", 3)
    lab.recover("one")
    standby = lab.standby()
    lab.work("c", 1)
    lab.cluster.faults.crash(standby)
    lab.work("d", 12)
    repaired(lab, standby)
    [restored] = lab.reported(TakenBack, standby)
    assert restored.sn
    lab.finish()


@pytest.mark.parametrize("protocol", but_for_slow([*SHARED, *PAXOS], ("hadoop-ha", "multi-paxos")))
def test_who_was_stuck_before_a_recovery_says_so_when_it_starts_behind_it(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot restore the checkpoint, and dies with an image behind the recovery that its journal holds, before it passes over with it."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)
    lab = Recorded(protocol, 22, standbys=2, image_every=20)
    work(lab, "before")
    lab.mark("one")
    work(lab, "after")
    standby = lab.standby()
    needed = images(lab, standby)[0]
    lab.cluster.servers[standby].store.files[f"{needed}.p00"].data[-9] ^= 1
    ordered = lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    lab.begin_recovery("one")
    lab.cluster.run_until(lambda: bool(lab.taken_back()) and lab.serves(), 60 * SECOND)
    record_sn = lab.taken_back()[0].next_sn - 1
    lab.run_ms(READ_MS)
    ordered.drop()
    # A pace at which the image that comes lies within what the standby has on its disk.
    pace_ms = 10 if protocol in SHARED else 1
    for number in range(1_000):
        if any(e.sn >= record_sn for e in lab.reported(ImageShelved, standby)):
            break
        lab.calls.append(lab.ada.spawn(Mkdir(f"/c{number}")))
        lab.run_ms(pace_ms)
    assert not lab.reported(TakenBack, standby)
    lab.cluster.faults.crash(standby)
    lab.cluster.faults.restart(standby)
    lab.run_ms(READ_MS)
    opened = lab.reported(JournalOpened, standby)[-1]
    assert opened.first_sn <= record_sn <= opened.image_sn <= opened.last_sn
    began_behind_recovery(lab, standby)
