"""Why a view should change, and who is to be in the next one: pure, but for what it asks."""

from __future__ import annotations

import msgspec

from nodes.protocols.symmetric.agreement import Agreed
from nodes.protocols.symmetric.member import Member
from nodes.protocols.symmetric.messages import JoinView
from nodes.protocols.symmetric.outside import fit_to_join
from nodes.protocols.symmetric.replica import Replica

NEAR = 64
"""A joiner that lacks no more groups than these gets them when the view changes; one that lacks more is brought closer before."""


class Wanted(msgspec.Struct, frozen=True):
    reason: str
    """Empty when the view may stay as it is, or when too few are there to change it."""
    invited: list[str]
    """Who is to be in the next view, this server included."""
    turn: int
    """How many members that are there come before this one."""
    minority: bool
    """Fewer than half of the view are there: others may be better off."""
    far: list[str]
    """Joiners that lack much."""

    @property
    def changes(self) -> bool:
        return bool(self.reason)


def change_of_member(
    member: Member, replica: Replica, joining: dict[str, JoinView], stuck: bool, asked: bool = False
) -> Wanted:
    """What a member of the view would change; `stuck` says that an attempt of somebody came to nothing, `asked` that a person wants a new view."""
    view = member.view.members
    back = [name for name in view if name in joining]
    gone = sorted({*member.gone(), *back})
    stay = [name for name in view if name not in gone]
    come = [
        name
        for name, join in joining.items()
        if name not in stay and member.heard_joining(name, gone) and fit_to_join(join, stay)
    ]
    near = [name for name in come if _is_near(replica, joining[name])]
    far = [name for name in come if name not in near]
    reasons = [f"{name} is gone" for name in gone]
    reasons += [f"{name} joins" for name in near if name not in gone]
    if stuck:
        reasons.append("the attempt before came to nothing")
    if asked:
        reasons.append("somebody asked for a new view")
    invited = sorted({*stay, *near})
    back = [name for name in near if _is_itself(member.view, name, joining[name])]
    present = len(stay) + len(back)
    certain = len(stay) + sum(not joining[name].doubtful for name in back)
    reason = ", ".join(reasons) if member.view.enough(present, certain) else ""
    return Wanted(reason, invited, stay.index(replica.name), 2 * present < len(view), far)


def _is_near(replica: Replica, join: JoinView) -> bool:
    common = replica.log.agrees_up_to(join.tails)
    return common is not None and common >= replica.applied_sn - NEAR


def _is_itself(agreed: Agreed, name: str, join: JoinView) -> bool:
    """Whether a joiner was a member of this view, with the disk that it has."""
    return name in agreed.members and agreed.knows_disk(name, join.disk)


def change_of_restarted(
    agreed: Agreed, replica: Replica, joining: dict[str, JoinView], waited: bool
) -> Wanted:
    """What a member whose whole view was stopped would do: begin the next one with all, or after a while with those who came back."""
    own = replica.name
    others = [name for name in agreed.members if name in joining and name != own]
    back = sorted([own, *(name for name in others if _is_itself(agreed, name, joining[name]))])
    certain = sum(not (replica.own_disk if name == own else joining[name]).doubtful for name in back)
    everybody = len(back) == len(agreed.members)
    enough = everybody or (waited and agreed.enough(len(back), certain))
    reason = f"nobody lives in view {agreed.number}" if enough else ""
    return Wanted(reason, back, back.index(own), 2 * len(back) < len(agreed.members), [])
