"""Which numbers belong to inodes that were here and never will be again."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.errors import FsError
from nodes.metadata.changes import CountName, DropInode, NewInode
from nodes.metadata.effects import Busy, check
from nodes.metadata.images import dump, load
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Done
from nodes.metadata.records import MakeRecord, OutcomeRecord, PassOverRecord, PromiseRecord, RemoveRecord
from nodes.units import DIRECTORY, ROOT, OpId

NO_CALL = OpId("", 0)
FIRST = ROOT + 1 & ~DIRECTORY
"""Number of the first file."""


def test_a_removed_inode_has_ended_and_one_to_come_has_not() -> None:
    namespace = Namespace()
    undo: list[Any] = []
    namespace.apply(MakeRecord(NO_CALL, 0, 1, Done(), ROOT, ["f"], FIRST, False, 0o644))
    assert not any(map(namespace.tree.has_ended, (ROOT, FIRST, FIRST + 1, FIRST + (1 << 48))))
    namespace.apply(RemoveRecord(NO_CALL, 0, 2, Done(), ROOT, "f"), undo)
    assert namespace.tree.has_ended(FIRST)
    for entry in reversed(undo):
        namespace.undo(entry)
    assert not namespace.tree.has_ended(FIRST)


@pytest.mark.parametrize("commit", [True, False])
def test_a_promised_inode_has_not_ended_before_it_is_decided(commit: bool) -> None:
    namespace, undo = Namespace(), list[Any]()
    namespace.apply(PromiseRecord(1, 2, 1, [NewInode(False, 0o644)], [FIRST], 1))
    decision = OutcomeRecord(2, 2, 1, commit, [])
    for promised in (namespace, load(dump(namespace))):
        assert not promised.tree.has_ended(FIRST)
        with pytest.raises(Busy):
            check(promised.tree, DropInode(FIRST))
        promised.apply(decision, undo)
        assert promised.tree.has_ended(FIRST) is not commit
        for entry in reversed(undo):
            promised.undo(entry)
        undo.clear()
        assert not promised.tree.has_ended(FIRST)


def test_a_name_of_an_inode_that_was_passed_over_can_go_and_gets_no_other() -> None:
    namespace = Namespace()
    namespace.apply(PassOverRecord(1, 100, 0))
    check(namespace.tree, DropInode(FIRST + 99))
    check(namespace.tree, DropInode(FIRST + 99 | DIRECTORY))
    with pytest.raises(FsError, match="EIO"):
        check(namespace.tree, CountName(FIRST + 99))
    with pytest.raises(Busy):
        check(namespace.tree, DropInode(FIRST + 100))
