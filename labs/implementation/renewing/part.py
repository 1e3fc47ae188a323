"""Your part of the server: how a server that is behind comes back (CFS §4.2.3).

Replace each `raise NotImplementedError`. The page `lab.md` explains the words. Imports: only modules of Python that the lab gives.
"""


class Renewing:
    """One object decides for all servers, so keep nothing in it: every answer follows from the arguments alone."""

    def next_junior(self, waiting):
        """The name of the junior that is renewed next.

        `waiting`: name -> `.sessions` (how often it was tried without success) and `.common_sn` (up to where its journal equals the active's).
        There is at least one. A junior that fails again and again must not keep the others waiting.
        """
        raise NotImplementedError

    def reads_from_pool(self, gap, direct, pruned):
        """True when the junior first reads from the pool. Otherwise the active sends it the missing groups by itself.

        `gap`: number of missing committed groups. `direct`: the largest gap that the active should send by itself. `pruned`: the active does not
        have all missing groups any more.
        """
        raise NotImplementedError

    def wants_image(self, gap, image_gap, pruned):
        """True when the junior should begin with an image, because reading all groups takes longer (`gap` above `image_gap`) or is impossible."""
        raise NotImplementedError

    def in_step(self, last_sn, matched_sn, confirmed):
        """True when the junior has everything, while the active takes no new request.

        `last_sn`: the active's last group. `matched_sn`: up to where the junior's journal equals it. `confirmed`: the junior itself has
        acknowledged `matched_sn` in this session; otherwise it is what an older message said.
        """
        raise NotImplementedError

    def may_count(self, members, holders):
        """True when the group may consist of `members` from now on. `holders` are the servers that have every acknowledged write on disk.

        From then on a write is acknowledged when more than half of `members` have it, and a new active asks a read quorum of `members`.
        """
        raise NotImplementedError
