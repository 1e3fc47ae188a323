"""Known bugs as switches. The safe variants had, or could have had, each of them, and the explorer must find it.

A hole (`nodes/config.py`) is a step that a paper leaves open; a mutation is a mistake of Cloverlab's own. Each is read at exactly one `if`.
No option of `up` opens one: they exist for tests, `bench explore` and labs.
"""

from __future__ import annotations

import msgspec


class Mutations(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Every switch is off unless a test, a scenario file or `bench explore` turns it on. Rules are those of docs/safety.md."""

    # --- configuration of a replica group (rules 3, 4, 22, 23) ---

    join_under_load: bool = False
    """A configuration grows after an await, without requiring both quorums first: commits meanwhile count only the old one."""
    readmit_during_shrink: bool = False
    """A member that is admitted while its removal is being written continues to count for the old quorum."""
    replaced_disk_votes: bool = False
    """A server with an empty disk counts as a member that never had anything."""
    standby_without_record: bool = False
    """A member that acknowledges while the disks of the others are being recorded becomes a standby, which no later leader counts."""
    leads_without_counting: bool = False
    """A server outside the configuration that is elected leads without becoming a member."""
    emptied_after_settling: bool = False
    """A symmetric joiner begins from an image, or anew, though the next view may already count on its journal."""
    settled_by_other_disk: bool = False
    """A symmetric view names the disk that answered Flush, though another one has settled."""
    late_flush_ends_images: bool = False
    """A late copy of the Flush that led to the present symmetric view ends its images."""
    secondary_without_record: bool = False
    """A member whose disk was replaced while the view had it is a secondary again though the record names its former disk, and
    never offers itself as one."""
    registers_while_elected: bool = False
    """A member that acknowledges in a takeover stops counting as soon as it registers as the junior that it is until the takeover ends."""
    rot_revives_alone: bool = False
    """A symmetric member whose journal was cut because of rot revives a view alone."""
    cut_is_forgotten: bool = False
    """A journal whose damaged tail was cut counts as if it had never been longer."""
    settled_groups_counted: bool = False
    """A member that is fenced for a view change reports groups of the unfinished change as held in the old view."""
    stale_settle_adopted: bool = False
    """A restarted symmetric member takes part in a view change that is over, or may be."""
    frees_what_others_made: bool = False
    """A symmetric member that commands data nodes frees blocks that another member allocated and that it has not seen yet."""
    floor_without_way_back: bool = False
    """`force` is refused: a group below its floor never serves again."""

    # --- leases and coordination (rule 16) ---

    session_ended_early: bool = False
    """The next active does not wait for the lease of a server whose session has ended."""
    heartbeat_by_follower_read: bool = False
    """A lease is confirmed by a read, which a follower that is cut off still answers."""
    lease_without_margin: bool = False
    """Both ends of a lease count the same length on clocks that run at different rates."""
    own_grant_counted: bool = False
    """The reply of a left-out symmetric member also counts for the end of its own lease, although it grants itself nothing."""
    older_grants_forgotten: bool = False
    """A symmetric member that has not begun its view yet reports no grant, though those of the previous view still hold."""
    begins_after_promise: bool = False
    """A symmetric member begins a view, and grants leases in it, after it has promised an attempt to end it."""
    stale_reports_counted: bool = False
    """A wedged symmetric member, which takes no reports of journals, takes the others for stalled by their old ones."""
    configured_not_negotiated: bool = False
    """A lease is as long as the configured session time-out, even if the service negotiated a shorter one."""
    cut_off_leader_stays: bool = False
    """A leader that reaches none of the others keeps the lock as long as it reaches coordination: no other server tries."""
    forgotten_watch: bool = False
    """A watch that fired is not set again, and a server in step reads the view for no other reason."""
    reused_epoch: bool = False
    """The elected server writes the epoch that it read, not the next one."""

    # --- leases that members grant (rule 26) ---

    grant_forgotten: bool = False
    """A member that restarts does not wait for the grants of its former life."""
    grant_of_old_configuration: bool = False
    """An active counts grants over the members with which its tenure began."""
    grant_from_arrival: bool = False
    """A grant is counted from its arrival, not from the sending of the heartbeat that it acknowledges."""
    grant_outrun: bool = False
    """An elected server counts a promise although the grant of its sender has not run out."""
    grant_of_other_disk: bool = False
    """A grant also counts when it comes from another disk than the recorded one, which does not know what the former promised."""
    end_of_any_generation: bool = False
    """The record that a process has ended is believed of whatever lock its server holds when the record lands."""

    # --- clients and sessions (rules 10, 25) ---

    retry_across_moved_directory: bool = False
    """A retry's path is resolved again before the duplicate memory is checked."""
    duplicate_after_second_failover: bool = False
    """The duplicate memory that a server took over from a predecessor is lost for the next one."""
    sessions_never_end: bool = False
    """Sessions and write leases are kept for ever."""
    opened_by_fresh_stamps: bool = False
    """Each copy of the call that opens a session claims to be sent just now: a late one reopens a session that has ended."""
    closing_forgotten: bool = False
    """A closed session forgets the call that closed it: a copy of that call is answered as not executed."""
    view_unreachable: bool = False
    """A client knows only the servers of its configuration."""
    view_of_all_groups: bool = False
    """A client takes every server in the copy of a group's view for one of that group: it asks another group, and believes its answer."""
    clock_jump_stamps: bool = False
    """Records are stamped by a wall clock, however far it jumps."""
    stale_dentry_cache: bool = False
    """A client continues below a directory that has moved."""

    # --- operations of several groups, checkpoints (rules 11 to 14) ---

    undo_forgotten: bool = False
    """A group that aborts a distributed operation keeps its part."""
    promised_across_move: bool = False
    """A group promises a name while it has promised the move of a directory on the path to it."""
    barrier_inside_operation: bool = False
    """A barrier is written while a distributed operation is open."""
    journal_cut_before_images: bool = False
    """A rollback cuts the journal while images behind the barrier still count: after a power failure one of them replaces it."""
    images_barred_for_good: bool = False
    """A server without any state to roll back to never believes an image of an earlier incarnation again, nor one that it is given afterwards."""
    checkpoint_copies_thin_out: bool = False
    """A recovery begins without checking which servers can still reach the checkpoint."""

    # --- replicas of blocks ---

    excess_orders_forgotten: bool = False
    """An order to remove an excess replica is forgotten once it is sent: another one is chosen while it is on its way."""
    former_lives_believed: bool = False
    """A late report of a data node's former life counts as one of its present life."""

    # --- journals, images, disks ---

    off_by_one_quorum: bool = False
    """Half of the members suffice."""
    commit_before_sync: bool = False
    """The active counts its own copy before its disk has it."""
    ack_of_gap: bool = False
    """A participant acknowledges a group whose predecessor it lacks."""
    session_cuts_acknowledged: bool = False
    """A renewing session cuts the journal back to the registration that began it, whatever its writer has sent since."""
    old_rot_unseen: bool = False
    """A record that is read from the disk again is not checked for rot."""
    sync_failed_then_trusted: bool = False
    """Data of a failed sync in the page cache is reported as durable."""
    rotten_image_stops_server: bool = False
    """The journal reaches back to the newest image only, so that an older one is useless."""
    never_prunes_again: bool = False
    """A server that was renewed by an image newer than a kept checkpoint keeps its journal for ever."""
    ensemble_changed_while_closing: bool = False
    """A server that closes a ledger records a new bookie before that bookie has the ledger's entries. The next server believes that no bookie
    ever had them."""
    late_acceptance_cuts: bool = False
    """A journal node obeys a late copy of `AcceptJournal`, and drops later groups of the same writer."""
    late_start_cuts: bool = False
    """A journal node obeys a late copy of `StartSegment`, and drops later groups of the same writer behind it."""
    missed_start_passed_over: bool = False
    """The end of a journal is decided without nodes that missed the end of a segment and continued writing."""
    dropped_ledger_awaited: bool = False
    """A reader whose next entry was in a ledger that has been dropped waits for it, and never asks for an image."""
    image_without_last_partition: bool = False
    """An image counts as whole without its last partition."""

    # --- Paxos ---

    executes_past_hole: bool = False
    """A secondary executes a success slot behind an empty one."""
    joins_ignored_while_redoing: bool = False
    """An elected server ignores who joins before it serves: one that promised may be gone, and then no majority is left."""
    lease_to_another_disk: bool = False
    """A secondary whose log has lost its end reads under the lease of the former disk, which had acknowledged all of the log."""


NO_MUTATIONS = Mutations()
