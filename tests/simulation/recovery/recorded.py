"""Clusters of the families in which a recovery is a record of a journal that is never cut."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from nodes.config import SECOND, JournalConfig
from nodes.errors import FsError
from nodes.families import family_named
from nodes.metadata.operations import Stat
from nodes.metadata.records import rollback_in
from nodes.protocols.paxos.messages import Accept
from nodes.replicas.log import decode_group
from nodes.wire.journal_messages import AddEntry, WriteJournal
from nodes.wire.messages import Message
from nodes.world import Disk
from tests.simulation.recovery.lab import ANSWER_NS, Checkpoints

SHARED = ("qjm", "hadoop-ha", "avatar", "bookkeeper")
PAXOS = ("packed-paxos", "multi-paxos")
READ_MS = 4_000
"""Time in which a standby of every family has read on."""


class Recorded(Checkpoints):
    def __init__(
        self, protocol: str, seed: int, groups: int = 1, standbys: int | None = None, **settings: Any
    ):
        """`standbys`: by default so many that one server may be lost."""
        if standbys is None:
            standbys = 2 if family_named(protocol).majority else 1
        journal = JournalConfig(nodes=family_named(protocol).journal_names())
        super().__init__(
            seed, groups, standbys, protocol=protocol, journal=journal, placement="random", **settings
        )

    def disk(self, server: str) -> Disk:
        world = self.cluster.servers[server].world
        assert world is not None
        return world.disk

    def standby(self, group: int = 1) -> str:
        view = self.cluster.view()
        return next(name for name in self.servers(group) if view[name] == "S")

    def exists(self, path: str) -> bool:
        try:
            self.ada.call(Stat(path))
        except FsError as error:
            assert error.name == "ENOENT"
            return False
        return True

    def begin_recovery(self, name: str) -> None:
        """The recovery is decided; no server has been waited for."""
        task = self.begin({"do": "recover", "name": name})
        self.cluster.run_until(task.done, ANSWER_NS)
        assert task.result().get("checkpoint") == name, task.result()

    def taken_back_after(self, name: str) -> int:
        """Rolls back; returns the sn of the record."""
        self.recover(name)
        [next_sn] = {each.next_sn for each in self.taken_back()}
        return int(next_sn) - 1

    def settle(self) -> None:
        super().settle()
        self.run_ms(READ_MS)

    def hand_over_to(self, server: str) -> None:
        """Loses other servers, as many as the family survives, and waits until another one serves; this one if it is the last."""
        others = [name for name in self.servers(1) if name != server]
        lost = others if family_named(self.config.protocol).journal_nodes else {*others} & {self.active(1)}
        for name in lost:
            self.cluster.faults.crash(name)

        self.cluster.run_until(lambda: self.serves(lost), 60 * SECOND)

    def serves(self, lost: Collection[str] = ()) -> bool:
        """Whether a server that is not lost serves the first group."""
        view = self.cluster.view()
        return any(view[name] in "AP" and name not in lost for name in self.servers(1)) and self.serve()

    def work(self, name: str, seconds: int) -> None:
        """Fills directories, and leaves time for images and pruning."""
        for number in range(seconds):
            self.fill(f"{name}-{number}", 4)
            self.cluster.run_for(SECOND)


def is_rollback(sender: str, receiver: str, message: Message) -> bool:
    """The record of a rollback on its way to a node of the journal, or to an acceptor."""
    data = [message.data] if isinstance(message, WriteJournal | AddEntry) else []
    data += message.records if isinstance(message, Accept) else []
    return any(rollback_in(decode_group(each).records) is not None for each in data)
