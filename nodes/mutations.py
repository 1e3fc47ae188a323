"""Known bugs, kept as switches: each is one that the safe variants had or could have, and that the explorer must find.

A hole (`nodes/config.py`) is a step that a paper leaves open; a mutation is a mistake of ours. Each is read at exactly one `if`.
No option of `up` opens one: they exist for tests, `bench explore` and labs.
"""

from __future__ import annotations

import msgspec


class Mutations(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Every switch is off unless a test, a scenario file or `bench explore` turns it on. Rules are those of docs/safety.md."""

    # --- configuration of a replica group (rules 3, 4, 22, 23) ---

    join_under_load: bool = False
    """A configuration grows after an await, without requiring both quorums first: what commits meanwhile counts the old one alone."""
    readmit_during_shrink: bool = False
    """A member that is admitted while its removal is being written goes on counting for the old quorum."""
    replaced_disk_votes: bool = False
    """A server with an empty disk counts as a member that never had anything."""
    rot_revives_alone: bool = False
    """A symmetric member whose journal was cut by rot revives a view alone."""
    cut_is_forgotten: bool = False
    """A journal whose damaged tail was cut counts as if it had never been longer."""
    settled_groups_counted: bool = False
    """A member that is fenced for a view change reports what the unfinished change wrote as held in the old view."""
    stale_settle_adopted: bool = False
    """A restarted symmetric member takes part in a view change that is over, or of which it cannot know yet whether it is."""
    frees_what_others_made: bool = False
    """A symmetric member that commands data nodes frees blocks that another member gave out and it has not seen yet."""
    floor_without_way_back: bool = False
    """`force` is refused: a group below its floor never serves again."""

    # --- leases and coordination (rule 16) ---

    session_ended_early: bool = False
    """The next active does not wait for the lease of one whose session has ended."""
    heartbeat_by_follower_read: bool = False
    """A lease is confirmed by a read, which a follower that is cut off goes on answering."""
    lease_without_margin: bool = False
    """Both ends of a lease count the same length on clocks that run at different rates."""
    own_grant_counted: bool = False
    """A symmetric member that is left out is asked, too, how long its own lease lasts by what it has granted itself: nothing."""
    older_grants_forgotten: bool = False
    """A symmetric member that has not begun its view yet reports no grant, though those of the view before still last."""
    begins_after_promise: bool = False
    """A symmetric member begins a view, and grants leases in it, after it has promised an attempt to end it."""
    configured_not_negotiated: bool = False
    """A lease is as long as the configured session time-out where the service negotiated a shorter one."""
    cut_off_leader_stays: bool = False
    """A leader that reaches none of the others keeps the lock for as long as it reaches coordination: nobody else tries."""
    forgotten_watch: bool = False
    """A watch that fired is not set again, and a server in step looks at the view for no other reason."""
    reused_epoch: bool = False
    """The elected writes the epoch that it read, not the next one."""

    # --- clients and sessions (rules 10, 25) ---

    retry_across_moved_directory: bool = False
    """A retry is resolved anew before the duplicate memory is asked."""
    duplicate_after_second_failover: bool = False
    """The duplicate memory that a server took over from a predecessor is not kept for the next one."""
    sessions_never_end: bool = False
    """Sessions and write leases are kept for ever."""
    opened_by_fresh_stamps: bool = False
    """Each copy of the call that opens a session says that it was sent just now: a late one opens a session again that has ended."""
    closing_forgotten: bool = False
    """A closed session does not know the call that closed it: a copy of it is told that nothing was done."""
    view_unreachable: bool = False
    """A client knows only the servers of its configuration."""
    view_of_all_groups: bool = False
    """A client takes every server in the copy of a group's view for one of that group: it asks another group, and takes its word."""
    clock_jump_stamps: bool = False
    """Records are stamped by a wall clock, however far it jumps."""
    stale_dentry_cache: bool = False
    """A client goes on below a directory that has moved."""

    # --- operations of several groups, checkpoints (rules 11 to 14) ---

    undo_forgotten: bool = False
    """A group that aborts a distributed operation keeps its part."""
    promised_across_move: bool = False
    """A group promises a name while it has promised the move of a directory on the way to it."""
    barrier_inside_operation: bool = False
    """A barrier is written while a distributed operation is open."""
    journal_cut_before_images: bool = False
    """Going back cuts the journal while images behind the barrier still count: one of them takes its place when the power fails then."""
    images_barred_for_good: bool = False
    """A server that had nothing to go back to never believes an image of an earlier incarnation again, nor one that it is given afterwards."""
    checkpoint_copies_thin_out: bool = False
    """A recovery begins without asking who can still reach the checkpoint."""

    # --- journals, images, disks ---

    off_by_one_quorum: bool = False
    """Half of the members are enough."""
    commit_before_sync: bool = False
    """The active counts its own copy before its disk has it."""
    ack_of_gap: bool = False
    """A participant acknowledges a group whose predecessor it lacks."""
    old_rot_unseen: bool = False
    """A record that is read from the disk again is taken for what was written."""
    sync_failed_then_trusted: bool = False
    """What a failed sync left in the page cache is reported as durable."""
    rotten_image_stops_server: bool = False
    """The journal reaches back to the newest image only, so that an older one is useless."""
    never_prunes_again: bool = False
    """A server that was renewed by an image newer than a kept checkpoint keeps its journal for ever."""
    ensemble_changed_while_closing: bool = False
    """Who closes a ledger records a new bookie before the ledger's entries are there: the next one believes that nobody ever had them."""
    late_acceptance_cuts: bool = False
    """A journal node obeys a late copy of `AcceptJournal`, and drops what the same writer has written since."""
    image_without_last_partition: bool = False
    """An image counts as whole without its last partition."""

    # --- Paxos ---

    executes_past_hole: bool = False
    """A secondary executes a success slot behind an empty one."""
    lease_to_another_disk: bool = False
    """A secondary whose log has lost its end reads under the lease of the one that had acknowledged all of it."""


NO_MUTATIONS = Mutations()


def switched_on(mutations: Mutations) -> tuple[str, ...]:
    """The names of those that are on."""
    return tuple(name for name in Mutations.__struct_fields__ if getattr(mutations, name))
