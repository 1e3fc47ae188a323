"""The record that a server's process has ended, written by the owner of the process (safety rules 16 and 26). Pure.

The owner reads while the process is gone and no other one of the server can have begun. The changes name the versions that it read, so that they
apply to that life and that lock only, however late they arrive.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from nodes.replicas.confirmations import Confirmation
from nodes.replicas.view import LockOwner
from nodes.world import Change, CheckNode, DeleteNode, SetNode


class Read(NamedTuple):
    """The nodes of the server's group, as its owner read them; None for one that does not exist."""

    generation: int
    """Version of the lock's generation."""
    lock: bytes | None
    confirmation: tuple[bytes, int] | None
    """The server's confirmation, and the version of its node."""


def paths_of(group: str, server: str) -> tuple[str, str, str]:
    """Paths of generation, lock and confirmation."""
    root = f"/cloverlab/groups/{group}"
    return f"{root}/generation", f"{root}/lock", f"{root}/confirmations/{server}"


def end_changes(group: str, server: str, read: Read, any_generation: bool = False) -> list[Change]:
    """One transaction: this life sends no more answers, and its lock is free. Empty when the server does not hold the lock.

    `any_generation`: the mutation `end_of_any_generation`.
    """
    generation, lock, confirmation = paths_of(group, server)
    if read.confirmation is None or read.lock is None:
        return []
    last = msgspec.json.decode(read.confirmation[0], type=Confirmation)
    owner = msgspec.json.decode(read.lock, type=LockOwner).owner
    if owner != server or (last.generation != read.generation and not any_generation):
        return []
    data = msgspec.json.encode(Confirmation(last.generation, stopped=True))
    if any_generation:
        return [DeleteNode(lock), SetNode(confirmation, data)]
    return [
        CheckNode(generation, read.generation),
        DeleteNode(lock),
        SetNode(confirmation, data, read.confirmation[1]),
    ]
