"""A person forces a server whose disk has an image that ends behind its journal, or whose peers have such an image."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, Knobs, Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams.messages import Groups, Prepare, Renew
from nodes.protocols.vssp.messages import CloseImage, ImagePacket, OpenImage, RecoverFile
from nodes.sim.network import HeldMessages
from nodes.trace.events import Configured, StepTaken
from nodes.wire.messages import Message
from tests.simulation.disks.images_found import image_behind, images
from tests.simulation.mams.lab import Lab

PIPELINE = (OpenImage, ImagePacket, CloseImage)


def members(lab: Lab) -> list[str]:
    return [each.event.members for each in lab.cluster.events if type(each.event) is Configured][-1]


def image_sns(lab: Lab, name: str) -> list[int]:
    """The sn of the images on this disk that are not set aside."""
    return [int(image.split("-")[2]) for image in images(lab, name) if image.startswith("image/")]


def newest_sn(lab: Lab, name: str) -> int:
    return max(image_sns(lab, name), default=0)


def takers(lab: Lab) -> list[str]:
    """The standbys in the order in which they take images."""
    ordered = [s.event for s in lab.cluster.events if type(s.event) is StepTaken and s.event.step == "order"]
    taker, _, rest = ordered[0].detail.partition(" takes an image for ")
    assert len(ordered) == 1
    return [taker, *(name for name in rest.split(", ") if name != lab.active)]


def forced(lab: Lab, server: str, path: str) -> None:
    """Forces a server, and writes."""
    lab.faults.force("g1", server)
    written = lab.begin(lab.eve, Mkdir(path))
    lab.cluster.run_until(written.done, 60 * SECOND)
    assert written.exception() is None


def restarted(lab: Lab, name: str) -> None:
    lab.faults.power_loss(name, torn="nothing")
    lab.faults.restart(name)


def found(lab: Lab, path: str) -> None:
    read = lab.begin(lab.eve, Stat(path))
    lab.cluster.run_until(read.done, 60 * SECOND)
    assert read.exception() is None, path


def forced_behind(seed: int, *late: type, **settings: Any) -> tuple[Lab, str]:
    """A server that is sent no journals any more, but an image, is forced: (lab, server). Messages of the `late` kinds are held on their way to
    it."""
    lab = Lab(seed, standbys=2, image_every=4, **settings)
    lab.ada.call(Mkdir("/b"))
    old, (first, behind) = lab.active, lab.standbys
    lab.run_ms(2_000)
    held = lab.hold_journals(behind)
    lab.cluster.hold(lambda sender, receiver, message: type(message) in late and receiver == behind)
    for number in range(12):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(2_500)
    assert late or newest_sn(lab, behind) > lab.cluster.ask(behind, {"do": "standing"})["sn"]
    lab.faults.crash(old)
    lab.faults.crash(first)
    held.drop()
    lab.run_ms(15_000)
    forced(lab, behind, "/after")
    return lab, behind


def late_image_comes(lab: Lab, server: str) -> None:
    """The image that was on its way when the server was forced arrives, and leaves again."""
    [late] = [held for held in lab.cluster.net.holds if held.messages]
    before, end_sn = images(lab, server), lab.cluster.ask(server, {"do": "standing"})["sn"]
    late.release()
    lab.run_ms(100)
    [image] = images(lab, server) - before
    assert image.startswith("aside/images/") and int(image.split("-")[2]) > end_sn


def heals(lab: Lab) -> None:
    lab.mend()
    lab.cluster.run_until(lambda: len(members(lab)) == 3, 60 * SECOND)
    found(lab, "/after")
    lab.finish()
    assert "same sn same state" not in lab.broken()


@pytest.mark.parametrize("seed", range(3))
def test_a_forced_server_begins_from_an_image_ahead_of_its_journal(seed: int) -> None:
    """Neither what that image has is lost, nor what is written from then on."""
    lab, behind = forced_behind(seed)
    restarted(lab, behind)
    found(lab, "/after")
    found(lab, "/d0")
    heals(lab)
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
@pytest.mark.parametrize("seed", range(2))
def test_members_with_a_pruned_journal_follow_a_server_that_has_none_of_it(protocol: str, seed: int) -> None:
    """No image of the forced server leads there, and without standbys none is taken."""
    knobs = Knobs(segment_bytes=600)
    lab = Lab(seed, standbys=2, protocol=protocol, image_every=60, image_gap=40, knobs=knobs)
    old, (behind, first) = lab.active, lab.standbys
    image_behind(lab, behind)
    lab.faults.crash(old)
    lab.faults.crash(first)
    lab.faults.restart(behind)
    lab.run_ms(10_000)
    forced(lab, behind, "/after")
    for name in (first, old):
        lab.faults.restart(name)
        lab.cluster.run_until(lambda name=name: name in members(lab), 60 * SECOND)
    lab.eve.call(Mkdir("/later"))
    lab.faults.crash(behind)
    for name in (first, old):
        restarted(lab, name)
    found(lab, "/after")
    found(lab, "/later")
    lab.finish()
    assert "same sn same state" not in lab.broken()


@pytest.mark.parametrize("seed", range(3))
def test_an_image_of_what_was_lost_goes_before_a_member_writes_on(seed: int) -> None:
    """It had the member's journal begin behind groups that it had acknowledged since."""
    lab = Lab(seed, standbys=4, image_every=20)
    for number in range(25):
        lab.ada.call(Mkdir(f"/b{number}"))
    lab.run_ms(4_000)
    first, second, member, left = takers(lab)
    others = [lab.active, first, second]
    journals = lab.hold_journals(left, member)

    def on_its_way(sender: str, receiver: str, message: Message) -> bool:
        return type(message) in PIPELINE and receiver == left

    images_left_out = lab.cluster.hold(on_its_way)
    for number in range(30):
        lab.ada.call(Mkdir(f"/lost{number}"))
    lab.run_ms(8_000)
    for name in others:
        lab.faults.crash(name)
    journals.drop()
    images_left_out.drop()
    assert newest_sn(lab, left) < 40 < newest_sn(lab, member)
    lab.run_ms(15_000)
    forced(lab, left, "/after")
    lab.cluster.run_until(lambda: set(members(lab)) == {left, member}, 60 * SECOND)
    lab.eve.call(Mkdir("/later"))
    assert newest_sn(lab, member) <= lab.cluster.ask(member, {"do": "standing"})["sn"]
    restarted(lab, member)
    lab.faults.crash(left)
    lab.run_ms(15_000)
    lab.faults.force("g1", member)
    found(lab, "/later")
    lab.finish()
    assert "same sn same state" not in lab.broken()


