"""An image of before a rollback that comes behind it never counts: not behind the next rollback either, which may lead beyond it."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.protocols.vssp.messages import CloseImage, ImagePacket, OpenImage
from nodes.sim.ensemble import COORDINATION
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import JournalOpened
from nodes.trace.pool_events import ImageShelved, ImageWritten
from tests.simulation.recovery.lab import ANSWER_NS, Checkpoints


def marked(seed: int) -> Checkpoints:
    lab = Checkpoints(seed, 1, 2, image_every=0)
    lab.fill("a", 3)
    lab.mark("one")
    lab.fill("b", 10)
    return lab


def order_image(lab: Checkpoints) -> None:
    assert lab.cluster.ask(lab.active(1), {"do": "take_image"}) == {"refused": ""}


def learns_late(lab: Checkpoints, server: str) -> None:
    lab.cluster.faults.delay(server, COORDINATION, ms=1_500)


def roll_back_without(lab: Checkpoints, late: str, name: str) -> None:
    """All servers roll back but one, which learns late of it."""
    asked = next(server for server in lab.servers(1) if server != late)
    before = len(lab.taken_back())
    task = lab.begin({"do": "recover", "name": name}, asked)
    lab.cluster.run_until(lambda: task.done() and len(lab.taken_back()) >= before + 2, ANSWER_NS)
    assert task.result().get("checkpoint") == name
    assert not lab.reported(TakenBack, late)


def writes_image(lab: Checkpoints) -> tuple[str, Any]:
    """A standby that writes an image, and learns late of all that happens from now on. What it sends is held."""
    held = lab.cluster.hold(
        lambda sender, receiver, message: type(message) in (OpenImage, ImagePacket, CloseImage)
    )
    order_image(lab)
    lab.cluster.run_until(lambda: bool(held.messages), 10 * SECOND)
    writer = held.messages[0][0]
    learns_late(lab, writer)
    return writer, held


def all_learn(lab: Checkpoints) -> None:
    lab.run_ms(500)
    lab.cluster.faults.heal_all()
    lab.settle()


def work_and_mark(lab: Checkpoints) -> None:
    lab.fill("c", 20)
    lab.mark("two")
    lab.fill("d", 1)


def starts_with_its_journal(lab: Checkpoints) -> None:
    """Every server starts again from the journal, which is whole."""
    content = lab.content()
    for server in lab.servers(1):
        lab.cluster.faults.power_loss(server)
    lab.run_ms(3_000)
    lab.mend()
    lab.settle()
    assert [lab.reported(JournalOpened, server)[-1].first_sn for server in lab.servers(1)] == [1, 1, 1]
    assert lab.content() == content
    lab.finish()


@pytest.mark.parametrize("seed", [1, 2])
def test_an_image_that_comes_behind_the_first_rollback_replaces_no_journal_behind_the_second(
    seed: int,
) -> None:
    lab = marked(seed)
    writer, held = writes_image(lab)
    roll_back_without(lab, writer, "one")
    held.release()
    all_learn(lab)
    work_and_mark(lab)
    lab.recover("two")
    starts_with_its_journal(lab)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_image_that_comes_behind_two_rollbacks_replaces_no_journal(seed: int) -> None:
    lab = marked(seed)
    writer, held = writes_image(lab)
    roll_back_without(lab, writer, "one")
    work_and_mark(lab)
    roll_back_without(lab, writer, "two")
    held.release()
    all_learn(lab)
    starts_with_its_journal(lab)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_image_that_the_former_active_repairs_behind_a_rollback_replaces_no_journal(seed: int) -> None:
    """It compares the images of all servers before it learns of the rollback, and misses its own on the others."""
    lab = marked(seed)
    order_image(lab)
    lab.cluster.run_until(lambda: bool(lab.reported(ImageWritten)), 10 * SECOND)
    former = lab.active(1)
    learns_late(lab, former)
    roll_back_without(lab, former, "one")
    before = len(lab.reported(ImageShelved))
    lab.cluster.ask(former, {"do": "check_pool"})
    lab.cluster.run_until(lambda: len(lab.reported(ImageShelved)) == before + 2, SECOND)
    all_learn(lab)
    work_and_mark(lab)
    lab.recover("two")
    starts_with_its_journal(lab)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_image_whose_packets_were_set_aside_is_not_shelved(seed: int) -> None:
    lab = marked(seed)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is CloseImage)
    order_image(lab)
    lab.cluster.run_until(lambda: bool(held.messages), 10 * SECOND)
    before = len(lab.reported(ImageShelved))
    lab.recover("one")
    held.release()
    lab.run_ms(500)
    assert len(lab.reported(ImageShelved)) == before
    lab.finish()
