"""Schedules in which a seeded bug of images does its damage, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import SECOND
from nodes.metadata.operations import Create, Mkdir, Stat
from nodes.trace.events import StepTaken
from nodes.trace.pool_events import JournalPruned
from tests.simulation.mams.lab import Lab

SERVES = "serves"
"""Pseudo-invariant: a server answers writes within the bound."""
BOUND_NS = 40 * SECOND
EVERY = 10


def fill(lab: Lab, images: int) -> None:
    """Takes so many images, prunes journals below them, and adds groups after the newest."""
    taken = steps(lab, "taken")
    number = 0
    while steps(lab, "taken") < taken + images or not pruned(lab):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.ada.call(Create(f"/d{number}/f"))
        number += 1
        lab.run_ms(40)
    lab.run_ms(1_500)
    lab.ada.call(Mkdir("/last"))


def steps(lab: Lab, step: str) -> int:
    reported = [s.event for s in lab.cluster.events if type(s.event) is StepTaken]
    return sum((each.procedure, each.step) == ("image", step) for each in reported)


def pruned(lab: Lab) -> bool:
    return any(type(s.event) is JournalPruned for s in lab.cluster.events)


def rot_image(lab: Lab, server: str, what: str = ".p00") -> str:
    """Flips a bit in the newest image on the disk of a stopped server; returns the file."""
    files = lab.cluster.servers[server].store.files
    newest = max(path for path in files if path.startswith("image/") and path.endswith(".manifest"))
    file = newest if what == ".manifest" else newest.replace(".manifest", what)
    files[file].data[len(files[file].data) // 2] ^= 4
    return file


def serves(lab: Lab) -> bool:
    """Whether a write is answered in time, and acknowledged writes are still there."""
    task = lab.begin(lab.eve, Mkdir("/after"))
    lab.cluster.run_for(BOUND_NS)
    if not task.done():
        return False
    lab.eve.call(Stat("/last"))
    return True


def rotten_image_stops_server(lab: Lab) -> set[str]:
    """All servers lose power, the active's machine is lost, and the newest image of one of the others has rotted at rest."""
    fill(lab, 3)
    gone, rotten = lab.active, lab.standbys[0]
    servers = list(lab.cluster.view())
    for name in servers:
        lab.faults.power_loss(name)
    rot_image(lab, rotten)
    for name in servers:
        if name != gone:
            lab.faults.restart(name)
    return set() if serves(lab) else {SERVES}


def never_prunes_again(lab: Lab) -> set[str]:
    """A server that was renewed by an image newer than a kept checkpoint continues to prune."""
    lab.ada.call(Mkdir("/a"))
    return set()


def image_without_last_partition(lab: Lab) -> set[str]:
    """A standby starts from an image and takes over."""
    fill(lab, 3)
    victim = lab.standbys[0]
    lab.faults.crash(victim)
    lab.faults.restart(victim)
    lab.run_ms(8_000)
    lab.ada.call(Mkdir("/more"))
    lab.run_ms(1_000)
    return set()


Schedule = Callable[[Lab], set[str]]
SCHEDULES: dict[str, tuple[Schedule, int, set[str]]] = {
    "rotten_image_stops_server": (rotten_image_stops_server, 2, {SERVES}),
    "image_without_last_partition": (image_without_last_partition, 2, {"same sn same state"}),
}
"""(schedule, standbys, invariants of which one must be violated) by switch."""