@pytest.mark.parametrize("seed", range(3))
def test_an_image_of_what_was_lost_counts_no_more_when_it_comes_late(seed: int) -> None:
    lab, behind = forced_behind(seed, CloseImage)
    late_image_comes(lab, behind)
    restarted(lab, behind)
    found(lab, "/after")
    heals(lab)


@pytest.mark.parametrize("seed", range(3))
def test_a_member_keeps_an_image_up_to_its_own_end_below_those_that_are_ahead(seed: int) -> None:
    """Its journal was pruned to its end, and only images of what was lost stayed: no restart found a beginning."""
    knobs, timing = Knobs(segment_bytes=600), Timing(ack_timeout_ms=8_000)
    lab = Lab(seed, standbys=4, image_every=8, knobs=knobs, timing=timing)
    for number in range(25):
        lab.ada.call(Mkdir(f"/b{number}"))
    lab.run_ms(4_000)
    old, (first, second, member, left) = lab.active, lab.standbys
    lab.faults.crash(left)
    lab.run_ms(15_000)
    journals = lab.hold_journals(member)
    for number in range(30):
        lab.ada.call(Mkdir(f"/lost{number}"))
        lab.run_ms(100)
    lab.run_ms(3_000)
    ahead = [sn for sn in image_sns(lab, member) if sn > lab.cluster.ask(member, {"do": "standing"})["sn"]]
    assert len(ahead) == 2
    for name in (old, first, second):
        lab.faults.crash(name)
    journals.drop()
    lab.faults.restart(left)
    lab.run_ms(15_000)
    forced(lab, left, "/after")
    lab.cluster.run_until(lambda: set(members(lab)) == {left, member}, 60 * SECOND)
    lab.eve.call(Mkdir("/later"))
    restarted(lab, member)
    lab.faults.crash(left)
    lab.run_ms(15_000)
    lab.faults.force("g1", member)
    found(lab, "/after")
    found(lab, "/later")
    lab.finish()
    assert "same sn same state" not in lab.broken()


