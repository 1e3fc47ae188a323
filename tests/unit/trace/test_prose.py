"""Events as a page reads them: whole sentences, in the family's terms, and a line of their own where they are worth it."""

from __future__ import annotations

from typing import get_args

import pytest

from backend.vocabulary import terms_of
from nodes.trace.block_events import BlockHealth
from nodes.trace.election_events import Drawn
from nodes.trace.events import AnyEvent, FaultInjected, JournalOpened, LockHeld, Serving, Stamped, StepTaken
from nodes.trace.pool_events import Repairing, ReplicasDisagree
from nodes.trace.prose import LABELLED, OWN_SUBJECT, QUIET, TERMS, is_story, sentence


def reported(event: AnyEvent, protocol: str = "mams") -> str:
    return sentence(Stamped("mds2", 1, 1, 1, 0, event), terms_of(protocol))


def test_a_sentence_has_its_subject_once() -> None:
    assert reported(Serving("g1", 3, 40, 0)) == "mds2 serves g1 from sn 40 of epoch 3"
    assert reported(LockHeld("g1", "mds2")) == "the lock of g1 is held by mds2"
    step = StepTaken("checkpoint", "resume", "CFS §4.3", "takes requests again", 1, "monday", "void")
    assert reported(step).startswith("mds2: checkpoint resume monday of epoch 1: void, takes requests again")


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ("packed-paxos", "slot 40 of ballot 3"),
        ("symmetric", "sn 40 of view 3"),
        ("unknown", "sn 40 of epoch 3"),
    ],
)
def test_a_sentence_is_in_the_terms_of_the_family(protocol: str, said: str) -> None:
    assert reported(Serving("g1", 3, 40, 0), protocol) == f"mds2 serves g1 from {said}"


def test_the_winner_of_an_election_is_not_cut_off() -> None:
    draws = [(f"mds{i}", 0, 0, 2**31 - i) for i in range(1, 8)]
    said = reported(Drawn("g1", 1, draws, "mds1", "number"))
    assert said.endswith("…") and "reads the draws of g1, mds1 wins: mds1 2147483647 (sn 0" in said


def test_a_fault_names_only_the_options_that_are_on() -> None:
    options = {"direction": "to", "island": False, "others": None, "kind": "", "ms": 0}
    assert reported(FaultInjected(2, "cut", ["mds4"], options)) == "fault 2: cut mds4 direction=to ms=0"
    island = FaultInjected(3, "cut", ["mds1", "mds2"], {"direction": "both", "island": True})
    assert reported(island) == "fault 3: cut mds1 mds2 direction=both island"


def test_an_empty_journal_has_no_range_of_groups() -> None:
    assert reported(JournalOpened(1, 0, 0, 0, 0, 0)) == "mds2 opens an empty journal: sn 1 is next"
    assert reported(JournalOpened(4, 9, 2, 0, 0, 3)) == "mds2 opens its journal, sn 4 to 9 of epoch 2"


def test_the_end_of_a_repair_is_a_story_and_a_missing_block() -> None:
    assert [is_story(Repairing("i", "mds1", 0, at, 9)) for at in (5, 9)] == [False, True]
    assert [is_story(BlockHealth("g1", 1, 7, 1, 9, each, [])) for each in ("under", "missing")] == [
        False,
        True,
    ]
    assert [is_story(ReplicasDisagree(each, "mds1", "", "")) for each in ("journal", "image/i.p00")] == [
        False,
        True,
    ]


def test_the_tables_name_events() -> None:
    assert {*LABELLED, *OWN_SUBJECT, *QUIET} <= set(get_args(AnyEvent)) and terms_of("mams") == TERMS
