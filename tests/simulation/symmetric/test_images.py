"""Members take images, journals below them are pruned, and a server that lacks pruned groups begins from an image: joining, restarted, or in
doubt."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, one_group
from nodes.metadata.operations import Create, Mkdir, Rename, Stat
from nodes.metadata_server.messages import Prune, TakeImage
from nodes.protocols.vssp.messages import OpenImage
from nodes.storage import journal_file
from nodes.trace.events import Applied, JournalOpened, Renewing, Serving, WritesWait
from nodes.trace.pool_events import ImageWritten, JournalPruned
from nodes.wire.messages import Message
from tests.simulation.at_work import AtWork
from tests.simulation.symmetric.lab import SymmetricLab


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of some groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 2_000)


class Group(AtWork):
    def __init__(self, seed: int = 1, members: int = 3, **settings: Any):
        config = one_group(members - 1, protocol="symmetric", **({"image_every": 60} | settings))
        super().__init__(config, seed, rate_per_s=60)

    def await_next_view(self, *members: str) -> None:
        """Waits until these servers serve in a view later than the present one."""
        newest = max(event.epoch for event in self.reported(Serving))
        self.cluster.run_until(
            lambda: all(self.reported(Serving, name)[-1].epoch > newest for name in members), 30 * SECOND
        )


def test_every_member_has_the_images_and_journals_below_them_go() -> None:
    group = Group()
    group.cluster.run_for(12 * SECOND)
    assert {s.server for s in group.cluster.events if type(s.event) is ImageWritten} == {"mds2", "mds3"}
    for name in ("mds1", "mds2", "mds3"):
        assert group.reported(JournalPruned, name)[-1].first_sn > 60
    group.finish()


def test_a_single_member_takes_its_own_images() -> None:
    group = Group(members=1, log_bytes=12_000)
    group.cluster.run_for(12 * SECOND)
    assert len(group.reported(ImageWritten, "mds1")) > 2 and group.reported(JournalPruned, "mds1")
    group.finish()


def test_a_member_starts_from_its_image_and_the_journal_behind_it() -> None:
    group = Group()
    group.cluster.run_for(10 * SECOND)
    for name in ("mds2", "mds1"):
        group.cluster.faults.do("power_loss", [name])
        group.cluster.run_for(SECOND // 2)
        group.cluster.faults.restart(name)
        group.cluster.run_for(8 * SECOND)
        opened = group.reported(JournalOpened, name)[-1]
        assert 0 < opened.image_sn <= opened.last_sn and group.cluster.view()[name] == "M"
        # The state that the image gave it is compared with that of the others, even when it applies nothing itself.
        mine = [stamped.event for stamped in group.cluster.events if stamped.server == name]
        began = mine[mine.index(opened) + 1]
        assert isinstance(began, Applied) and began.sn == opened.image_sn
    group.finish()


def test_a_group_that_was_stopped_goes_on_from_its_images() -> None:
    group = Group()
    group.cluster.run_for(10 * SECOND)
    for name in ("mds1", "mds2", "mds3"):
        group.cluster.faults.do("power_loss", [name])
    for name in ("mds3", "mds2", "mds1"):
        group.cluster.faults.restart(name)
    group.await_next_view("mds1", "mds2", "mds3")
    assert not group.reported(Renewing)
    group.finish()


def of(lab: SymmetricLab, server: str, kind: type) -> list[Any]:
    return [s.event for s in lab.cluster.events if s.server == server and type(s.event) is kind]


def test_a_member_whose_journal_begins_from_an_image_proposes_to_those_that_hold_its_groups() -> None:
    """Its journal holds no group, and those of the others end later. It could compare its own with none of them, and proposed for ever."""
    lab = SymmetricLab(1, image_every=10)
    for number in range(40):
        lab.ada.call(Mkdir(f"/{number}"))
        lab.run_ms(200)
        if of(lab, "mds2", ImageWritten):
            break
    lab.run_ms(1_000)
    lab.faults.do("slow_disk", ["mds2"], {"ms": 2_000})
    lab.begin(lab.ada, Mkdir("/later"))
    lab.run_ms(50)
    for name in lab.names:
        lab.faults.do("power_loss", [name], {"torn": "nothing"})
    lab.faults.do("slow_disk", ["mds2"], {"ms": 0})
    lab.faults.do("corrupt", ["mds2"], {"what": "journal_tail"})
    lab.faults.restart("mds2")
    lab.run_ms(4_000)
    opened = of(lab, "mds2", JournalOpened)[-1]
    assert opened.image_sn == opened.last_sn == opened.first_sn - 1
    for name in ("mds3", "mds1"):
        lab.faults.restart(name)
        lab.run_ms(4_000)
    lab.finish()


def test_a_single_survivor_goes_on_although_the_view_began_before_its_journal() -> None:
    group = Group()
    group.cluster.run_for(10 * SECOND)
    for name in ("mds1", "mds2", "mds3"):
        group.cluster.faults.do("crash", [name])
    group.cluster.faults.restart("mds2")
    group.await_next_view("mds2")
    for name in ("mds1", "mds3"):
        group.cluster.faults.restart(name)
    group.finish()


def test_a_replaced_disk_is_filled_from_an_image() -> None:
    group = Group()
    group.cluster.run_for(10 * SECOND)
    group.cluster.faults.do("new_disk", ["mds3"])
    group.cluster.faults.restart("mds3")
    group.cluster.run_for(5 * SECOND)
    assert group.reported(Renewing, "mds3") and group.cluster.view()["mds3"] == "M"
    for name in ("mds1", "mds2"):
        group.crash_and_restart(name)
    group.finish()


def test_a_server_that_is_added_reads_an_image() -> None:
    group = Group()
    group.cluster.run_for(10 * SECOND)
    group.cluster.faults.add_server("g1")
    group.cluster.run_until(lambda: group.cluster.view().get("mds4") == "M", 30 * SECOND)
    assert group.reported(Renewing, "mds4")
    group.finish()


class Behind:
    """One of three was down while the others continued without it and pruned the groups that it lacks; images every 20 groups."""

    def __init__(self, seed: int = 1, **settings: Any):
        self.lab = lab = SymmetricLab(seed, image_every=20, **settings)
        lab.ada.call(Mkdir("/a"))
        lab.eve.call(Stat("/a"))
        lab.asks(lab.eve, "mds2")
        self.work("before", 30)
        lab.faults.crash("mds3")
        lab.run_ms(3_000)
        self.work("after", 160)
        assert all(self.pruned_sn(name) > 60 for name in ("mds1", "mds2"))

    def work(self, name: str, count: int) -> None:
        for number in range(count):
            self.lab.ada.call(Mkdir(f"/{name}{number}"))
            if number % 40 == 39:
                self.lab.run_ms(3_000)

    def pruned_sn(self, server: str) -> int:
        pruned = [
            s.event for s in self.lab.cluster.events if s.server == server and type(s.event) is JournalPruned
        ]
        return pruned[-1].first_sn if pruned else 0

    def renewed(self) -> list[str]:
        return [s.server for s in self.lab.cluster.events if type(s.event) is Renewing]

    def finish(self) -> None:
        self.lab.finish()
        assert self.lab.letters == "MMM" and self.lab.broken() == {}
        for path in ("/a", "/before0", "/after159"):
            self.lab.eve.call(Stat(path))


@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_lacks_what_was_pruned_reads_an_image(seed: int) -> None:
    behind = Behind(seed)
    behind.lab.faults.restart("mds3")
    behind.lab.await_view_of("mds1", "mds2", "mds3")
    assert behind.renewed() == ["mds3"]
    behind.finish()


@pytest.mark.parametrize("verb", ["crash", "power_loss"])
def test_an_image_that_is_being_read_when_its_reader_dies_is_read_again(verb: str) -> None:
    for at_us in range(0, 120_000, 15_000):
        behind = Behind(seed=at_us)
        lab = behind.lab
        lab.faults.restart("mds3")
        lab.cluster.run_for(at_us * 1_000)
        getattr(lab.faults, verb)("mds3")
        lab.run_ms(200)
        lab.faults.restart("mds3")
        lab.await_view_of("mds1", "mds2", "mds3")
        behind.finish()


def test_a_view_change_during_the_reading_is_not_undone_by_it() -> None:
    """The member that gives the image dies while the reader reads; the other one makes the next view, of which the reader becomes a part."""
    for at_ms in range(0, 400, 50):
        behind = Behind(seed=at_ms)
        lab = behind.lab
        lab.faults.restart("mds3")
        lab.run_ms(at_ms)
        lab.faults.crash("mds1")
        lab.await_view_of("mds2", "mds3")
        lab.faults.restart("mds1")
        behind.finish()


def test_members_that_are_pruned_differently_go_on_without_the_third() -> None:
    """One member lost the orders to prune: its journal reaches further back, and either may change the view."""
    for dies, lives in (("mds1", "mds2"), ("mds2", "mds1")):
        lab = SymmetricLab(3, image_every=20)
        lab.ada.call(Mkdir("/a"))
        held = lab.cluster.hold(
            lambda sender, receiver, message: type(message) is Prune and receiver == "mds3"
        )
        for number in range(120):
            lab.ada.call(Mkdir(f"/d{number}"))
            if number % 40 == 39:
                lab.run_ms(3_000)
        pruned = {s.server for s in lab.cluster.events if type(s.event) is JournalPruned}
        assert pruned == {"mds1", "mds2"}
        held.drop()
        lab.faults.crash(dies)
        lab.await_view_of(lives, "mds3")
        lab.eve.call(Stat("/d119"))
        lab.faults.restart(dies)
        lab.finish()
        assert lab.broken() == {} and lab.letters == "MMM"


def test_what_failed_before_the_image_fails_again_behind_it() -> None:
    """A late copy of a failed call arrives at the member that began from an image, and would succeed by then."""
    behind = Behind()
    lab = behind.lab
    late: list[tuple[str, Message]] = []

    def copies(sender: str, receiver: str, message: Message) -> bool:
        if type(getattr(message, "operation", None)) is Rename:
            late.append((sender, message))
        return False

    lab.cluster.hold(copies)
    with pytest.raises(Exception, match="ENOENT"):
        lab.eve.call(Rename("/nothing", "/b"))
    behind.work("more", 60)
    lab.faults.restart("mds3")
    lab.await_view_of("mds1", "mds2", "mds3")
    lab.ada.call(Create("/nothing"))
    for name in ("mds1", "mds2"):
        lab.faults.crash(name)
    lab.await_view_of("mds3")
    sender, message = late[0]
    lab.cluster.net.carry(sender, "mds3", [message])
    lab.run_ms(500)
    lab.asks(lab.ada, "mds3")
    lab.ada.call(Stat("/nothing"))
    for name in ("mds1", "mds2"):
        lab.faults.restart(name)
    behind.finish()


@pytest.mark.parametrize("image", ["newest", "all"])
def test_images_that_rot_on_one_member_lose_nothing(image: str) -> None:
    """The journal continues from the older image. A member without any image starts empty and counts once it has caught up."""
    group = Group(image_every=50)
    group.cluster.run_for(10 * SECOND)
    group.cluster.faults.do("crash", ["mds2"])
    group.cluster.faults.corrupt("mds2", "image")
    if image == "all":
        files = group.cluster.servers["mds2"].store.files
        for path in [path for path in files if path.startswith("image/")]:
            files[path].data[:] = b"rot" * (len(files[path].data) // 3)
    group.cluster.faults.restart("mds2")
    group.cluster.run_for(6 * SECOND)
    assert group.cluster.view()["mds2"] == "M"
    group.crash_and_restart("mds1")
    group.finish()


@pytest.mark.parametrize("seed", range(3))
def test_a_journal_in_doubt_that_others_have_pruned_is_begun_from_an_image(seed: int) -> None:
    """All stop; the end of one journal rots, so that it ends before the others begin. Its server comes first, and waits for one without doubt."""
    behind = Behind(seed)
    lab = behind.lab
    for name in ("mds1", "mds2"):
        lab.faults.power_loss(name)
    lab.faults.do("corrupt", ["mds3"], {"what": "journal_tail"})
    lab.faults.restart("mds3")
    lab.run_ms(5_000)
    assert "M" not in lab.letters
    lab.faults.restart("mds2")
    lab.await_view_of("mds2", "mds3")
    lab.faults.restart("mds1")
    behind.finish()


def test_a_member_that_takes_an_image_answers_no_read_from_what_stands_still() -> None:
    """Under load with an image always due, reads at all members stay linearisable."""
    for seed in range(3):
        group = Group(seed, image_every=2, image_partitions=8)
        group.cluster.run_for(10 * SECOND)
        assert len(group.reported(ImageWritten)) > 10
        group.finish()


def test_a_view_that_ends_during_an_image_loses_nothing() -> None:
    group = Group(image_every=2, image_partitions=8)
    for name in ("mds1", "mds2", "mds3", "mds1"):
        group.cluster.run_for(2 * SECOND)
        group.crash_and_restart(name)
    group.finish()


def test_a_full_log_makes_writes_wait_for_an_image() -> None:
    """Without periodic images the log fills; writes wait, an image is taken, and they go on."""
    group = Group(image_every=0, log_bytes=6_000)
    group.cluster.run_for(20 * SECOND)
    waits = [event.waits for event in group.reported(WritesWait)]
    assert len(group.reported(ImageWritten)) > 3
    assert waits.count(True) == waits.count(False) + int(bool(waits) and waits[-1])
    group.finish()


def test_a_full_log_holds_the_writes_of_every_member() -> None:
    """Only the last member has writes, and it never has an image: the first member says when there is room."""
    lab = SymmetricLab(1, image_every=0, log_bytes=4_096)
    lost = lab.cluster.hold(
        lambda sender, receiver, message: receiver == "mds3" and type(message) in (OpenImage, TakeImage)
    )
    for number in range(250):
        lab.eve.call(Mkdir(f"/d{number}"))
    lost.drop()
    waits = [s.event.waits for s in lab.cluster.events if type(s.event) is WritesWait]
    assert waits[:2] == [True, False], "the writes of the second half came after the image"
    lab.finish()
    assert lab.broken() == {}


def forced(lab: SymmetricLab, server: str) -> None:
    """A person forces this server, which writes alone before the others return."""
    lab.faults.force("g1", server)
    lab.await_view_of(server)
    lab.asks(lab.ada, server)
    lab.ada.call(Mkdir("/other"))
    for name in lab.names:
        if name != server:
            lab.faults.restart(name)
    lab.await_view_of(*lab.names)


@pytest.mark.parametrize("seed", range(3))
def test_servers_with_more_groups_than_a_forced_one_begin_from_its_journal(seed: int) -> None:
    """mds3 lost most of its journal and all images, and is forced to serve alone. The others have pruned what it still has; what they have is
    kept aside."""
    lab = SymmetricLab(seed, image_every=20)
    lab.ada.call(Mkdir("/a"))
    lab.cluster.hold(lambda sender, receiver, message: type(message) is Prune and receiver == "mds3")
    for number in range(160):
        lab.ada.call(Mkdir(f"/d{number}"))
        if number % 40 == 39:
            lab.run_ms(3_000)
    for name in lab.names:
        lab.faults.power_loss(name)
    files = lab.cluster.servers["mds3"].store.files
    segments = sorted(path for path in files if path.startswith("journal/"))
    for path in [*segments[2:], *(path for path in files if path.startswith("image/"))]:
        del files[path]
    lab.faults.do("corrupt", ["mds3"], {"what": "journal_tail"})
    lab.faults.restart("mds3")
    lab.run_ms(8_000)
    assert "M" not in lab.letters
    forced(lab, "mds3")
    lab.faults.crash("mds3")
    lab.await_view_of("mds1", "mds2")
    for name in ("mds1", "mds2"):
        aside = [path for path in lab.cluster.servers[name].store.files if path.startswith("aside/")]
        assert any("journal" in path for path in aside) and any("image" in path for path in aside)
        lab.faults.power_loss(name)
    for name in lab.names:
        lab.faults.restart(name)
    lab.finish()
    broken = lab.broken()
    assert lab.letters == "MMM" and "no lost write" in broken
    assert not {"same sn same state", "same order"} & set(broken)
    assert "committed group 44 changed" in broken["dense journal"], "the groups that the forced server lost"
    lab.eve.call(Stat("/other"))


def test_what_a_restarted_server_cuts_for_a_forced_one_is_kept_aside() -> None:
    """mds2 lost the end of its journal. The others were restarted, too: nothing of their journals is applied when these are cut."""
    lab = SymmetricLab(1)
    for number in range(5):
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.run_ms(1_000)
    for name in lab.names:
        lab.faults.power_loss(name)
    lab.faults.do("corrupt", ["mds2"], {"what": "journal_tail"})
    lab.faults.restart("mds2")
    lab.run_ms(6_000)
    forced(lab, "mds2")
    for name in ("mds1", "mds3"):
        files = lab.cluster.servers[name].store.files
        assert any(path.startswith("aside/") and "journal" in path for path in files)