@pytest.mark.parametrize("seed", range(3))
def test_an_image_stays_while_its_server_reads_the_journal_up_to_it(seed: int) -> None:
    """No server is forced: one that came back empty received the image first, and then the groups of an earlier epoch."""
    lab = Lab(seed, standbys=3, image_every=8)
    for number in range(5):
        lab.ada.call(Mkdir(f"/a{number}"))
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.run_ms(3_000)
    lab.ada.call(Mkdir("/b0"))
    lab.ada.call(Mkdir("/b1"))
    empty = lab.standbys[-1]

    def on_its_way(sender: str, receiver: str, message: Message) -> bool:
        return type(message) in PIPELINE and receiver == empty

    image = lab.cluster.hold(on_its_way)
    journals = lab.cluster.hold(lambda _, receiver, m: type(m) in (Renew, Prepare) and receiver == empty)
    for number in range(6):
        lab.begin(lab.ada, Mkdir(f"/c{number}"))
        lab.run_ms(100)
    lab.run_ms(300)
    lab.faults.crash(empty)
    lab.faults.new_disk(empty)
    lab.faults.restart(empty)
    image.release()
    lab.run_ms(1_000)
    arrived = images(lab, empty)
    assert arrived
    journals.release()
    lab.cluster.run_until(lambda: lab.cluster.view().get(empty) == "S", 60 * SECOND)
    assert images(lab, empty) >= arrived
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_juniors_read_no_image_of_what_was_lost(stops: bool, seed: int) -> None:
    """They began from it, found no group that follows it, and did so again and again; nor was another image due before the group reached its sn."""
    lab, behind = forced_behind(seed, CloseImage, Renew, image_gap=2, knobs=Knobs(direct_groups=1))
    late_image_comes(lab, behind)
    if stops:
        restarted(lab, behind)
        found(lab, "/after")
    heals(lab)


def forced_twice(seed: int, lost: int, *kinds: type) -> tuple[Lab, str, str, HeldMessages]:
    """Two servers are forced one after the other, the first of them with another member, which has yet to join the second. Messages of these kinds
    to it are held before: (lab, second server, that member, these messages)."""
    lab = Lab(seed, standbys=2, image_every=8, image_gap=60, knobs=Knobs(segment_bytes=600))
    old, (first, behind) = lab.active, lab.standbys
    lab.run_ms(2_000)
    lab.faults.crash(behind)
    lab.run_ms(13_000)
    for number in range(40):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.run_ms(300)
    for name in (old, first):
        lab.faults.crash(name)
    lab.faults.restart(behind)
    lab.run_ms(15_000)
    forced(lab, behind, "/lost")
    lab.faults.restart(first)
    lab.cluster.run_until(lambda: set(members(lab)) == {behind, first}, 60 * SECOND)
    late = lab.cluster.hold(lambda _, receiver, message: type(message) in kinds and receiver == behind)
    for number in range(lost):
        lab.eve.call(Mkdir(f"/lost{number}"))
        lab.run_ms(300)
    lab.run_ms(10_000)
    lab.faults.crash(first)
    lab.faults.pause(behind)
    lab.faults.restart(old)
    lab.run_ms(15_000)
    lab.faults.force("g1", old)
    after = lab.begin(lab.ada, Mkdir("/after"))
    lab.cluster.run_until(after.done, 60 * SECOND)
    assert after.exception() is None
    return lab, old, behind, late


@pytest.mark.parametrize("lost", [24, 80], ids=["shorter", "longer"])
@pytest.mark.parametrize("come", ["in time", "late"])
@pytest.mark.parametrize("seed", range(2))
def test_a_member_of_one_forced_history_keeps_the_image_with_which_it_joins_another(
    seed: int, come: str, lost: int
) -> None:
    """The journal of the first, of a later epoch than the image, did not count that image; images of the first that came late counted; and where its
    history is the longer one, its images counted as later ones."""
    kinds = (CloseImage, RecoverFile) if come == "late" else ()
    lab, old, behind, late = forced_twice(seed, lost, *kinds)
    lab.faults.resume(behind)
    lab.cluster.run_until(lambda: set(members(lab)) == {old, behind}, 60 * SECOND)
    late.release()
    lab.run_ms(3_000)
    assert images(lab, old) >= {each for each in images(lab, behind) if each.startswith("image/")}
    restarted(lab, behind)
    lab.faults.crash(old)
    lab.run_ms(15_000)
    lab.faults.force("g1", behind)
    read = lab.begin(lab.ada, Stat("/after"))
    lab.cluster.run_until(read.done, 60 * SECOND)
    assert read.exception() is None


@pytest.mark.parametrize("seed", range(2))
def test_a_member_keeps_one_copy_of_the_image_with_which_it_joins(seed: int) -> None:
    """It comes to no group, and takes images of where it stands again and again."""
    lab, _, behind, _ = forced_twice(seed, 24)
    lab.cluster.hold(lambda _, receiver, m: type(m) in (Prepare, Groups) and receiver == behind)
    lab.faults.resume(behind)
    lab.cluster.run_until(lambda: 40 in image_sns(lab, behind), 60 * SECOND)
    for number in range(20):
        lab.ada.call(Mkdir(f"/later{number}"))
        lab.run_ms(300)
    lab.run_ms(3_000)
    assert image_sns(lab, behind).count(40) == 1
    lab.finish()
