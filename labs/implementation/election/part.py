"""Your part of the server: who leads next, and what it must know before it serves (CFS §4.2.1, §4.2.2).

Replace each `raise NotImplementedError`. The page `lab.md` explains the words. Imports: only modules of Python that the lab gives
(collections, dataclasses, functools, heapq, itertools, math, typing and a few others).
"""


class Election:
    """One object decides for all servers, so keep nothing in it: every answer follows from the arguments alone."""

    def winner(self, draws, drawing):
        """The name of the server that takes the lock.

        `draws`: name -> what that server has drawn: `.number` (random), `.epoch` and `.sn` (the end of its journal).
        `drawing`: the names of the servers that take part. Some of them may not have drawn yet.
        Return "" when none of them has drawn.
        """
        raise NotImplementedError

    def next_epoch(self, last, promised):
        """The epoch of the new leader. `last` is the epoch of the view, `promised` the highest that this server has promised."""
        raise NotImplementedError

    def refuses(self, promised, epoch):
        """True when a server that promised `promised` must refuse a message of `epoch`. Journals and questions of leaders are such messages."""
        raise NotImplementedError

    def read_quorum(self, members):
        """How many of the `members` (a number, the new leader included) must have reported their journals before the leader goes on.

        A write was acknowledged when more than half of the members had it on disk.
        """
        raise NotImplementedError

    def newest(self, ends, own):
        """The name of the server whose journal the new leader adopts.

        `ends`: name -> the end of that server's journal: `.incarnation`, `.epoch`, `.sn`. `own` is the name of the new leader.
        When several are equal and `own` is one of them, return `own`.
        """
        raise NotImplementedError
