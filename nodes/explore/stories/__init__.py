"""Stories: whole trials in which cluster, load and faults are drawn to fit each other.

Faults that are drawn one by one seldom hit a mechanism's weak point, and the load seldom shows it when they do. A story is a pattern that has
broken replicated systems before. All details are drawn: its servers, how far they fall behind, which returns first.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.explore.stories.changes import (
    alone,
    back_in_turn,
    growing,
    joining,
    outnumbered,
    promiser_gone,
    takeovers,
    unheard,
)
from nodes.explore.stories.clocks import wrong_clocks
from nodes.explore.stories.grants import (
    cut_under_grants,
    ended_late,
    forgotten_promise,
    late_grants,
    late_words,
    outgrown_grants,
    restarted_under_grants,
)
from nodes.explore.stories.groups import barriers, between_groups, moved_meanwhile, moving, said_twice
from nodes.explore.stories.handovers import passed_on
from nodes.explore.stories.images import going_back, images, outgrown, rots_while_away
from nodes.explore.stories.ledgers import begins_late, closed_by_two, closed_late, closing, overtaken
from nodes.explore.stories.members import half_made, late_flushes, old_words, wedged
from nodes.explore.stories.outsiders import led_from_outside, settled_anew, unrecorded
from nodes.explore.stories.reads import last_moments, reached_late, rejoins, shores, views, views_twice
from nodes.explore.stories.renewals import all_replaced, copied_in_vain, slept_through
from nodes.explore.stories.replicas import reported_late, thinned
from nodes.explore.stories.returns import (
    gaps,
    gaps_on_return,
    returns,
    returns_after_failed_sync,
    returns_emptied,
    returns_rotten,
    returns_to_readers,
    returns_unsynced,
    too_few,
)
from nodes.explore.stories.scene import Scene
from nodes.explore.stories.writers import content, given_out, late_copies, outlived
from nodes.families import Family

Story = Callable[[Scene], None]


def stories_of(family: Family, lonely: bool = False, detection: str = "session") -> list[Story]:
    """Stories that fit this family; a repeated one is drawn more often. `lonely`: those of groups of one server."""
    standbys = family.standbys and not lonely
    reported: list[Story] = [
        returns,
        returns_emptied,
        *2 * [returns_rotten],
        returns_unsynced,
        *2 * [returns_after_failed_sync],
        gaps,
        content,
        late_copies,
        outlived,
        images,
        wrong_clocks,
        thinned,
        *2 * [reported_late],
    ]
    if standbys:
        reported += [
            returns_to_readers,
            gaps_on_return,
            shores,
            *3 * [last_moments],
            takeovers,
            unheard,
            alone,
            joining,
            growing,
            back_in_turn,
            rots_while_away,
        ]
    if standbys and family.locked:
        reported += [
            returns_emptied,
            late_copies,
            *2 * [outlived],
            *2 * [unheard],
            *2 * [alone],
            growing,
            back_in_turn,
        ]
    if standbys and family.replication == "paxos":
        reported += [*2 * [returns_to_readers], *2 * [promiser_gone]]
    if standbys and not family.cannot_force:
        reported += 3 * [too_few]
    if standbys and family.locked and not family.journal_nodes:
        reported += [outnumbered, promiser_gone, *2 * [unrecorded], *2 * [led_from_outside]]
    if standbys and detection == "members":
        reported += [
            cut_under_grants,
            *2 * [restarted_under_grants],
            *2 * [late_grants],
        ]
    if standbys and detection == "members" and not family.cannot_hand_over:
        reported += [
            *2 * [ended_late],
            *2 * [forgotten_promise],
            late_words,
            *2 * [outgrown_grants],
        ]
    if standbys and not family.cannot_hand_over:
        reported.append(passed_on)
    if standbys and not family.locked:
        reported += [
            *2 * [views],
            *2 * [views_twice],
            *2 * [reached_late],
            *2 * [rejoins],
            *4 * [half_made],
            *3 * [old_words],
            *2 * [wedged],
            *4 * [given_out],
            *2 * [late_flushes],
            *3 * [settled_anew],
        ]
    if standbys and not family.cannot_leave:
        reported.append(all_replaced)
    if family.groups_max > 1:
        reported += [between_groups, between_groups, said_twice, said_twice, *3 * [moving], moved_meanwhile]
    if family.groups_max > 1 and family.checkpoints:
        reported += [barriers, barriers]
    if family.checkpoints:
        reported += [going_back, outgrown, outgrown]
    if family.checkpoints and standbys:
        reported.append(slept_through)
    if family.cuts_journal and standbys:
        reported.append(copied_in_vain)
    if standbys and family.journal_nodes >= 3:
        reported += [closing, *3 * [closed_by_two], *2 * [overtaken]]
    if standbys and family.journal_nodes >= 3 and family.journal_role == "journal-node":
        reported += [closed_late, *3 * [begins_late]]
    return reported
