"""Schedules in which a seeded bug of checkpoints does its damage, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.vssp.messages import FilePiece
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Renewing
from nodes.trace.pool_events import JournalPruned
from tests.simulation.recovery.lab import Checkpoints

SERVES, PRUNES, BACK = "serves", "prunes", "goes back"
"""Pseudo-invariants: a write is answered within the bound; every server's journal is pruned from time to time; each holder of a checkpoint rolls
back to it."""
BOUND_NS = 40 * SECOND


def others(lab: Checkpoints) -> list[str]:
    return [name for name in lab.servers(1) if name != lab.active(1)]


def images(lab: Checkpoints, server: str) -> list[str]:
    """Images with a manifest, oldest first."""
    files = lab.cluster.servers[server].store.files
    return sorted(
        path.removesuffix(".manifest")
        for path in files
        if path.startswith("image/") and path.endswith(".manifest")
    )


def work(lab: Checkpoints, name: str, rounds: int = 3) -> None:
    """Takes several images, and prunes journals below them."""
    for number in range(rounds):
        lab.fill(f"{name}{number}", 20)
        lab.run_ms(3_000)


def marked(lab: Checkpoints, servers: list[str] | None = None) -> str:
    """Marks a checkpoint after an image, takes newer images, and returns the image that the checkpoint needs."""
    work(lab, "before")
    lab.mark("one")
    needed = images(lab, lab.active(1))[-1]
    work(lab, "after")
    assert all(images(lab, name)[0] == needed for name in servers or lab.servers(1))
    return needed


def checkpoint_copies_thin_out(lab: Checkpoints) -> set[str]:
    """Two of three servers can no longer roll back; then the third is lost."""
    needed = marked(lab)
    gone, thin = lab.active(1), others(lab)
    for name in thin:
        lab.cluster.servers[name].store.files[f"{needed}.p00"].data[-9] ^= 1
    answer = lab.ask({"do": "recover", "name": "one"})
    lab.run_ms(5)
    lab.cluster.faults.power_loss(gone)
    if not serves(lab):
        return {SERVES}
    line = answer["refused"]
    assert line.startswith("group g1 can go back to one on 1 of 3 servers, 2 are needed: ")
    assert all(f"{name} has no whole image at or below sn" in line for name in thin)
    return set()


def images_barred_for_good(lab: Checkpoints) -> set[str]:
    """A server missed checkpoint and recovery, and received the image that the checkpoint needs; then another server's copy rots."""
    sleeper = others(lab)[0]
    lab.cluster.faults.crash(sleeper)
    needed = marked(lab, [name for name in lab.servers(1) if name != sleeper])
    lab.ask({"do": "recover", "name": "one"})
    lab.run_ms(6_000)
    lab.cluster.faults.restart(sleeper)
    lab.run_ms(8_000)
    lab.settle()
    assert needed in images(lab, sleeper)
    rotten = others(lab)[0] if others(lab)[0] != sleeper else others(lab)[1]
    lab.cluster.servers[rotten].store.files[f"{needed}.p00"].data[-9] ^= 1
    answer = lab.ask({"do": "recover", "name": "one"})
    lab.run_ms(6_000)
    lab.settle()
    return set() if answer.get("checkpoint") == "one" else {BACK}


def serves(lab: Checkpoints) -> bool:
    task: Any = lab.eve.spawn(Mkdir("/served"))
    lab.cluster.run_for(BOUND_NS)
    return task.done() and task.exception() is None and lab.call(Stat("/after1/d3/f")) is not None


def journal_cut_before_images(lab: Checkpoints) -> set[str]:
    """Two of three lose power during the rollback, as soon as the journal of the first of them is truncated."""
    needed = marked(lab)
    victims = others(lab)
    first = lab.cluster.servers[victims[0]].store.files
    lab.ask({"do": "recover", "name": "one"})
    sizes = journal_bytes(first)
    lab.cluster.run_until(lambda: journal_bytes(first) < sizes, BOUND_NS)
    lab.run_ms(1)
    for name in victims:
        lab.cluster.faults.power_loss(name)
    lab.run_ms(100)
    for name in victims:
        lab.cluster.faults.restart(name)
    lab.run_ms(2_000)
    backs = {s.server: s.event for s in lab.cluster.events if type(s.event) is TakenBack}
    assert needed
    return set() if all(backs[name].sn for name in victims) else {BACK}


def journal_bytes(files: dict[str, Any]) -> int:
    return sum(len(file.data) for path, file in files.items() if path.startswith("journal/"))


def never_prunes_again(lab: Checkpoints) -> set[str]:
    """The image that a checkpoint needs cannot be copied to a server, which is renewed by the newest one instead."""
    needed = marked(lab)
    server = others(lab)[0]
    lab.cluster.faults.power_loss(server)
    lab.cluster.servers[server].store.files.clear()
    unread = lab.cluster.hold(
        lambda sender, receiver, message: (
            type(message) is FilePiece and message.file.startswith(needed.removeprefix("image/"))
        )
    )
    lab.cluster.faults.restart(server)
    lab.run_ms(6_000)
    lab.settle()
    assert any(each.phase == "image" for each in lab.reported(Renewing, server))
    unread.drop()
    before = len(lab.reported(JournalPruned, server))
    work(lab, "later", 4)
    return set() if len(lab.reported(JournalPruned, server)) > before else {PRUNES}


Schedule = Callable[[Checkpoints], set[str]]
SCHEDULES: dict[str, tuple[Schedule, set[str]]] = {
    "checkpoint_copies_thin_out": (checkpoint_copies_thin_out, {SERVES}),
    "journal_cut_before_images": (journal_cut_before_images, {BACK}),
    "images_barred_for_good": (images_barred_for_good, {BACK}),
    "never_prunes_again": (never_prunes_again, {PRUNES}),
}
"""(schedule in one group of three, invariants of which one must be violated) by switch."""
