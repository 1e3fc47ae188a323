"""A person's order for an image is carried out, or refused with the reason: the standby that should take it may be busy, dead, or the last one."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.metadata_server.messages import ImageTaken, TakeImage
from nodes.trace.events import StepTaken
from nodes.trace.pool_events import ImageWritten
from nodes.wire.messages import Message
from tests.simulation.mams.lab import Lab


def ordered(seed: int, **settings: int) -> Lab:
    """A lab in which images are taken only by order."""
    lab = Lab(seed, image_every=0, **settings)
    lab.ada.call(Mkdir("/d"))
    return lab


def order(lab: Lab) -> None:
    assert lab.cluster.ask(lab.active, {"do": "take_image"}) == {"refused": ""}


def steps(lab: Lab, step: str) -> list[str]:
    reported = [s.event for s in lab.cluster.events if type(s.event) is StepTaken]
    return [event.detail for event in reported if (event.procedure, event.step) == ("image", step)]


def declining(lab: Lab, times: int) -> None:
    """Answers the next orders with "none"."""
    left = times

    def decline(sender: str, receiver: str, message: Message) -> bool:
        nonlocal left
        if type(message) is not TakeImage or left <= 0:
            return False
        left -= 1
        world = lab.cluster.servers[receiver].world
        assert world is not None
        world.network.send(sender, ImageTaken(message.epoch, message.order, 0, []))
        return True

    lab.cluster.hold(decline)


def end(lab: Lab) -> None:
    lab.finish()
    assert lab.broken() == {}


def order_to_one_who_dies(lab: Lab) -> None:
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is TakeImage)
    order(lab)
    lab.cluster.run_until(lambda: bool(held.messages), 10 * SECOND)
    lab.faults.crash(held.messages[0][1])
    held.drop()


def test_one_who_declines_is_followed_by_the_next() -> None:
    lab = ordered(1)
    declining(lab, 2)
    order(lab)
    lab.cluster.run_until(lambda: bool(steps(lab, "taken")), 20 * SECOND)
    assert len({detail.split()[0] for detail in steps(lab, "order")}) == 3 and steps(lab, "failed") == []
    end(lab)


def test_one_who_dies_is_followed_by_the_next() -> None:
    lab = ordered(2)
    order_to_one_who_dies(lab)
    lab.cluster.run_until(lambda: bool(steps(lab, "taken")), 20 * SECOND)
    assert steps(lab, "failed") == []
    end(lab)


def test_when_nobody_takes_one_it_is_reported_once_in_one_line() -> None:
    lab = ordered(3)
    declining(lab, 3)
    order(lab)
    lab.cluster.run_until(lambda: bool(steps(lab, "failed")), 20 * SECOND)
    lab.run_ms(10_000)
    [line] = steps(lab, "failed")
    assert line.startswith(
        "the image that a person ordered is not taken: 3 orders came to nothing, at last mds"
    )
    assert line.endswith("took none") and len(steps(lab, "order")) == 3
    order(lab)
    lab.cluster.run_until(lambda: bool(steps(lab, "taken")), 20 * SECOND)
    end(lab)


def test_the_last_standby_that_dies_is_reported_of() -> None:
    lab = ordered(4, standbys=1, min_in_step=1)
    order_to_one_who_dies(lab)
    lab.cluster.run_until(lambda: bool(steps(lab, "failed")), 60 * SECOND)
    assert "fell silent" in steps(lab, "failed")[0]
    end(lab)


def test_an_image_that_was_begun_before_the_order_is_not_the_one() -> None:
    lab = ordered(5)
    late = lab.cluster.hold(lambda sender, receiver, message: type(message) is ImageTaken)
    order(lab)
    lab.cluster.run_until(lambda: bool(late.messages), 20 * SECOND)
    lab.ada.call(Mkdir("/e"))
    order(lab)
    late.release()
    lab.cluster.run_until(lambda: len(steps(lab, "taken")) == 2, 20 * SECOND)
    written = [s.event for s in lab.cluster.events if isinstance(s.event, ImageWritten)]
    assert written[1].sn > written[0].sn
    end(lab)
