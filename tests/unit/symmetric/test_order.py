"""Causal broadcast and total order over every schedule that hypothesis finds (SAA §4, §5; safety rule 5)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.protocols.symmetric.order import LamportOrder, LiteralOrder, PlainOrder
from tests.unit.symmetric.net import Group, MakeOrder

SEEDS = st.integers(0, 1 << 32)


def play(size: int, seed: int, messages: int, share_lost: float, plain: bool = False) -> Group:
    """Broadcasts and arrivals in any order; at the end everything is repaired."""
    rng = random.Random(seed)
    group = Group(size, PlainOrder if plain else LamportOrder, rng)
    while messages:
        if group.under_way and rng.random() < 0.6:
            group.arrive(share_lost)
        elif rng.random() < 0.2:
            group.acknowledge()
        else:
            group.broadcast(rng.randrange(size))
            messages -= 1
    group.settle()
    if plain:
        for sender in range(size):
            group.broadcast(sender, total=False)
        group.settle()
    return group


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), SEEDS, st.integers(1, 25), st.sampled_from([0.0, 0.3]), st.booleans())
def test_all_deliver_everything_in_the_same_order(
    size: int, seed: int, messages: int, share_lost: float, plain: bool
) -> None:
    group = play(size, seed, messages, share_lost, plain)
    first = group.ends[0].delivered
    assert len(first) == messages
    assert all(end.delivered == first for end in group.ends)
    assert all(not end.order.undelivered() for end in group.ends)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), SEEDS, st.integers(1, 20))
def test_what_two_members_have_delivered_is_one_sequence_at_any_moment(
    size: int, seed: int, messages: int
) -> None:
    """One sequence is a prefix of the other: no survivor of a view can have delivered otherwise than the dead members."""
    rng = random.Random(seed)
    group = Group(size, LamportOrder, rng)
    for _ in range(messages * 4):
        if group.under_way and rng.random() < 0.7:
            group.arrive(0.2)
        elif rng.random() < 0.3:
            group.acknowledge()
        else:
            group.broadcast(rng.randrange(size))
        longest = max((end.delivered for end in group.ends), key=len)
        assert all(end.delivered == longest[: len(end.delivered)] for end in group.ends)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), SEEDS, st.integers(1, 20))
def test_order_is_causal(size: int, seed: int, messages: int) -> None:
    group = play(size, seed, messages, 0.2)
    end = group.ends[0]
    place = {name: number for number, name in enumerate(end.delivered)}
    for message in end.accepted:
        for sender, counter in enumerate(message.received):
            before, after = place.get((sender, counter)), place.get((message.sender, message.counter))
            assert before is None or after is None or before < after


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), SEEDS)
def test_a_message_that_everybody_has_seen_is_forgotten(size: int, seed: int) -> None:
    group = play(size, seed, 10, 0.3)
    group.repair()
    assert not any(end.causal.again(0) for end in group.ends)


def test_an_idle_member_acknowledges_once() -> None:
    group = Group(3, LamportOrder, random.Random(1))
    group.broadcast(1)
    group.settle()
    assert group.acknowledgements == 2


@pytest.mark.parametrize("make_order", [LamportOrder, LiteralOrder])
def test_a_member_with_a_candidate_owes_no_acknowledgement(make_order: MakeOrder) -> None:
    """The third condition of SAA §5.2: its own undelivered message acknowledges what came before it."""
    group = Group(3, make_order, random.Random(1))
    group.broadcast(0)
    group.broadcast(1)
    while group.under_way:
        group.arrive()
    group.acknowledge()
    assert group.acknowledgements == 1


def test_members_that_all_send_deliver_without_acknowledgements() -> None:
    busy = Group(3, LamportOrder, random.Random(1))
    for _ in range(5):
        for sender in (0, 1, 2):
            busy.broadcast(sender)
        while busy.under_way:
            busy.arrive()
    assert busy.acknowledgements == 0
    assert all(len(end.delivered) >= 12 for end in busy.ends)


def test_the_paper_to_the_letter_diverges_without_loss_or_failure() -> None:
    """Safety rule 5: p1 sends twice and delivers both at once; p2 sends meanwhile."""
    group = Group(2, LiteralOrder, random.Random(0))
    group.broadcast(0)
    group.broadcast(0)
    group.broadcast(1)
    arrivals = sorted(group.under_way, key=lambda each: (each[0], each[1].counter))
    for to, message in arrivals:
        group.ends[to].receive(message)
    group.under_way.clear()
    group.settle()
    assert group.ends[0].delivered == [(0, 1), (0, 2), (1, 1)]
    assert group.ends[1].delivered == [(0, 1), (1, 1), (0, 2)]


def test_how_often_the_paper_to_the_letter_diverges() -> None:
    """Two members, two messages each, 500 random schedules: the literal order diverges in some, the safe one in none."""
    diverged = {LiteralOrder: 0, LamportOrder: 0}
    for make_order in diverged:
        for seed in range(500):
            rng = random.Random(seed)
            group = Group(2, make_order, rng)
            left = [2, 2]
            while any(left) or group.under_way:
                senders = [sender for sender in (0, 1) if left[sender]]
                if senders and (not group.under_way or rng.random() < 0.5):
                    sender = rng.choice(senders)
                    left[sender] -= 1
                    group.broadcast(sender)
                else:
                    group.arrive()
            group.settle()
            first, second = (end.delivered for end in group.ends)
            assert sorted(first) == sorted(second)
            diverged[make_order] += first != second
    assert diverged[LamportOrder] == 0
    assert diverged[LiteralOrder] > 100
