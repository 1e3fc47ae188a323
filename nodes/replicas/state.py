"""The namespace of one replica and how far its journal is in it.

The active applies ahead of commit and keeps what undoes it; every other replica applies what is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from nodes.metadata.namespace import Namespace
from nodes.metadata.records import IncarnationRecord, rollback_in
from nodes.wire.messages import JournalGroup

Restore = Callable[[int, int, IncarnationRecord], Namespace | None]
"""The namespace at the barrier of the rollback (sn, epoch, record); None when this server cannot restore it."""


def _restores_nothing(sn: int, epoch: int, record: IncarnationRecord) -> None:
    return None


class ReplicatedState:
    """One replica's namespace. `commit_sn` is at most the last sn that is durable on a majority. `applied_sn` equals `commit_sn`, except on an
    active, which is ahead, and while frozen."""

    def __init__(
        self,
        namespace: Namespace,
        sn: int,
        applied: Callable[[int, int, int], None],
        restore: Restore = _restores_nothing,
    ):
        self.namespace = namespace
        self.commit_sn = sn
        self.applied_sn = sn
        self._applied = applied
        self._restore = restore
        self.stuck_sn = 0
        """The sn of a committed rollback whose barrier this server cannot restore: it waits for an image that is not older. 0: none."""
        self._epoch = 0
        """Epoch of the last group that was applied."""
        self.forgets = False
        """The known bug `duplicate_after_second_failover`."""
        self._pending: deque[JournalGroup] = deque()
        """Groups of the journal that are not in the namespace, in order."""
        self._undo: deque[tuple[int, JournalGroup, list[Any]]] = deque()
        """Undo log of each group ahead of commit: (sn, group, undo entries in order)."""
        self._frozen = False

    def prepared(self, group: JournalGroup) -> None:
        """A group was appended to the journal; it is applied when it is known to be committed."""
        self._pending.append(group)

    def commit(self, sn: int) -> None:
        """Everything up to sn is committed: applies the pending part and drops the undo log of the rest."""
        if sn <= self.commit_sn:
            return
        self.commit_sn = sn
        while self._undo and self._undo[0][0] <= sn:
            self._undo.popleft()
        if not self._frozen:
            self._apply_committed(len(self._pending))

    def _apply_committed(self, most: int) -> bool:
        """Applies at most `most` groups; True when no committed group is left that this server can apply."""
        pending = self._pending
        while most and pending and pending[0].sn <= self._ready_sn and not self.stuck_sn:
            if self._rolls_back(pending[0]):
                self._apply(pending.popleft(), None)
            most -= 1
        return not pending or pending[0].sn > self._ready_sn or bool(self.stuck_sn)

    @property
    def _ready_sn(self) -> int:
        """Groups up to it may be applied, unless frozen."""
        return self.commit_sn

    def _rolls_back(self, group: JournalGroup) -> bool:
        """Restores the namespace at the barrier if this committed group is a rollback; False when that is impossible here.

        No undo log remains: everything before the group is committed.
        """
        record = rollback_in(group.records)
        if record is not None:
            restored = self._restore(group.sn, group.epoch, record)
            if restored is None:
                self.stuck_sn = group.sn
                return False
            self.namespace = restored
        return True

    @property
    def waits(self) -> bool:
        """Groups of the journal are not in the namespace, so that none may be applied ahead of them."""
        return bool(self._pending)

    def has(self, sn: int) -> bool:
        """Whether the group was handed over."""
        return sn <= (self._pending[-1].sn if self._pending else self.applied_sn)

    @property
    def lags(self) -> bool:
        """The namespace lacks committed groups, because it is frozen or has yet to catch up."""
        return self.applied_sn < self.commit_sn

    @property
    def answered_sn(self) -> int:
        """The last group that an answer of some server may show."""
        return self.applied_sn

    @property
    def settled_sn(self) -> int:
        """The namespace shows every group up to it, and none of these can be lost."""
        return min(self.commit_sn, self.applied_sn)

    def freeze(self) -> None:
        """Freezes the namespace for an image, while the journal continues."""
        self._frozen = True

    def catch_up(self, most: int) -> bool:
        """Applies at most `most` of the groups that were committed meanwhile; True when the namespace is in step again and no longer frozen."""
        self._frozen = not self._apply_committed(most)
        return not self._frozen

    def thaw(self) -> None:
        """Ends the freeze and applies all committed groups at once."""
        self.catch_up(len(self._pending))

    def _apply(self, group: JournalGroup, undo: list[Any] | None) -> None:
        namespace = self.namespace
        self._begin(group.epoch)
        for record in group.records:
            namespace.apply(record, undo)
        self.applied_sn = group.sn
        self._applied(group.sn, group.epoch, namespace.digest)

    def apply_ahead(self) -> None:
        """Applies the journal to its end, or to a rollback that is not known to be committed. The elected server does this before it plans new
        operations."""
        self.thaw()
        while self._pending and rollback_in(self._pending[0].records) is None and not self.stuck_sn:
            group = self._pending.popleft()
            undo: list[Any] = []
            self._apply(group, undo)
            self._undo.append((group.sn, group, undo))

    def applied_ahead(self, group: JournalGroup, undo: list[Any]) -> None:
        """The active closed a group whose records it had applied one by one."""
        self._begin(group.epoch)
        self.applied_sn = group.sn
        self._undo.append((group.sn, group, undo))
        self._applied(group.sn, group.epoch, self.namespace.digest)

    def _begin(self, epoch: int) -> None:
        if self.forgets and epoch != self._epoch:
            self.namespace.sessions.forget_taken_over()
        self._epoch = epoch

    def ahead(self) -> list[JournalGroup]:
        """Closed groups that are not known to be committed, oldest first: those in the namespace, and a rollback, which is applied only then."""
        return [*(group for _, group, _ in self._undo), *self._pending]

    def step_back(self, open_undo: list[Any]) -> None:
        """Undoes everything ahead of commit, beginning with `open_undo`, of records in no group; the groups stay pending."""
        self._take_back(open_undo)
        while self._undo:
            _, group, undo = self._undo.pop()
            self._take_back(undo)
            self._pending.appendleft(group)
        self.applied_sn = min(self.applied_sn, self.commit_sn)

    def _take_back(self, undo: list[Any]) -> None:
        while undo:
            self.namespace.undo(undo.pop())

    def cut(self, sn: int) -> bool:
        """The journal lost its groups after sn. False when the namespace contains some of them and must be rebuilt."""
        while self._pending and self._pending[-1].sn > sn:
            self._pending.pop()
        return self.applied_sn <= sn

    def restart(self, namespace: Namespace, sn: int) -> None:
        """Replaces the namespace with one from an image or a rebuild."""
        self.namespace = namespace
        self.commit_sn = self.applied_sn = sn
        self.stuck_sn = 0
        self._pending.clear()
        self._undo.clear()
        self._frozen = False
