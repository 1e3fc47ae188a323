"""The conversations of the papers' figures in this implementation: any change of a protocol shows in the text.

`python -m pytest tests/traces --rewrite` writes them again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodes.metadata.operations import Mkdir
from nodes.protocols.paxos.messages import AskLease, LeaseGranted
from nodes.protocols.symmetric.messages import Alive
from nodes.wire.journal_messages import JournalRead, ReadJournal
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab
from tests.simulation.paxos.lab import Lab as PaxosLab
from tests.simulation.symmetric.lab import SymmetricLab
from tests.traces.conversation import Conversation

HERE = Path(__file__).parent


def mams_failover() -> str:
    """CFS §4.2.1, Alg. 2 and §4.2.2, Fig. 5: the active crashes; a standby is elected, upgrades itself and serves; a write follows."""
    lab = Lab(1, standbys=2)
    lab.ada.call(Mkdir("/a"))
    said = Conversation(lab.cluster)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.ada.call(Mkdir("/b"))
    return said.text()


def paxos_takeover() -> str:
    """DCFS3, Recovery: the primary crashes; a secondary prepares, redoes slots that may have been accepted, and serves; a write follows."""
    lab = PaxosLab(1)
    lab.ada.call(Mkdir("/a"))
    said = Conversation(lab.cluster, AskLease, LeaseGranted)
    lab.faults.crash(lab.primary)
    lab.await_next_primary()
    lab.ada.call(Mkdir("/b"))
    return said.text()


def symmetric_view_change() -> str:
    """SAA §5.3: a member crashes; the others settle the delivered messages, install the next view, and continue."""
    lab = SymmetricLab(1)
    lab.ada.call(Mkdir("/a"))
    said = Conversation(lab.cluster, Alive)
    lab.faults.crash("mds3")
    lab.await_view_of("mds1", "mds2")
    return said.text()


def two_phase_write() -> str:
    """CFS §4.1.2, Fig. 4a: four messages for each participant and two writes of the coordinator's log, before any client is answered."""
    lab = lab_of("2pc", 1, standbys=2)
    lab.ada.call(Mkdir("/a"))
    said = Conversation(lab.cluster)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(20)
    return said.text()


def ssp_write() -> str:
    """CFS §4.1.2, Fig. 4b: one log write on each server; a majority answers, and the commit travels with the next message."""
    lab = Lab(1, standbys=2)
    lab.ada.call(Mkdir("/a"))
    said = Conversation(lab.cluster)
    lab.ada.call(Mkdir("/b"))
    lab.run_ms(20)
    return said.text()


def qjm_recovery() -> str:
    """The quorum journal: the writer crashes; the next one fences it at a majority of the journal nodes, recovers the tail, and writes."""
    lab = lab_of("qjm", 1)
    lab.ada.call(Mkdir("/a"))
    said = Conversation(lab.cluster, ReadJournal, JournalRead)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.ada.call(Mkdir("/b"))
    return said.text()


CONVERSATIONS: tuple[Callable[[], str], ...] = (
    mams_failover,
    paxos_takeover,
    symmetric_view_change,
    two_phase_write,
    ssp_write,
    qjm_recovery,
)


def golden(conversation: Callable[[], str]) -> tuple[Path, str]:
    """Path of the golden file, and the present text under its heading."""
    path = HERE / golden_name(conversation)
    shows = " ".join((conversation.__doc__ or "").split())
    return path, f"# {shows}\n\n{conversation()}"


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.__name__)
def test_conversation_is_held_as_it_is_written(conversation: Callable[[], str], rewrites: bool) -> None:
    path, now = golden(conversation)
    if rewrites:
        path.write_text(now)
    assert path.read_text() == now, (
        f"python -m pytest {HERE.relative_to(Path.cwd())} --rewrite writes it anew"
    )


def test_no_conversation_is_left_over() -> None:
    assert {path.name for path in HERE.glob("*.txt")} == {golden_name(each) for each in CONVERSATIONS}


def golden_name(conversation: Callable[[], str]) -> str:
    return f"{conversation.__name__.replace('_', '-')}.txt"
