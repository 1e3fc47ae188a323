"""The bugs by which the explorer is measured: every hole of the papers, every mutation, and the family in which each is searched."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from nodes.config import Holes
from nodes.families import HOLES
from nodes.mutations import Mutations

FAMILY_OF = {"mams": "mams", "paxos": "packed-paxos", "symmetric": "symmetric"}
"""The family that stands for a replication."""
MUTANT_FAMILY = {
    "rot_revives_alone": "symmetric",
    "emptied_after_settling": "symmetric",
    "settled_by_other_disk": "symmetric",
    "late_flush_ends_images": "symmetric",
    "settled_groups_counted": "symmetric",
    "own_grant_counted": "symmetric",
    "older_grants_forgotten": "symmetric",
    "begins_after_promise": "symmetric",
    "stale_reports_counted": "symmetric",
    "stale_settle_adopted": "symmetric",
    "frees_what_others_made": "symmetric",
    "late_acceptance_cuts": "qjm",
    "late_start_cuts": "qjm",
    "missed_start_passed_over": "qjm",
    "executes_past_hole": "packed-paxos",
    "joins_ignored_while_redoing": "packed-paxos",
    "lease_to_another_disk": "packed-paxos",
    "dropped_ledger_awaited": "bookkeeper",
    "ensemble_changed_while_closing": "bookkeeper",
}
"""Families of mutations that are not searched in mams."""
DETECTION_OF = {
    **dict.fromkeys(
        (
            "grant_forgotten",
            "grant_of_old_configuration",
            "grant_from_arrival",
            "grant_outrun",
            "grant_of_other_disk",
            "end_of_any_generation",
            "stale_view_write",
        ),
        "members",
    ),
    **dict.fromkeys(
        (
            "session_ended_early",
            "heartbeat_by_follower_read",
            "configured_not_negotiated",
            "cut_off_leader_stays",
        ),
        "session",
    ),
}
"""Kinds of detection of the bugs that do no harm with the other kind: the leases of the members end before that of the session, and members remove
a lock whose owner keeps its session."""
OF_FIRST_TAKEOVER = frozenset(("registers_while_elected",))
"""Bugs that do harm only until the first record of a group is complete: searched in trials that begin before the cluster is at rest."""
NOT_BY_AUDIT = {
    "secondary_without_record": "it stops a group only while another member is away, and after damage to a disk the core has all others",
    "session_cuts_acknowledged": "only a copy of an old message that comes late opens such a session: two other guards end all others",
    "checkpoint_copies_thin_out": "within what a group survives one copy of a checkpoint is left, and one is enough to go back",
}
"""Bugs that change no answer and no state, or none within a trial, or within what a family promises to survive; dedicated tests show them."""


def detection_of(holes: Holes, mutations: Mutations) -> str:
    """The kind of detection with which these bugs are searched; empty when either will do."""
    on = {
        name
        for switches in (holes, mutations)
        for name, is_on in msgspec.structs.asdict(switches).items()
        if is_on
    }
    return next((kind for name, kind in DETECTION_OF.items() if name in on), "")


def begins_early(mutations: Mutations) -> bool:
    """Whether one of these bugs needs a trial that begins with the first takeover."""
    return any(getattr(mutations, name) for name in OF_FIRST_TAKEOVER)


class Bug(NamedTuple):
    name: str
    family: str


def bugs() -> list[Bug]:
    """Each hole in the first replication that has it, then the mutations."""
    found: dict[str, str] = {}
    for replication, family in FAMILY_OF.items():
        for hole in HOLES[replication]:
            found.setdefault(hole, family)
    assert set(found) == set(Holes.__struct_fields__), "every hole is of some replication"
    found = {hole: family for hole, family in found.items() if hole not in NOT_BY_AUDIT}
    for mutation in Mutations.__struct_fields__:
        if mutation not in NOT_BY_AUDIT:
            found[mutation] = MUTANT_FAMILY.get(mutation, "mams")
    return [Bug(name, family) for name, family in found.items()]
