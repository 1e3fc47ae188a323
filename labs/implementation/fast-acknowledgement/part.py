"""Your part of the server: the total order of one member, with fast acknowledgements (SAA §5).

Replace each `raise NotImplementedError`. The page `lab.md` explains the words. Imports: only modules of Python that the lab gives.
"""


class FastOrder:
    """One member in one view. A new object is made for every view."""

    def __init__(self, own, size):
        """`own` is this member's id, from 0 to `size` - 1. There are `size` members."""

    def next_stamp(self):
        """The stamp of this member's next message, a number. It must be larger than every stamp that this member has sent or received."""
        raise NotImplementedError

    def accept(self, message):
        """Takes a message: `.sender` (id), `.stamp`, `.records` (empty in an acknowledgement). This member's own messages come here, too.

        The messages of one sender come in the order in which it sent them, without gaps.
        """
        raise NotImplementedError

    def deliverable(self):
        """Removes and returns the list of messages with records whose place in the order is certain now, in that order.

        All members must return the same messages in the same order, although they receive them in different orders.
        """
        raise NotImplementedError

    def owes(self):
        """True when this member, which has nothing to send now, should send an acknowledgement at once, because others wait for a message of it."""
        raise NotImplementedError

    def undelivered(self):
        """The accepted messages with records that `deliverable` has not returned yet, in the total order. Nothing is removed."""
        raise NotImplementedError

    def own_undelivered(self):
        """How many of those are this member's own."""
        raise NotImplementedError
